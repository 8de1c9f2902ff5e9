"""The client for asyncio. Its calls are those of coxswain.Client, and documented there; here they
are awaited, and cancelling the awaiting task cancels the call.

No threads wait: the client's native thread puts completed calls into a mailbox, which the event
loop watches like a socket.
"""

from __future__ import annotations

import asyncio
import weakref
from datetime import timedelta
from typing import TYPE_CHECKING

from coxswain import _native
from coxswain._client import (
    _UNSET, Client, KeyWatch, ProcessMonitor, Session, failure_of, operand_of, told_failure)
from coxswain._epochs import AsyncEpochCalls, EpochCalls
from coxswain._errors import Cancelled, DeadlineExceeded, Error, FailedPrecondition
from coxswain._keys import AsyncKeyCalls, KeyCalls
from coxswain._options import options_of
from coxswain._shape import DEFAULT_TIMEOUT, shape

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from typing import List  # for `list` is a method

    from typing_extensions import Self

    from coxswain._types import (
        Data, Event, JobError, JobStatus, KeyChange, KeyValue, Process, ProcessChange,
        TaskList, Tasks, Timeout, Topology, Why)

__all__ = ["AsyncClient", "AsyncKeyWatch", "AsyncProcessMonitor"]


class _Calls:
    """The calls of one client on one event loop."""

    _is_closed = True

    def __init__(self):
        self.native = _native.Session()
        self._mailbox = _native.Mailbox()
        self.loop = asyncio.get_running_loop()
        self._pending: dict[int, asyncio.Future] = {}
        self._last = 0
        self._is_closed = False
        self.loop.add_reader(self._mailbox.fileno(), _deliver, weakref.ref(self))

    def deliver(self) -> None:
        for number, value, problem in self._mailbox.take():
            future = self._pending.pop(number)
            if future.done():  # its awaiting task was cancelled
                continue
            if problem is None:
                future.set_result(value)
            else:
                future.set_exception(problem)
        if self._is_closed and not self._pending:
            self.loop.remove_reader(self._mailbox.fileno())
            self._mailbox = None  # returns its descriptor

    async def granted(self, shaped: Callable, name: str, *arguments):
        """As ask; what the call hands over goes back unless it is returned to the caller."""
        grant = _native.Grant()
        try:
            return shaped(await self.ask(name, grant, *arguments))
        except BaseException:
            self.native.give_back(grant)
            raise

    async def ask(self, name: str, *arguments):
        self._last += 1
        number = self._last
        future = self.loop.create_future()
        self._pending[number] = future
        try:
            call = getattr(self.native, "begin_" + name)(self._mailbox, number, *arguments)
        except BaseException:
            del self._pending[number]
            raise
        try:
            return await future
        except BaseException:
            if number in self._pending:
                self.native.cancel(call)
            raise

    def __del__(self):
        # The loop forgets the mailbox's descriptor before another file can get its number.
        if self._is_closed or self.loop.is_closed():
            return
        self.loop.call_soon_threadsafe(_forget, self.loop, self._mailbox)

    def close(self) -> None:
        if self._is_closed or self.loop.is_closed():
            return self.native.close()
        self._is_closed = True
        self.native.close()
        # Pending awaits end now and keep this alive until they do.
        self.loop.add_reader(self._mailbox.fileno(), self.deliver)
        self.deliver()


def _deliver(of: weakref.ref) -> None:
    if (calls := of()) is not None:
        calls.deliver()


def _forget(loop: asyncio.AbstractEventLoop, mailbox: _native.Mailbox) -> None:
    loop.remove_reader(mailbox.fileno())


class AsyncClient(Session, AsyncKeyCalls, AsyncEpochCalls):
    """A process's membership in a job, for asyncio::

        async with coxswain.AsyncClient("head:8476", task=3) as job:   # connects and joins
            await job.put(f"address/{job.task}", "10.0.0.7:5000")
            await job.barrier("epoch-1", timeout=60)
                                                                       # leaves

    Or: ``job = AsyncClient(...); await job.connect(); await job.join()``. Belongs to the event loop
    on which it was connected. The options are those of :class:`coxswain.Client`.
    """

    _opened: _Calls | None = None
    _has_left = False

    def __init__(self, address: str | None = None, task: int | None = None,
                 num_tasks: int | None = None, *, job: str | None = None,
                 attempt: int | None = None, token: str | None = None, label: str | None = None,
                 recoverable: bool | None = None, incarnation: int | None = None,
                 connect_timeout: Timeout = DEFAULT_TIMEOUT, fence_after: Timeout | object = _UNSET,
                 spin: Timeout = None, tls_ca: str | None = None, tls_cert: str | None = None,
                 tls_key: str | None = None, tls_peer_uri_prefix: str | None = None,
                 any: bool | None = None, member: str | None = None,
                 placement: str | Sequence[str] | None = None):
        settings = {name: value for name, value in locals().items()
                    if name not in ("self", "address") and value is not _UNSET}
        if connect_timeout is None:
            settings["connect_timeout"] = float("inf")
        self._options = options_of(address, settings)

    @classmethod
    def from_environment(cls, **settings) -> Self:
        """As Client.from_environment, but without connecting."""
        self = cls.__new__(cls)
        self._options = options_of(None, settings)
        return self

    async def connect(self) -> Self:
        """Connects; see Client."""
        if self._opened is not None:
            raise FailedPrecondition("this client has been connected before")
        self._opened = _Calls()
        try:
            await self._ask("connect", self._options)
        except BaseException:
            self._opened.close()
            self._opened = None
            raise
        return self

    @property
    def _calls(self) -> _Calls:
        if self._opened is None:
            raise FailedPrecondition("this client is not connected")
        return self._opened

    async def _ask(self, name: str, *arguments):
        return await self._calls.ask(name, *arguments)

    async def __aenter__(self) -> Self:
        if self._opened is None:
            await self.connect()
        if self._options.task is not None or self._options.any:
            try:
                await self.join()
            except BaseException:
                self.close()
                raise
        return self

    async def __aexit__(self, kind, problem, trace) -> None:
        if self._native.is_forked:
            return
        try:
            if problem is None or (isinstance(problem, SystemExit) and not problem.code):
                if not self._has_left:
                    await self.leave()
            elif self.task is not None:
                try:
                    await self.report_error(*failure_of(problem))
                except Error:
                    pass  # the job has failed before, or the coordinator is gone
        finally:
            self.close()

    def close(self) -> None:
        """Ends the session; awaited calls raise Cancelled."""
        if self._opened is not None:
            self._opened.close()

    @property
    def _native(self) -> _native.Session:
        return self._calls.native

    async def join(self, timeout: Timeout = DEFAULT_TIMEOUT, *, take_over: bool = False) -> bool:
        return await self._ask("join", timeout, take_over)

    async def leave(self, timeout: Timeout = DEFAULT_TIMEOUT, *, returning: bool = False) -> None:
        await self._ask("leave", timeout, returning)
        self._has_left = True

    async def reset(self) -> None:
        await self._ask("reset")

    async def barrier(self, name: str, timeout: Timeout = DEFAULT_TIMEOUT,
                      participants: Tasks = None, *, fail_when_lost: bool = False) -> int:
        return await self._ask("barrier", name, timeout, participants, fail_when_lost)

    async def all_gather(self, name: str, data: Data, timeout: Timeout = DEFAULT_TIMEOUT,
                         participants: Tasks = None, *,
                         fail_when_lost: bool = False) -> List[bytes]:
        return await self._ask("all_gather", name, data, timeout, participants, fail_when_lost)

    async def reduce(self, name: str, operand, how: str = "sum",
                     timeout: Timeout = DEFAULT_TIMEOUT, participants: Tasks = None, *,
                     fail_when_lost: bool = False):
        kind, plain = operand_of(operand)
        return await self._ask("reduce_" + kind, name, plain, how, timeout, participants,
                               fail_when_lost)

    async def all_equal(self, name: str, data: Data, timeout: Timeout = DEFAULT_TIMEOUT,
                        participants: Tasks = None, *, fail_when_lost: bool = False) -> int:
        return await self._ask("all_equal", name, data, timeout, participants, fail_when_lost)

    async def cancel_barrier(self, name: str, round: int | None = None) -> None:
        await self._ask("cancel_barrier", name, round)

    async def count_barrier(self, name: str, count: int, timeout: Timeout = DEFAULT_TIMEOUT) -> int:
        return await self._ask("count_barrier", name, count, timeout)

    async def watch(self, directory: str = "", after: int | None = None) -> AsyncKeyWatch:
        version = await self._ask("watch_open", directory, after)
        return AsyncKeyWatch(self._calls, directory, version)

    async def tasks(self, after: int | None = None, timeout: Timeout = None) -> TaskList:
        return shape.tasks_of(await self._ask("watch_tasks", after, timeout))

    async def alive_tasks(self, tasks: Tasks = None, timeout: Timeout = DEFAULT_TIMEOUT
                          ) -> List[Process]:
        return list(shape.processes_of(await self._ask("alive_tasks", tasks, timeout)))

    async def exchange_topology(self, platform: str, mine: Topology,
                                timeout: Timeout = DEFAULT_TIMEOUT) -> List[Topology]:
        return shape.topologies_of(await self._ask(
            "exchange_topology", platform, shape.raw_topology_of(mine), timeout))

    def process_monitor(self) -> AsyncProcessMonitor:
        return AsyncProcessMonitor(self._calls)

    async def failure(self, timeout: Timeout = None) -> JobError | None:
        seconds = timeout.total_seconds() if isinstance(timeout, timedelta) else timeout
        try:
            error = await asyncio.wait_for(self._ask("failure"), seconds)
        except asyncio.TimeoutError:
            return None
        return shape.job_error_of(error)

    def on_failure(self, tell: Callable[[JobError], object]) -> None:
        """Calls ``tell`` once, from the event loop, when :meth:`failure` would return; not if this
        client ends first."""
        if not callable(tell):
            raise TypeError(f"on_failure calls a function, not {type(tell).__name__}")
        loop = self._calls.loop
        mailbox = _native.Mailbox()

        def told() -> None:
            loop.remove_reader(mailbox.fileno())
            error = told_failure(mailbox)
            if error is not None:
                tell(error)

        loop.add_reader(mailbox.fileno(), told)
        self._calls.native.begin_failure(mailbox, 0)

    async def report_error(self, code: int, message: str) -> None:
        await self._ask("report_error", int(code), message)

    async def preempt(self, within: Timeout = 0.0, task: int | None = None) -> None:
        await self._ask("preempt", within, task)

    async def reached_sync_point(self, step: int) -> bool:
        return await self._ask("reached_sync_point", step)

    async def report_progress(self, step: int) -> None:
        await self._ask("report_progress", step)

    async def events(self, after: int | None = None, *, severity: str = "info",
                     timeout: Timeout = None, last: int = 0) -> tuple[List[Event], int]:
        try:
            raw = await self._ask("watch_events", after, severity, timeout, last)
        except DeadlineExceeded:  # the coordinator is away
            if after is None:
                raise
            return [], after
        return shape.events_of(raw)

    async def status(self) -> JobStatus:
        return shape.status_of(await self._ask("inspect"))

    async def why(self) -> Why:
        return shape.why_of(await self._ask("why"))


class AsyncKeyWatch:
    """As coxswain.KeyWatch: ``async for change in watch``."""

    def __init__(self, calls: _Calls, directory: str, version: int):
        self._calls = calls
        self._directory = directory
        self.version = version

    async def next(self, timeout: Timeout = None) -> List[KeyChange]:
        raw, version = await self._calls.ask("watch_next", self._directory, self.version, timeout)
        changes = shape.changes_of(raw)
        self.version = version
        return changes

    async def list(self) -> List[KeyValue]:
        raw, version = await self._calls.ask("watch_list", self._directory)
        keys = shape.keys_of(raw)
        self.version = version
        return keys

    async def __aiter__(self) -> AsyncIterator[KeyChange]:
        while True:
            for change in await self.next():
                yield change


class AsyncProcessMonitor:
    """As coxswain.ProcessMonitor: ``async for change in monitor``."""

    def __init__(self, calls: _Calls):
        self._calls = calls
        self._raw = _native.ProcessWatch()

    async def next(self, timeout: Timeout = None) -> ProcessChange:
        told = await self._calls.ask("processes_next", self._raw, timeout)
        return shape.process_change_of(self._raw.update(told))

    async def __aiter__(self) -> AsyncIterator[ProcessChange]:
        while True:
            yield await self.next()

    def mark_failed(self, task: int, code: int, message: str) -> tuple[Process, ...]:
        return shape.processes_of(self._raw.mark_failed(task, int(code), message))

    def check_current(self, members: Sequence[Process]) -> None:
        self._raw.check_current([(one.task, one.incarnation) for one in members])


def _document(here: type, there: type) -> None:
    """Copies the documentation of each method and property from the blocking class."""
    for name, member in vars(here).items():
        said = getattr(getattr(there, name, None), "__doc__", None)
        if not name.startswith("_") and said and member.__doc__ is None:
            member.__doc__ = said


_document(AsyncKeyCalls, KeyCalls)
_document(AsyncEpochCalls, EpochCalls)
_document(AsyncClient, Client)
_document(AsyncKeyWatch, KeyWatch)
_document(AsyncProcessMonitor, ProcessMonitor)
