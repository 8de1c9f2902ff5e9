"""Waiting for each other."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Collection
from typing import Generic, TypeVar

from coxswain._errors import Error
from coxswain.multihost import _identity

T = TypeVar("T")

_log = logging.getLogger("coxswain.multihost")


def should_skip_process_sync(processes: Collection[int] | None = None) -> bool:
    """Whether there is no other process to wait for."""
    if _identity.process_count() == 1:
        return True
    return processes is not None and set(processes) == {_identity.process_index()}


def unique_barrier_key(key: str, prefix: str | None = None, suffix: str | None = None) -> str:
    """``prefix_key.suffix``."""
    key = key if prefix is None else f"{prefix}_{key}"
    return key if suffix is None else f"{key}.{suffix}"


def _nothing(*, key: str, timeout_ms: int) -> None:
    pass


def get_barrier_sync_fn(processes: Collection[int] | None = None
                        ) -> Callable[..., None]:
    """A function ``(*, key, timeout_ms)`` at which these processes, or all, wait for each other.
    Any thread may call it, several at once with different keys. ValueError: this process is not
    one of them."""
    if processes is not None and _identity.process_index() not in processes:
        raise ValueError(f"process {_identity.process_index()} is not one of those that wait: "
                         f"{sorted(processes)}")
    if should_skip_process_sync(processes):
        return _nothing
    client = _identity.get_client()
    participants = None if processes is None else sorted(processes)

    def wait(*, key: str, timeout_ms: int) -> None:
        client.barrier(key, timeout_ms / 1000, participants)

    return wait


def _milliseconds(seconds: float) -> float:
    """Integral, unless unlimited."""
    return int(seconds * 1000) if math.isfinite(seconds) else seconds


def sync_global_processes(name: str, timeout: float | None = None,
                          processes: Collection[int] | None = None,
                          barrier_sync_fn: Callable[..., None] | None = None,
                          record_event_name: str | None = None, *,
                          operation_id: str | None = None) -> None:
    """Waits until these processes, or all, have called this with the same name, and for the same
    operation if given; by default 300 s. DeadlineExceeded, a TimeoutError: names the missing
    processes. ``record_event_name``: logs the elapsed time under this name."""
    if operation_id is not None:
        name = f"[op={operation_id}] {name}"
    if barrier_sync_fn is None:
        barrier_sync_fn = get_barrier_sync_fn(processes)
    seconds = _identity.coordination_timeout() if timeout is None else timeout
    start = time.monotonic()
    barrier_sync_fn(key=name, timeout_ms=_milliseconds(seconds))
    if record_event_name is not None:
        _log.info("%s: %.3f s at barrier %r", record_event_name, time.monotonic() - start, name)


class MultihostSynchronizedValue(Generic[T]):
    """A value that all processes change together: no process sees the new one before all have
    called set, and set returns after all have it."""

    def __init__(self, value: T, name: str | None = None, *, timeout: float | None = None,
                 processes: Collection[int] | None = None, multiprocessing_options=None,
                 async_options=None):
        """``name`` is the same in all processes, and values that are set concurrently need
        different ones. The next two are as in sync_global_processes.

        If they are not given, Orbax's options are used: ``barrier_sync_key_prefix`` and
        ``active_processes`` of the first, ``timeout_secs`` of the second."""
        def option_of(mine, options, attribute: str):
            return getattr(options, attribute, None) if mine is None else mine

        self._value = value
        self._name = option_of(name, multiprocessing_options, "barrier_sync_key_prefix")
        self._processes = option_of(processes, multiprocessing_options, "active_processes")
        self._timeout = option_of(timeout, async_options, "timeout_secs")

    def get(self) -> T:
        """The last value set; initially the first one."""
        return self._value

    def set(self, value: T) -> None:
        """Called by all processes, any number of times, on any thread. If it raises, the others may
        or may not have the new value."""
        self._sync("set")
        self._value = value
        self._sync("done")

    def _sync(self, what: str) -> None:
        key = unique_barrier_key(f"synchronized_value_{what}", self._name)
        sync_global_processes(key, self._timeout, self._processes)


def reached_preemption(step: int) -> bool:
    """Whether all processes stop at this step because one of them will be preempted. All call it
    with each step; false without a client, or after the job failed."""
    if not _identity.is_initialized():
        return False
    try:
        return _identity.get_client().reached_sync_point(step)
    except Error as problem:
        _log.warning("nothing is known of preemptions: %s", problem)
        return False
