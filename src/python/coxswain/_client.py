"""The client whose calls block. Those of coxswain.aio are made from them."""

from __future__ import annotations

import operator

from coxswain import _native
from coxswain._epochs import EpochCalls
from coxswain._errors import Cancelled, Code, DeadlineExceeded, Error
from coxswain._keys import KeyCalls
from coxswain._options import options_of
from coxswain._shape import DEFAULT_TIMEOUT, apply, shape

TYPE_CHECKING = False  # for type checkers it is true; typing takes long to import
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, List  # for `list` is a method

    from typing_extensions import Self

    from coxswain._types import (
        Data, Event, JobError, JobStatus, KeyChange, KeyValue, Process, ProcessChange,
        TaskList, Tasks, Timeout, Topology, Why)

__all__ = ["Client", "KeyWatch", "ProcessMonitor"]

_UNSET: object = object()

_REASON_BYTES_MAX = 4096


def failure_of(problem: BaseException) -> tuple[Code, str]:
    """The failure of a task ended by an exception: its own code if it has one."""
    try:
        text = str(problem)
    except Exception:  # its class is broken
        text = ""
    if isinstance(problem, Error):
        code, text = problem.code, text.removeprefix(f"{problem.code.name}: ")
    else:
        code, text = Code.UNKNOWN, f"{type(problem).__name__}: {text}"
    given = text.encode("utf-8", "backslashreplace")
    return code, given[:_REASON_BYTES_MAX].decode("utf-8", "ignore")


def operand_of(operand) -> tuple[str, int | float | bytes]:
    """The native reduction for an operand, and the operand's native type."""
    if isinstance(operand, (bytes, bytearray, memoryview)):
        return "bits", bytes(operand)
    try:
        return "int", operator.index(operand)
    except TypeError:
        if not hasattr(operand, "__float__"):
            raise
        return "float", float(operand)


class Session:
    """The options and properties of a session, for both clients."""

    if TYPE_CHECKING:
        _native: Any
        _open: Any

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
        """Connects; retries until the coordinator is reachable. An AsyncClient does so in
        :meth:`AsyncClient.connect`.

        ``address`` is "host:port", "[v6]:port" or "unix:/path", or several of them, separated by
        commas: the client uses whichever serves the job. Without it, values not given here come
        from the environment, see :meth:`from_environment`; with it, only the token and the TLS
        files: ``COXSWAIN_TOKEN``, ``_TOKEN_FILE``, ``_TLS_CA``, ``_TLS_CERT`` and ``_TLS_KEY``.
        Without a ``task`` the client is an observer: it can read the status, use keys and count
        barriers, but neither join nor take part in barriers, unless ``any`` is set, or ``member``,
        which implies it: then it joins without a number, and :attr:`task` is the one that the
        coordinator assigns. The join waits for a number, without limit by default; while all are
        taken the process is a spare, which replaces a recoverable task that fails. ``member`` names
        the process, such as "b17/0": the next one of that name gets the same number. ``placement``
        is where it runs, such as "pod1/rack7/b17": a spare replaces a task nearby. Cancelled: the
        job is over.

        DeadlineExceeded: not within ``connect_timeout``; the text has the number
        of attempts. FailedPrecondition (another job, attempt or number of tasks) and
        Unauthenticated (the token, a certificate) are raised at once. ``spin``: how long its
        thread polls for replies before sleeping, which costs a core; at most 1 s.
        """
        settings = {name: value for name, value in locals().items()
                    if name not in ("self", "address") and value is not _UNSET}
        if connect_timeout is None:
            settings["connect_timeout"] = float("inf")
        self._open(options_of(address, settings))

    def _left(self, _: None) -> None:
        self._has_left = True

    @property
    def task(self) -> int | None:
        """This process's task; None: an observer, or it has no number yet."""
        return self._native.task

    @property
    def num_tasks(self) -> int:
        """The number of tasks of the job."""
        return self._native.num_tasks

    @property
    def role(self) -> str:
        """The token's role: "reader", "operator" or "worker"."""
        return self._native.role

    @property
    def incarnation(self) -> int:
        """Distinguishes this process from an earlier one of the same task."""
        return self._native.incarnation

    @property
    def reconnects(self) -> int:
        """The number of times the session was resumed."""
        return self._native.reconnects


class Client(Session, KeyCalls, EpochCalls):
    """A process's membership in a job, its barriers and its keys::

        with coxswain.Client("head:8476", task=3) as job:   # joins
            job.put(f"address/{job.task}", "10.0.0.7:5000")
            first = job.get("address/0")
            job.barrier("epoch-1", timeout=60)
                                                            # leaves

    Each call blocks its thread without the GIL, until the coordinator answers or its time has
    passed (300 s by default; ``timeout=None`` waits without limit). A signal handler that raises,
    such as that of Ctrl-C, cancels it at once. Heartbeats and everything else that keeps the
    session alive run on a native thread, which never waits for Python.

    Errors are :class:`coxswain.Error`, one class for each code. Those of every call: Unavailable
    (the coordinator is lost permanently), ResourceExhausted (a limit), PermissionDenied (the
    token's role does not suffice), FailedPrecondition (not joined, or this client has left),
    Aborted (a newer process has replaced the task), Cancelled (the client was closed), and
    DeadlineExceeded, which is also a TimeoutError. Others are documented at the call.

    A lost connection is not an error: the client reconnects, open calls continue, and each takes
    effect exactly once.

    The logger "coxswain" gets a warning when the connection is lost, when the coordinator cannot
    be reached, and when a call waits for more than 2 s: for which tasks or which key, again at
    doubling intervals up to 30 s. The waiting thread logs it, within a quarter of a second. A
    waiting pop is logged as info only.

    Threads: any number may call concurrently. Fork: a child must create its own client; calls raise
    FailedPrecondition there, and the parent's session is not affected.
    """

    @classmethod
    def from_environment(cls, **settings) -> Self:
        """Connects to the coordinator named by the environment: ``COXSWAIN_ADDRESS``,
        ``_TASK_ID`` or ``_MEMBER`` and ``_PLACEMENT``, ``_NUM_TASKS``, ``_JOB``, ``_ATTEMPT``,
        ``_TOKEN``; JAX's variables; or those of the launcher; ``coxswain detect`` shows their
        values. Below ``coxswain task`` a client of its task acts for the already joined task.
        InvalidArgument: no address, or a malformed
        value. If nothing else starts a coordinator, the process of task 0 can: see
        :meth:`Coordinator.of_task_0`.
        """
        self = cls.__new__(cls)
        self._open(options_of(None, settings))
        return self

    def _open(self, options: _native.Options) -> None:
        self._native = _native.Session()
        self._joins = options.task is not None or options.any
        try:
            self._native.connect(options)
        except BaseException:
            self._native.close()
            raise

    def __enter__(self) -> Self:
        """Joins, unless this is an observer."""
        if self._joins:
            try:
                self.join()
            except BaseException:
                self.close()
                raise
        return self

    def __exit__(self, kind, problem, trace) -> None:
        """Leaves: the task has finished. After an exception it fails instead, so that the others
        learn of it. Does nothing in a forked child, since the task is its parent's."""
        if self._native.is_forked:
            return
        try:
            if problem is None or (isinstance(problem, SystemExit) and not problem.code):
                if not self._has_left:
                    self.leave()
            elif self.task is not None:
                self._tell(problem)
        finally:
            self.close()

    def _tell(self, problem) -> None:
        try:
            self.report_error(*failure_of(problem))
        except Error:
            pass  # the job has failed before, or the coordinator is gone

    def join(self, timeout: Timeout = DEFAULT_TIMEOUT, *, take_over: bool = False) -> bool:
        """Joins the job and waits until all tasks have joined; true if the job had started before.

        ``take_over``: replaces another process of the task at once; both must be recoverable.
        DeadlineExceeded: some tasks are missing. AlreadyExists: a newer process of the task joined
        meanwhile. Aborted: another live process holds the task; or the job has failed.
        """
        return self._native.join(timeout, take_over)

    def leave(self, timeout: Timeout = DEFAULT_TIMEOUT, *, returning: bool = False) -> None:
        """Waits until all tasks leave, then ends the session. A job whose tasks are all recoverable
        has no such shutdown barrier (unless its coordinator has ``leave_together``): the task
        leaves at once, as it does with timeout 0.

        Afterwards the task has finished: barriers that need it fail at once, without a job error.
        With ``returning`` another process of it will join: it leaves at once, barriers wait for
        that process, and if none joins within the coordinator's ``return_timeout`` the task fails.

        Internal: a task died or did not leave. FailedPrecondition: the job had failed, and the
        task has left alone. InvalidArgument: ``returning``, but the task is not recoverable."""
        return apply(self._left, self._native.leave(timeout, returning))

    def close(self) -> None:
        """Ends the session. A task that has not left fails at once. Open calls of other threads
        raise Cancelled, as do later ones. A second call has no effect."""
        self._native.close()

    def reset(self) -> None:
        """Clears the error of this recoverable task, so that it can :meth:`join` again; not in an
        elastic job, where it can without."""
        return self._native.reset()

    def barrier(self, name: str, timeout: Timeout = DEFAULT_TIMEOUT, participants: Tasks = None, *,
                fail_when_lost: bool = False) -> int:
        """Waits until all participants have called; returns the round's number.

        ``participants``: the tasks that take part, this one among them. ``fail_when_lost``: fails
        as soon as a participant fails, even a recoverable one. The earliest deadline of the
        participants ends the round for all: DeadlineExceeded, whose ``missing`` and ``details``
        name the missing tasks. Internal: a participant died, failed or left. Cancelled: see
        cancel_barrier. InvalidArgument: the callers name different participants.
        """
        return self._native.barrier(name, timeout, participants, fail_when_lost)

    def all_gather(self, name: str, data: Data, timeout: Timeout = DEFAULT_TIMEOUT,
                   participants: Tasks = None, *, fail_when_lost: bool = False) -> List[bytes]:
        """A barrier that gathers the data of all participants; returns it in task order."""
        return self._native.all_gather(name, data, timeout, participants, fail_when_lost)

    def reduce(self, name: str, operand, how: str = "sum", timeout: Timeout = DEFAULT_TIMEOUT,
               participants: Tasks = None, *, fail_when_lost: bool = False):
        """A barrier to which each participant contributes an int, a float or bytes, all of the same
        type. Returns the "sum", "min" or "max" of numbers, or the bitwise "and" or "or" of bytes.
        OutOfRange: the sum does not fit 64 bits."""
        kind, plain = operand_of(operand)
        call = getattr(self._native, "reduce_" + kind)
        return call(name, plain, how, timeout, participants, fail_when_lost)

    def all_equal(self, name: str, data: Data, timeout: Timeout = DEFAULT_TIMEOUT,
                  participants: Tasks = None, *, fail_when_lost: bool = False) -> int:
        """A barrier that requires the same data of all participants. FailedPrecondition: the data
        differs; the text names two differing tasks."""
        return self._native.all_equal(name, data, timeout, participants, fail_when_lost)

    def cancel_barrier(self, name: str, round: int | None = None) -> None:
        """Ends the open round of a barrier for all with Cancelled. FailedPrecondition: none is
        open."""
        return self._native.cancel_barrier(name, round)

    def count_barrier(self, name: str, count: int, timeout: Timeout = DEFAULT_TIMEOUT) -> int:
        """Waits until ``count`` such calls are open, of tasks or observers."""
        return self._native.count_barrier(name, count, timeout)

    def watch(self, directory: str = "", after: int | None = None) -> KeyWatch:
        """The changes below a directory, from now on or since a version: see KeyWatch."""
        return KeyWatch(self._native, directory, self._native.watch_open(directory, after))

    def tasks(self, after: int | None = None, timeout: Timeout = None) -> TaskList:
        """The current state of all tasks; with the version of an earlier list, waits until it
        differs from that or the time has passed. DeadlineExceeded: the coordinator is away."""
        return apply(shape.tasks_of, self._native.watch_tasks(after, timeout))

    def alive_tasks(self, tasks: Tasks = None, timeout: Timeout = DEFAULT_TIMEOUT
                    ) -> List[Process]:
        """Which of these tasks, which include this one, are alive: waits until each connected one
        has asked for the same set, and returns the same list to all."""
        return apply(lambda raw: [*shape.processes_of(raw)],
                     self._native.alive_tasks(tasks, timeout))

    def exchange_topology(self, platform: str, mine: Topology, timeout: Timeout = DEFAULT_TIMEOUT
                          ) -> List[Topology]:
        """Contributes this task's devices and waits until all tasks have contributed theirs for the
        same platform; returns those of all in task order, numbered, the same for all. May be
        repeated. Internal: a task failed or left, or this one contributed other data before.
        InvalidArgument: some tasks state a partition index and some do not."""
        return apply(shape.topologies_of, self._native.exchange_topology(
            platform, shape.raw_topology_of(mine), timeout))

    def process_monitor(self) -> ProcessMonitor:
        """Reports each change of the tasks, and lost processes: see ProcessMonitor."""
        return ProcessMonitor(self._native)

    def failure(self, timeout: Timeout = None) -> JobError | None:
        """Waits until the job fails, or this client loses the coordinator permanently; None if
        neither happens in time. Cancelled: the client has left or was closed."""
        return shape.job_error_of(self._native.failure_within(timeout))

    def on_failure(self, tell: Callable[[JobError], object]) -> None:
        """Calls ``tell`` once, on its own thread, when :meth:`failure` would return; not if this
        client ends first."""
        import threading
        if not callable(tell):
            raise TypeError(f"on_failure calls a function, not {type(tell).__name__}")
        mailbox = _native.Mailbox()
        self._native.begin_failure(mailbox, 0)
        threading.Thread(target=_await_failure, args=(mailbox, tell), daemon=True,
                         name="coxswain-failure").start()

    def report_error(self, code: int, message: str) -> None:
        """Declares this task failed; the job fails, unless the task is recoverable."""
        return self._native.report_error(int(code), message)

    def preempt(self, within: Timeout = 0.0, task: int | None = None) -> None:
        """Announces that a task, by default this one, will be preempted after this time: all tasks
        then agree on a step at which they stop together."""
        return self._native.preempt(within, task)

    def stop_job(self, reason: str = "") -> None:
        """Ends the job at once: all calls fail with the reason, and all sessions end, also this
        one. PermissionDenied: the token is not that of an operator."""
        return self._native.stop_job(reason)

    def drain_job(self, reason: str = "") -> None:
        """From now on nobody may join, and the job ends when all its tasks have left; a second call
        changes nothing. PermissionDenied: the token is not that of an operator."""
        return self._native.drain_job(reason)

    def reached_sync_point(self, step: int) -> bool:
        """Every task calls this with each step that it reaches, in increasing order. True once per
        agreement after a preemption notice: at the step where all save their state."""
        return self._native.reached_sync_point(step)

    def report_progress(self, step: int) -> None:
        """Reports that this task has reached a step, for status displays and progress checks."""
        return self._native.report_progress(step)

    def events(self, after: int | None = None, *, severity: str = "info",
               timeout: Timeout = None, last: int = 0) -> tuple[List[Event], int]:
        """The coordinator's logged events, and the last number; with that number as ``after``,
        waits for later events until there are any or the time has passed. Without ``after``,
        ``last`` limits the number of each severity; 0 means all."""
        try:
            return shape.events_of(self._native.watch_events(after, severity, timeout, last))
        except DeadlineExceeded:  # the coordinator is away
            if after is None:
                raise
            return [], after

    def status(self) -> JobStatus:
        """A snapshot of the whole job."""
        return apply(shape.status_of, self._native.inspect())

    def why(self) -> Why:
        """Every waiting call, and the tasks that are deadlocked."""
        return apply(shape.why_of, self._native.why())


def pushed_failure(mailbox: _native.Mailbox) -> JobError | None:
    """The result of a wait for the job's failure; None: the client ended first."""
    [(_, error, problem)] = mailbox.take()
    if problem is not None and not isinstance(problem, Cancelled):
        raise problem
    return shape.job_error_of(error)


def _await_failure(mailbox: _native.Mailbox, tell) -> None:
    import select
    poller = select.poll()
    poller.register(mailbox.fileno(), select.POLLIN)
    poller.poll()
    error = pushed_failure(mailbox)
    if error is not None:
        tell(error)


class WatchState:
    """What the key watches of both clients know."""

    def __init__(self, native: Any, directory: str, version: int):
        self._native = native
        self._directory = directory
        #: All changes up to this version have been returned.
        self.version = version

    def _advance(self, function: Callable, result):
        def advance(raw):
            shaped = function(raw[0])
            self.version = raw[1]  # last: a call that raises changes nothing
            return shaped

        return apply(advance, result)


class KeyWatch(WatchState):
    """The changes below a directory and of the key equal to it, in order::

        watch = job.watch("members")
        members = watch.list()
        for change in watch:
            ...

    No change is missed or repeated, even when the client reconnects. One thread at a time.
    """

    def next(self, timeout: Timeout = None) -> List[KeyChange]:
        """Waits for changes and returns them in order; none if the time passes without any, also
        while the coordinator is away. OutOfRange: the coordinator no longer has all of them; use
        :meth:`list`."""
        return self._advance(shape.changes_of, self._native.watch_next(
            self._directory, self.version, timeout))

    def list(self) -> List[KeyValue]:
        """All keys below the directory; :meth:`next` then returns changes since."""
        return self._advance(shape.keys_of, self._native.watch_list(self._directory))

    def __iter__(self) -> Iterator[KeyChange]:
        while True:
            yield from self.next()


class ProcessTable:
    """What the process monitors of both clients know."""

    def __init__(self, native: Any):
        self._native = native
        self._raw = _native.ProcessWatch()

    def mark_failed(self, task: int, code: int, message: str) -> tuple[Process, ...]:
        """Marks a failure detected here, before the coordinator reports it; returns the processes
        lost by it."""
        return shape.processes_of(self._raw.mark_failed(task, int(code), message))

    def check_current(self, members: Sequence[Process]) -> None:
        """FailedPrecondition: a member is not connected, or was replaced by another process."""
        self._raw.check_current([(one.task, one.incarnation) for one in members])


class ProcessMonitor(ProcessTable):
    """All tasks at each change, and the processes lost since the last one, for runtimes that must
    end their work with exactly those::

        for change in job.process_monitor():
            for process in change.lost:
                abort_collectives_with(process)

    Ends with Cancelled or Unavailable when the client ends or loses the coordinator.
    """

    def next(self, timeout: Timeout = None) -> ProcessChange:
        """Waits for the next change; the first call returns the tasks at once."""
        return apply(lambda changed: shape.process_change_of(self._raw.update(changed)),
                     self._native.processes_next(self._raw, timeout))

    def __iter__(self) -> Iterator[ProcessChange]:
        while True:
            yield self.next()
