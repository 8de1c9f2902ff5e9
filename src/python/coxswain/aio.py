"""The client for asyncio. Its calls are those of coxswain.Client, and documented there; here they
are awaited, and cancelling the awaiting task cancels the call.

No threads wait: the client's native thread puts completed calls into a mailbox, which the event
loop watches like a socket.
"""

from __future__ import annotations

import asyncio
import functools
import weakref
from datetime import timedelta
from typing import TYPE_CHECKING

from coxswain import _native
from coxswain._client import (
    Client, KeyWatch, ProcessMonitor, ProcessTable, Session, WatchState, failure_of, pushed_failure)
from coxswain._epochs import EpochCalls
from coxswain._errors import Aborted, Cancelled, DeadlineExceeded, Error, FailedPrecondition
from coxswain._holdings import Held, Item, TakenItem
from coxswain._keys import KeyCalls
from coxswain._options import options_of
from coxswain._shape import DEFAULT_TIMEOUT, shape

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine
    from typing import Any, List, TypeVar  # for `list` is a method

    from typing_extensions import Concatenate, ParamSpec, Self

    from coxswain._epochs import Epoch
    from coxswain._types import Event, JobError, KeyChange, ProcessChange, Timeout

    _Parameters = ParamSpec("_Parameters")
    _Result = TypeVar("_Result")

__all__ = ["AsyncClient", "AsyncKeyWatch", "AsyncProcessMonitor"]


def awaited(call: Callable[Concatenate[Any, _Parameters], _Result], documentation: str | None = None
            ) -> Callable[Concatenate[Any, _Parameters], Coroutine[Any, Any, _Result]]:
    """The coroutine function made from a blocking call: the same one, called with a client whose
    native operations return coroutines."""
    async def asked(self, *arguments, **named):
        result: Any = call(self, *arguments, **named)
        return await result

    made: Any = functools.wraps(call)(asked)
    made.__qualname__ = f"Async{call.__qualname__}"
    made.__doc__ = documentation or call.__doc__
    return made


class _AwaitedSession:
    """The native session of one client on one event loop: its operations are awaited."""

    _is_closed = True

    def __init__(self):
        self._session = _native.Session()
        self._mailbox = _native.Mailbox()
        self.loop = asyncio.get_running_loop()
        self._pending: dict[int, asyncio.Future] = {}
        self._last = 0
        self._is_closed = False
        self.loop.add_reader(self._mailbox.fileno(), _deliver, weakref.ref(self))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

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
        """What the call hands over goes back unless it is returned to the caller."""
        grant = _native.Grant()
        try:
            return shaped(await getattr(self, name)(grant, *arguments))
        except BaseException:
            self.give_back(grant)
            raise

    async def _ask(self, begin: Callable, *arguments):
        self._last += 1
        number = self._last
        future = self.loop.create_future()
        self._pending[number] = future
        try:
            call = begin(self._session, self._mailbox, number, *arguments)
        except BaseException:
            del self._pending[number]
            raise
        try:
            return await future
        except BaseException:
            if number in self._pending:
                self._session.cancel(call)
            raise

    def __del__(self):
        # The loop forgets the mailbox's descriptor before another file can get its number.
        if self._is_closed or self.loop.is_closed():
            return
        self.loop.call_soon_threadsafe(_forget, self.loop, self._mailbox)

    def close(self) -> None:
        if self._is_closed or self.loop.is_closed():
            return self._session.close()
        self._is_closed = True
        self._session.close()
        # Pending awaits end now and keep this alive until they do.
        self.loop.add_reader(self._mailbox.fileno(), self.deliver)
        self.deliver()


def _define(name: str, begin: Callable) -> None:
    setattr(_AwaitedSession, name, lambda self, *arguments: self._ask(begin, *arguments))


for _name, _begin in vars(_native.Session).items():
    if _name.startswith("begin_"):
        _define(_name.removeprefix("begin_"), _begin)


def _deliver(of: weakref.ref) -> None:
    if (calls := of()) is not None:
        calls.deliver()


def _forget(loop: asyncio.AbstractEventLoop, mailbox: _native.Mailbox) -> None:
    loop.remove_reader(mailbox.fileno())


class AsyncClient(Session):
    """A process's membership in a job, for asyncio::

        async with coxswain.AsyncClient("head:8476", task=3) as job:   # connects and joins
            await job.put(f"address/{job.task}", "10.0.0.7:5000")
            await job.barrier("epoch-1", timeout=60)
                                                                       # leaves

    Or: ``job = AsyncClient(...); await job.connect(); await job.join()``. Belongs to the event loop
    on which it was connected. The options are those of :class:`coxswain.Client`.
    """

    _opened: _AwaitedSession | None = None

    def _open(self, options: _native.Options) -> None:
        self._options = options

    @classmethod
    def from_environment(cls, **settings) -> Self:
        """As Client.from_environment, but without connecting."""
        self = cls.__new__(cls)
        self._open(options_of(None, settings))
        return self

    async def connect(self) -> Self:
        """Connects; see Client."""
        if self._opened is not None:
            raise FailedPrecondition("this client has been connected before")
        self._opened = _AwaitedSession()
        try:
            await self._opened.connect(self._options)
        except BaseException:
            self._opened.close()
            self._opened = None
            raise
        return self

    @property
    def _native(self) -> _AwaitedSession:
        if self._opened is None:
            raise FailedPrecondition("this client is not connected")
        return self._opened

    async def _granted(self, shaped: Callable, call: str, *arguments):
        return await self._native.granted(shaped, call, *arguments)

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

    join = awaited(Client.join)
    leave = awaited(Client.leave)
    reset = awaited(Client.reset)
    barrier = awaited(Client.barrier)
    all_gather = awaited(Client.all_gather)
    reduce = awaited(Client.reduce)
    all_equal = awaited(Client.all_equal)
    cancel_barrier = awaited(Client.cancel_barrier)
    count_barrier = awaited(Client.count_barrier)
    tasks = awaited(Client.tasks)
    alive_tasks = awaited(Client.alive_tasks)
    exchange_topology = awaited(Client.exchange_topology)
    report_error = awaited(Client.report_error)
    preempt = awaited(Client.preempt)
    stop_job = awaited(Client.stop_job)
    drain_job = awaited(Client.drain_job)
    reached_sync_point = awaited(Client.reached_sync_point)
    report_progress = awaited(Client.report_progress)
    status = awaited(Client.status)
    why = awaited(Client.why)

    put = awaited(KeyCalls.put)
    put_all = awaited(KeyCalls.put_all)
    get = awaited(KeyCalls.get)
    get_all = awaited(KeyCalls.get_all)
    try_get = awaited(KeyCalls.try_get)
    list = awaited(KeyCalls.list)
    count = awaited(KeyCalls.count)
    remove = awaited(KeyCalls.remove)
    remove_tree = awaited(KeyCalls.remove_tree)
    increment = awaited(KeyCalls.increment)
    append = awaited(KeyCalls.append)
    compare_and_set = awaited(KeyCalls.compare_and_set)
    push = awaited(KeyCalls.push)
    queue_length = awaited(KeyCalls.queue_length)
    try_lock = awaited(KeyCalls.try_lock)
    unlock = awaited(KeyCalls.unlock)
    pop = awaited(KeyCalls.pop,
        """As KeyCalls.pop. An item that arrives while the awaiting task is cancelled goes back to
        its place in the queue at once.""")
    lock = awaited(KeyCalls.lock,
        """As KeyCalls.lock. A lock granted while the awaiting task is cancelled is released at
        once.""")

    next_epoch = awaited(EpochCalls.next_epoch)
    present_epoch = awaited(EpochCalls.present_epoch)
    epoch_wanted = awaited(EpochCalls.epoch_wanted)
    epoch_members = awaited(EpochCalls.epoch_members)
    resize = awaited(EpochCalls.resize)

    def take(self, queue: str, timeout: Timeout = DEFAULT_TIMEOUT, *,
             lease: Timeout = 60.0) -> AsyncTaking:
        """As KeyCalls.take: ``async with job.take("jobs") as item``. An item that arrives while the
        awaiting task is cancelled returns to its place at once."""
        return AsyncTaking(self._granted(lambda raw: AsyncTakenItem(self._native, raw), "take",
                                         queue, timeout, lease))

    def locked(self, name: str, timeout: Timeout = DEFAULT_TIMEOUT) -> AsyncLocked:
        """As KeyCalls.locked: ``async with job.locked("name") as lock``."""
        return AsyncLocked(self._native, name, timeout)

    async def epochs(self, timeout: Timeout = DEFAULT_TIMEOUT) -> AsyncIterator[Epoch]:
        epoch = await self.present_epoch() or await self.next_epoch(timeout)
        while epoch is not None:
            yield epoch
            if epoch._is_finished:
                try:
                    await self.leave(timeout)
                    return
                except Aborted:
                    pass  # another member did not finish
            try:
                epoch = await self.next_epoch(timeout)
            except Cancelled:
                return

    async def watch(self, directory: str = "", after: int | None = None) -> AsyncKeyWatch:
        version = await self._native.watch_open(directory, after)
        return AsyncKeyWatch(self._native, directory, version)

    def process_monitor(self) -> AsyncProcessMonitor:
        return AsyncProcessMonitor(self._native)

    async def failure(self, timeout: Timeout = None) -> JobError | None:
        seconds = timeout.total_seconds() if isinstance(timeout, timedelta) else timeout
        try:
            error = await asyncio.wait_for(self._native.failure(), seconds)
        except asyncio.TimeoutError:
            return None
        return shape.job_error_of(error)

    def on_failure(self, tell: Callable[[JobError], object]) -> None:
        """Calls ``tell`` once, from the event loop, when :meth:`failure` would return; not if this
        client ends first."""
        if not callable(tell):
            raise TypeError(f"on_failure calls a function, not {type(tell).__name__}")
        loop = self._native.loop
        mailbox = _native.Mailbox()

        def on_readable() -> None:
            loop.remove_reader(mailbox.fileno())
            error = pushed_failure(mailbox)
            if error is not None:
                tell(error)

        loop.add_reader(mailbox.fileno(), on_readable)
        self._native.begin_failure(mailbox, 0)

    async def events(self, after: int | None = None, *, severity: str = "info",
                     timeout: Timeout = None, last: int = 0) -> tuple[List[Event], int]:
        try:
            raw = await self._native.watch_events(after, severity, timeout, last)
        except DeadlineExceeded:  # the coordinator is away
            if after is None:
                raise
            return [], after
        return shape.events_of(raw)


class AsyncKeyWatch(WatchState):
    """As coxswain.KeyWatch: ``async for change in watch``."""

    next = awaited(KeyWatch.next)
    list = awaited(KeyWatch.list)

    async def __aiter__(self) -> AsyncIterator[KeyChange]:
        while True:
            for change in await self.next():
                yield change


class AsyncProcessMonitor(ProcessTable):
    """As coxswain.ProcessMonitor: ``async for change in monitor``."""

    next = awaited(ProcessMonitor.next)

    async def __aiter__(self) -> AsyncIterator[ProcessChange]:
        while True:
            yield await self.next()


class AsyncTakenItem(Item, Held):
    """As TakenItem, with calls to await."""

    finish = awaited(TakenItem.finish)
    release = awaited(TakenItem.release)
    extend = awaited(TakenItem.extend)


class AsyncTaking:
    """``async with job.take("jobs") as item``, or ``item = await job.take("jobs")``."""

    def __init__(self, taking):
        self._taking = taking
        self._item: AsyncTakenItem | None = None

    def __await__(self):
        return self._taking.__await__()

    async def __aenter__(self) -> AsyncTakenItem:
        self._item = await self._taking
        return self._item

    async def __aexit__(self, kind, problem, traceback) -> None:
        item, self._item = self._item, None
        if not item._is_held or item._native.is_forked:
            return
        if kind is None:
            return await item.finish()
        item._is_held = False
        item._drop()


class AsyncLocked(Held):
    """``async with job.locked("name") as lock``."""

    def __init__(self, native: _AwaitedSession, name: str, timeout: Timeout):
        self._native = native
        self._timeout = timeout
        self.name = name
        self.token = 0

    def _hold(self, token: int) -> Self:
        self.token = token
        self._is_held = True
        return self

    def _drop(self) -> None:
        self._native.drop_lock(self.name, self.token)

    async def __aenter__(self) -> Self:
        return await self._native.granted(self._hold, "lock", self.name, self._timeout)

    async def __aexit__(self, kind, problem, traceback) -> None:
        if self._native.is_forked:
            return
        if kind is None:
            await self._native.unlock(self.name, self.token)
        else:
            self._drop()
        self._is_held = False


for _name in "epochs", "watch", "process_monitor", "failure", "events":
    getattr(AsyncClient, _name).__doc__ = getattr(Client, _name).__doc__
