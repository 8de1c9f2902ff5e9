"""Small data for everybody, by barriers that gather: what Orbax does with device collectives."""

from __future__ import annotations

from coxswain.multihost import _identity

_BYTES = (bytes, bytearray, memoryview)


def _gather(name: str, data: bytes) -> list[bytes]:
    """Everybody's data. All processes call the collectives in the same order, so one name does."""
    if _identity.process_count() == 1:
        return [data]
    client = _identity.get_client()
    return client.allgather(f"coxswain/multihost/{name}", data, _identity.coordination_timeout())


def _packed(value) -> tuple[bytes, tuple]:
    import numpy
    array = numpy.asarray(value)
    if array.dtype.hasobject:
        raise TypeError(f"only bytes, numbers and arrays of numbers are sent, not {value!r}")
    return array.tobytes(), (array.dtype, array.shape)


def broadcast_one_to_all(value, is_source: bool | None = None):
    """The source's value for everybody: bytes, a number, a numpy array, or a list, tuple or dict of
    such. Each process brings one of the same structure, types and shapes; process 0 is the source
    unless ``is_source`` says so in one other process. Structures of numbers become arrays."""
    if isinstance(value, dict):
        return {key: broadcast_one_to_all(value[key], is_source) for key in sorted(value)}
    if isinstance(value, (list, tuple)):
        return type(value)(broadcast_one_to_all(one, is_source) for one in value)
    if is_source is None:
        is_source = _identity.process_index() == 0
    data, form = (bytes(value), None) if isinstance(value, _BYTES) else _packed(value)
    told = _gather("broadcast", b"\1" + data if is_source else b"\0")
    sources = [one[1:] for one in told if one[:1] == b"\1"]
    if len(sources) != 1:
        raise ValueError(f"{len(sources)} processes are the source of a broadcast")
    if form is None:
        return sources[0]
    import numpy
    dtype, shape = form
    return numpy.frombuffer(sources[0], dtype).reshape(shape).copy()


def global_max(values: list[int]) -> list[int]:
    """The greatest of everybody's first, second, ... number. All bring as many."""
    told = [[int(number) for number in one.split()]
            for one in _gather("max", " ".join(str(int(one)) for one in values).encode())]
    if len({len(one) for one in told}) != 1:
        raise ValueError(f"the processes bring {sorted({len(one) for one in told})} numbers")
    return [max(column) for column in zip(*told)]
