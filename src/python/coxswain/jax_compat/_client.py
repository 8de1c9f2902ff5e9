"""jaxlib's client interface, on our client."""

from __future__ import annotations

import atexit
import operator
import os
import random
import sys
import threading
import time
import weakref
from collections.abc import Callable, Sequence

from coxswain import _native
from coxswain._errors import (
    Aborted, Cancelled, Code, DeadlineExceeded, Error, Internal, InvalidArgument, Unavailable)
from coxswain._options import options_of, settings_of_environment
from coxswain._shape import shape
from coxswain.jax_compat._errors import as_jax, error_class, failed

# jaxlib's default timeouts, in seconds.
INIT_TIMEOUT = 3600
SHUTDOWN_TIMEOUT = 300
# Added to the shutdown timeout, so that the coordinator's own reply comes first.
EXTRA_TIME = 5
# How long a key call before connect() waits for the coordinator, in seconds.
_REACH_TIMEOUT = 5.0
# The longest pause between two attempts to connect, in seconds.
_PAUSE_MAX = 1.0

# Connected clients, to be shut down before the interpreter exits.
_to_shut_down: weakref.WeakSet[DistributedRuntimeClient] = weakref.WeakSet()


def _seconds(timeout_in_ms: int) -> float:
    return operator.index(timeout_in_ms) / 1000


def text_of(value: str, what: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{what} is a str, not {type(value).__name__}")
    return value


def _bytes(value: bytes) -> bytes:
    if not isinstance(value, bytes):
        raise TypeError(f"value is bytes, not {type(value).__name__}")
    return value


def _is_root(key: str) -> bool:
    return not text_of(key, "key").strip("/")


class DistributedRuntimeClient:
    """Made by get_distributed_runtime_client. Every call releases the GIL, heartbeats do not need
    it, and errors are RuntimeErrors (JaxRuntimeErrors, if JAX is imported) with the text "CODE:
    ...".
    """

    def __init__(self, address: str, node_id: int, init_timeout: int | None,
                 shutdown_timeout: int | None,
                 missed_heartbeat_callback: Callable[[RuntimeError], object] | None,
                 shutdown_on_destruction: bool | None):
        self._address = text_of(address, "address")
        self._node_id = operator.index(node_id)
        self._init_timeout = operator.index(init_timeout or 0) or INIT_TIMEOUT
        self._shutdown_timeout = (SHUTDOWN_TIMEOUT if shutdown_timeout is None
                                  else operator.index(shutdown_timeout))
        self._tell = missed_heartbeat_callback
        self._shuts_down_alone = shutdown_on_destruction is not False
        self._native: _native.Session | None = None
        self._before: _native.Session | None = None  # for keys, until the one above exists
        self._lock = threading.Lock()  # of _before
        self._is_over = False
        self._process = os.getpid()

    def __del__(self):
        # As in jaxlib, this may wait for the other tasks.
        if self.__dict__.get("_native") is not None:
            self._end_alone()

    def _end_alone(self) -> None:
        if os.getpid() != self._process:
            return  # the session belongs to the parent
        try:
            if self._shuts_down_alone and not self._is_over:
                self.shutdown()
        except Exception as problem:  # no one to report to
            print(f"coxswain: the shutdown of task {self._node_id} failed: {problem}",
                  file=sys.stderr)
        finally:
            if self._native is not None:
                self._native.close()

    @property
    def _session(self) -> _native.Session:
        if self._native is None or self._is_over:
            what = "has been shut down" if self._is_over else "is not connected"
            raise failed("FAILED_PRECONDITION", f"The client of task {self._node_id} {what}.")
        return self._native

    @property
    def _keys(self) -> _native.Session:
        """For calls that need no task and so also work before connect()."""
        if self._native is not None or self._is_over:
            return self._session
        with self._lock, as_jax():
            if self._before is None:
                try:
                    self._before = self._opened(_REACH_TIMEOUT)
                except DeadlineExceeded as problem:
                    raise Unavailable(problem.message) from problem
            return self._before

    def _opened(self, timeout: float, **settings) -> _native.Session:
        session = _native.Session()
        given = {**settings_of_environment(), "connect_timeout": timeout, **settings}
        try:
            session.connect(options_of(self._address, given))
        except BaseException:
            session.close()
            raise
        return session

    def connect(self) -> None:
        """Waits until all tasks have connected, at most the init timeout. Until then it retries
        after a lost connection, ABORTED and INTERNAL: a restarted task may first reach the
        coordinator of the job's previous attempt."""
        self.connect_with(None)

    def connect_with(self, prepare: Callable[[], object] | None) -> None:
        """As connect(), but calls ``prepare`` before each attempt, again if no coordinator can be
        reached for some seconds after it. Not in jaxlib."""
        if self._native is not None:
            raise failed("FAILED_PRECONDITION", f"Task {self._node_id} has connected before.")
        until = time.monotonic() + self._init_timeout
        pause = 0.01
        reach = self._init_timeout if prepare is None else _REACH_TIMEOUT
        while True:
            if prepare is not None:
                prepare()
            try:
                self._native = self._joined(until, reach)
                break
            except (Aborted, Internal, Unavailable) as problem:
                if time.monotonic() + pause > until:
                    raise error_class()(str(problem)) from problem
            except Error as problem:
                raise error_class()(str(problem)) from problem
            time.sleep(random.uniform(0.5, 1) * pause)
            pause = min(2 * pause, _PAUSE_MAX)
        threading.Thread(target=_watch, args=(weakref.ref(self), self._native), daemon=True,
                         name="coxswain-jax").start()
        if self._shuts_down_alone:
            _to_shut_down.add(self)

    def _joined(self, until: float, reach: float) -> _native.Session:
        left = max(0.0, until - time.monotonic())
        try:
            session = self._opened(min(left, reach), task=self._node_id)
        except DeadlineExceeded as problem:
            if left <= reach:
                raise
            raise Unavailable(problem.message) from problem
        try:
            session.join(max(0.0, until - time.monotonic()), False)
        except BaseException:
            session.close()
            raise
        return session

    def shutdown(self) -> None:
        """Waits until all tasks shut down. Does nothing if this one never connected."""
        if self._native is None or self._is_over:
            return
        self._is_over = True
        limit = self._shutdown_timeout + EXTRA_TIME if self._shutdown_timeout else 0
        try:
            with as_jax():
                self._native.leave(limit, False)
        finally:
            self._native.close()
            if self._before is not None:
                self._before.close()

    def _failed(self, error) -> None:
        """The job has failed, or the coordinator is lost."""
        if self._is_over:
            return
        cause = error.cause
        text = cause.message
        if cause.task is not None:
            is_lost = cause.code == Code.UNAVAILABLE
            text = f"Task {cause.task} {'heartbeat timeout' if is_lost else 'failed'}: {text}"
        problem = failed(cause.code.name, text)
        if self._tell is not None:
            self._tell(problem)
            return
        # Device operations may hang now; so the process exits, as with jaxlib.
        print("coxswain: this process ends, because the job has failed or the coordinator is lost. "
              f"The cause: {problem}", file=sys.stderr, flush=True)
        os.abort()

    def wait_at_barrier(self, barrier_id: str, timeout_in_ms: int,
                        process_ids: Sequence[int] | None = None) -> None:
        """Waits until all tasks, or those of ``process_ids``, have called."""
        participants = None if process_ids is None else [operator.index(one) for one in process_ids]
        session = self._session
        with as_jax():
            try:
                session.barrier(text_of(barrier_id, "barrier_id"), _seconds(timeout_in_ms),
                                participants, False)
            except InvalidArgument as problem:
                if participants and self._node_id not in participants:
                    text = f"A non-participating task ({self._node_id}) called the barrier: "
                elif "participants" in problem.message:
                    text = "Conflicting tasks specified by different processes for the barrier: "
                else:
                    raise
                raise InvalidArgument(f"{text}{barrier_id}. {problem.message}") from problem

    def get_live_nodes(self, process_ids: Sequence[int]) -> dict[int, int]:
        """Which of the tasks are alive, with their incarnations. Waits until each live one has
        asked for the same tasks. Numbers outside the job count as not alive."""
        session = self._session
        wanted = [one for one in map(operator.index, process_ids) if 0 <= one < session.num_tasks]
        with as_jax():
            return dict(session.alive_tasks(wanted, None))

    def blocking_key_value_get(self, key: str, timeout_in_ms: int) -> str:
        """Waits until the key has a value, which is UTF-8."""
        return self.blocking_key_value_get_bytes(key, timeout_in_ms).decode()

    def blocking_key_value_get_bytes(self, key: str, timeout_in_ms: int) -> bytes:
        """Waits until the key has a value."""
        session = self._keys
        with as_jax():
            return session.get(text_of(key, "key"), _seconds(timeout_in_ms))

    def key_value_try_get(self, key: str) -> str:
        """The key's value, which is UTF-8. NOT_FOUND: it has none."""
        return self.key_value_try_get_bytes(key).decode()

    def key_value_try_get_bytes(self, key: str) -> bytes:
        """The key's value. NOT_FOUND: it has none."""
        session = self._keys
        with as_jax():
            value = session.try_get(text_of(key, "key"))
        if value is None:
            raise failed("NOT_FOUND", f"Config key {key} not found.")
        return value

    def key_value_increment(self, key: str, increment: int) -> int:
        """Adds to a decimal counter, zero if the key is missing; returns the sum."""
        session = self._keys
        with as_jax():
            return session.increment(text_of(key, "key"), operator.index(increment))

    def key_value_set(self, key: str, value: str, allow_overwrite: bool = False) -> None:
        """Stores a value. ALREADY_EXISTS: the key has one, and ``allow_overwrite`` is false."""
        self.key_value_set_bytes(key, text_of(value, "value").encode(), allow_overwrite)

    def key_value_set_bytes(self, key: str, value: bytes, allow_overwrite: bool = False) -> None:
        """As key_value_set, with bytes."""
        session = self._keys
        with as_jax():
            session.put(text_of(key, "key"), _bytes(value), allow_overwrite, False)

    def key_value_dir_get(self, key: str) -> list[tuple[str, str]]:
        """All keys below a directory, with their values, in order; none for the root."""
        return [(name, value.decode()) for name, value in self.key_value_dir_get_bytes(key)]

    def key_value_dir_get_bytes(self, key: str) -> list[tuple[str, bytes]]:
        """As key_value_dir_get, with bytes."""
        session = self._keys
        if _is_root(key):
            return []
        with as_jax():
            return [(name, value) for name, value, _ in session.list(key)]

    def key_value_delete(self, key: str) -> None:
        """Removes the key and all below it; does nothing for the root."""
        session = self._keys
        if _is_root(key):
            return
        with as_jax():
            session.remove_tree(key, False)


def _watch(of: weakref.ref, session: _native.Session) -> None:
    try:
        error = shape.job_error_of(session.failure_within(None))
    except (Cancelled, Error):
        return  # it has left
    client = of()
    if client is not None and error is not None:
        client._failed(error)


def get_distributed_runtime_client(
        address: str, node_id: int, rpc_timeout: int | None = None,
        init_timeout: int | None = None, shutdown_timeout: int | None = None,
        heartbeat_timeout: int | None = None,
        missed_heartbeat_callback: Callable[[RuntimeError], object] | None = None,
        shutdown_on_destruction: bool | None = None,
        use_compression: bool | None = None) -> DistributedRuntimeClient:
    """A client that is not connected yet. Times are integral seconds.

    ``missed_heartbeat_callback`` is called once when the job has failed or the coordinator is lost;
    without one the process exits then, as with jaxlib. ``heartbeat_timeout`` is set by the
    coordinator, ``rpc_timeout`` is unused, and nothing is compressed. The job's name, the token and
    the TLS files come from ``COXSWAIN_JOB``, ``COXSWAIN_TOKEN`` and ``COXSWAIN_TLS_...``.
    """
    return DistributedRuntimeClient(address, node_id, init_timeout, shutdown_timeout,
                                    missed_heartbeat_callback, shutdown_on_destruction)


@atexit.register
def _shut_down_all() -> None:
    for client in list(_to_shut_down):
        client._end_alone()
