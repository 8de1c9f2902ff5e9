"""The processes of the job, this process's number, and the devices of each."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence

from coxswain._client import Client

# The default timeout of all functions here, in seconds.
_TIMEOUT = 300


class Membership:
    """A process's client, and the values exchanged through it."""

    def __init__(self, client: Client):
        if client.task is None:
            raise ValueError("an observer takes no part in a job: its client needs a task")
        self.client = client
        self.index: int = client.task
        self.count = client.num_tasks
        self.devices: dict[int, list[int]] | None = None
        self.runtime_ids: dict[int, int] | None = None
        self.lock = threading.Lock()


_membership: Membership | None = None


def use(client: Client | None) -> None:
    """Sets the client, which has joined, for all functions here; None: none."""
    global _membership
    _membership = None if client is None else Membership(client)


def membership() -> Membership:
    if _membership is None:
        raise ValueError("coxswain.multihost has no client yet: call use(client) first.")
    return _membership


def get_client() -> Client:
    """The client passed to :func:`use`. ValueError: none."""
    return membership().client


def is_initialized() -> bool:
    """Whether a client is set: see use."""
    return _membership is not None


# Orbax's names.
get_jax_distributed_client = get_client
is_jax_distributed_client_initialized = is_initialized


def coordination_timeout() -> int:
    """The default timeout of all functions here, in seconds."""
    return _TIMEOUT


def process_index() -> int:
    """The number of this process; 0 without a client."""
    return 0 if _membership is None else _membership.index


def process_count() -> int:
    """The number of processes; 1 without a client."""
    return 1 if _membership is None else _membership.count


def is_primary_host(primary_host: int | None = 0) -> bool:
    """Whether this is the primary process; with None, all are."""
    return primary_host is None or primary_host == process_index()


def _exchange(me: Membership, directory: str, barrier: str, key: int, text: str) -> dict[int, str]:
    """The texts of all processes by key; waits until all have contributed theirs."""
    me.client.put(f"{directory}/{key}", text)
    me.client.barrier(barrier, _TIMEOUT)
    found = {int(one.key.rsplit("/", 1)[1]): one.value.decode()
             for one in me.client.list(directory + "/")}
    if len(found) != me.count:
        raise ValueError(f"{len(found)} of {me.count} processes are in {directory!r}: "
                         f"{sorted(found)}")
    return found


def initialize_distributed_to_device_ids(device_ids: Sequence[int] | None = None) -> None:
    """Exchanges the devices of each process: those of JAX if it is imported, unless ids are given.
    A second call in a process does nothing. ValueError: no ids, and no JAX."""
    me = membership()
    if device_ids is None:
        if (jax := sys.modules.get("jax")) is None:
            raise ValueError("JAX is not imported: give the ids of this process's devices.")
        device_ids = [one.id for one in jax.local_devices()]
    with me.lock:
        if me.devices is not None:
            return
        text = ",".join(str(int(one)) for one in device_ids)
        found = _exchange(me, "orbax/distributed_to_device_ids",
                          "orbax_global_discovery_device_ids", me.index, text)
        if sorted(found) != list(range(me.count)):
            raise ValueError(f"these processes have said their devices: {sorted(found)}")
        me.devices = {process: [int(one) for one in listed.split(",") if one]
                      for process, listed in found.items()}


def is_distributed_to_device_ids_initialized() -> bool:
    """Whether the devices have been exchanged."""
    return _membership is not None and _membership.devices is not None


def distributed_to_device_ids() -> list[list[int]]:
    """The devices of each process, in order. ValueError: they have not been exchanged."""
    if (devices := membership().devices) is None:
        raise ValueError("initialize_distributed_to_device_ids() comes first.")
    return [devices[process] for process in range(len(devices))]


def initialize_runtime_to_distributed_ids(runtime_id: int | None = None) -> None:
    """Exchanges the number that the device runtime gives each process: unless passed,
    ``jax.process_index()`` if JAX is imported, else the process's own number."""
    me = membership()
    if runtime_id is None:
        jax = sys.modules.get("jax")
        runtime_id = me.index if jax is None else jax.process_index()
    with me.lock:
        found = _exchange(me, "jax/process_id", "orbax_global_discovery", int(runtime_id),
                          str(me.index))
        me.runtime_ids = {runtime: int(process) for runtime, process in found.items()}


def is_runtime_to_distributed_ids_initialized() -> bool:
    """Whether the runtime's numbers have been exchanged."""
    return _membership is not None and _membership.runtime_ids is not None


def runtime_to_distributed_ids() -> list[int]:
    """The process with each of the runtime's numbers. ValueError: not exchanged."""
    if (ids := membership().runtime_ids) is None:
        raise ValueError("initialize_runtime_to_distributed_ids() comes first.")
    return [ids[runtime] for runtime in sorted(ids)]


def runtime_to_distributed_process_id(runtime_id: int) -> int:
    """The process with this number of the runtime's."""
    if (ids := membership().runtime_ids) is None:
        raise ValueError("initialize_runtime_to_distributed_ids() comes first.")
    return ids[runtime_id]


def process_index_from_device(device) -> int:
    """The process of this device, by its ``process_index``, which is the runtime's number if those
    were exchanged."""
    if not is_runtime_to_distributed_ids_initialized():
        return device.process_index
    return runtime_to_distributed_process_id(device.process_index)


def unique_processes_from_devices(devices) -> set[int]:
    """The processes of these devices, given as a numpy array or any other iterable."""
    return {process_index_from_device(one) for one in getattr(devices, "flat", devices)}
