"""Small collectives by barriers that gather, where Orbax uses device collectives."""

from __future__ import annotations

from operator import index

from coxswain.multihost import _identity

_BYTES = (bytes, bytearray, memoryview)


def _gather(name: str, data: bytes) -> list[bytes]:
    """The data of all processes. All call the collectives in the same order, so one name
    suffices."""
    if _identity.process_count() == 1:
        return [data]
    client = _identity.get_client()
    return client.all_gather(f"coxswain/multihost/{name}", data, _identity.coordination_timeout())


def _packed(value) -> tuple[bytes, str]:
    """A value's bytes, and their type."""
    if isinstance(value, _BYTES):
        return bytes(value), "bytes"
    import numpy
    array = numpy.asarray(value)
    if array.dtype.hasobject:
        raise TypeError("only bytes, numbers and arrays of numbers are sent, not "
                        f"{type(value).__name__}")
    return array.tobytes(), f"{array.dtype.str} {' '.join(map(str, array.shape))}"


def _unpacked(data: bytes, form: str):
    if form == "bytes":
        return data
    import numpy
    dtype, *shape = form.split()
    return numpy.frombuffer(data, dtype).reshape([int(one) for one in shape]).copy()


def broadcast_one_to_all(value, is_source: bool | None = None):
    """Returns the source's value in all processes: bytes, a number, a numpy array, None, or a list,
    tuple or dict of these. Each process passes a value of the same structure, types and shapes;
    process 0 is the source unless ``is_source`` is true in one other process. Structures of numbers
    become arrays. ValueError: not exactly one source, or this process's value differs in
    structure."""
    if value is None:
        return None
    if isinstance(value, dict):
        return {key: broadcast_one_to_all(value[key], is_source) for key in sorted(value)}
    if isinstance(value, (list, tuple)):
        parts = [broadcast_one_to_all(one, is_source) for one in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if is_source is None:
        is_source = _identity.process_index() == 0
    data, form = _packed(value)
    gathered = _gather("broadcast", form.encode() + b"\n" + data if is_source else b"")
    sources = [one for one in gathered if one]
    if len(sources) != 1:
        raise ValueError(f"{len(sources)} processes are the source of a broadcast")
    brought, _, data = sources[0].partition(b"\n")
    if brought.decode() != form:
        raise ValueError(f"the source of a broadcast brings {brought.decode()!r}, this process "
                         f"{form!r}")
    return _unpacked(data, form)


def global_max(values: list[int]) -> list[int]:
    """The maximum over all processes of the first, second, ... integer. All pass equally many."""
    gathered = [[int(number) for number in one.split()]
            for one in _gather("max", " ".join(str(index(one)) for one in values).encode())]
    if len({len(one) for one in gathered}) != 1:
        raise ValueError(f"the processes bring {sorted({len(one) for one in gathered})} numbers")
    return [max(column) for column in zip(*gathered)]
