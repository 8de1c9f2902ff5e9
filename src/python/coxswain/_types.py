"""Results of calls, and some arguments: frozen dataclasses, passed as tuples to and from the native
module."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Union

from coxswain import _native
from coxswain._code import Code
from coxswain._status import (
    BarrierStatus, ElasticState, FinishedRound, JobState, Leadership, LeasedItem, Relay, Spare,
    Straggler, round_of)

if TYPE_CHECKING:
    import datetime

__all__ = [
    "BarrierFailure", "BarrierStatus", "Device", "ElasticState", "EpochEnd", "EpochMember", "Event",
    "Failure", "FinishedRound", "JobError", "JobStatus", "KeyChange", "KeyValue",
    "LaunchParameters", "Leadership", "LeasedItem", "MissingTask", "Problem", "Process",
    "ProcessChange", "Progress", "QueueItem", "Relay", "Spare", "Straggler", "Swap", "Task",
    "TaskList", "Topology", "Wait", "Why",
]

if TYPE_CHECKING:
    #: Seconds, a timedelta, or None: unlimited.
    Timeout = Union[float, datetime.timedelta, None]
    #: Text is encoded as UTF-8. Any contiguous buffer is accepted as bytes.
    Data = Union[str, bytes, bytearray, memoryview]
    #: Task numbers; None: all tasks.
    Tasks = Union[Iterable[int], None]


@dataclass(frozen=True)
class MissingTask:
    """The coordinator's information on a task that a barrier waits for."""

    task: int
    # "never connected", "joining", "connected", "failed", "left" or "returning"
    state: str
    suspect: bool  # its connection is lost and its grace runs
    last_heard: float | None  # how many seconds ago; None if it never connected
    label: str  # its client's name, usually "host:pid"
    waits_for: str  # what it waits for instead, such as "key 'address/0'", or ""
    step: int | None  # the last reported one

    # Only of `why` and `inspect`, which cause missing tasks to be asked.
    answers: bool = False  # its processes have answered just now
    unanswered: float | None = None  # for how many seconds they have not, although they were asked
    last_call: str = ""  # such as "put of key 'a'"
    last_call_at: str | None = None  # RFC 3339


@dataclass(frozen=True)
class BarrierFailure:
    """The details of a failed barrier."""

    round: int
    arrived: int
    expected: int
    missing: str  # ranges, such as "3,17-24,900"
    missing_cut: int  # how many missing tasks ``missing`` does not name
    known: tuple[MissingTask, ...]  # at most 16 of them


@dataclass(frozen=True)
class KeyValue:
    key: str
    value: bytes
    version: int


@dataclass(frozen=True)
class KeyChange:
    key: str
    value: bytes | None  # None: the key was removed
    version: int


@dataclass(frozen=True)
class Swap:
    """The result of compare_and_set; true if the value was stored."""

    stored: bool
    version: int  # the key's; zero if it is missing
    found: bytes | None  # the actual value

    def __bool__(self) -> bool:
        return self.stored


@dataclass(frozen=True)
class QueueItem:
    value: bytes
    number: int  # increases with every push to any queue


@dataclass(frozen=True)
class Problem:
    code: Code
    message: str

    def __str__(self) -> str:
        return f"{self.code.name}: {self.message}"


@dataclass(frozen=True)
class Failure:
    """A task's failure, or the job's if no task is to blame."""

    task: int | None
    code: Code
    message: str

    def __str__(self) -> str:
        who = "" if self.task is None else f"task {self.task}: "
        return f"{who}{self.code.name}: {self.message}"


@dataclass(frozen=True)
class JobError:
    """Why the job failed: the first failure is the cause and stays."""

    cause: Failure
    later: tuple[Failure, ...]  # the first 64
    later_count: int = 0  # all of them

    def __str__(self) -> str:
        return str(self.cause)


@dataclass(frozen=True)
class Progress:
    step: int
    age: float  # seconds since a step was above the one before
    overdue: bool = False  # longer than the coordinator's ``progress_timeout``


@dataclass(frozen=True)
class Task:
    id: int
    # "never connected", "joining", "connected", "failed", "left" or "returning"
    state: str
    suspect: bool  # its connection is lost and its grace runs
    incarnation: int
    last_heard: float | None  # how many seconds ago; of `status`
    label: str
    peer: str
    error: Problem | None
    recoverable: bool
    progress: Progress | None  # of `status`; lists of tasks do not have it
    returns_by: str | None = None  # RFC 3339: it left to return, and fails if it has not by then
    ended_with_job: bool = False  # it failed because the job had failed or its epoch was over


@dataclass(frozen=True)
class TaskList(Sequence):
    """All tasks in order, at one version, which increases with every change of any of them."""

    version: int
    tasks: tuple[Task, ...]

    def __getitem__(self, at):
        return self.tasks[at]

    def __len__(self) -> int:
        return len(self.tasks)


@dataclass(frozen=True)
class Process:
    """A task in one of its incarnations."""

    task: int
    incarnation: int


@dataclass(frozen=True)
class ProcessChange:
    """The current state of all tasks, and the processes lost since the last change."""

    tasks: TaskList
    lost: tuple[Process, ...]


@dataclass(frozen=True)
class Event:
    """An event logged by the coordinator, or the last of ``count`` similar ones."""

    number: int
    at: float  # the coordinator's uptime
    severity: str  # "info", "warning" or "error"
    kind: str
    task: int | None
    barrier: str
    text: str
    time: str = ""  # RFC 3339, by the coordinator's wall clock
    count: int = 1  # above 1, it replaces all with the same ``first``
    first: int = 0  # the number of the first similar one
    first_at: float = 0.0  # when that was, in the coordinator's uptime
    tasks: str = ""  # of several: their tasks, as in "3,17-24"
    tasks_cut: int = 0  # number of tasks omitted there


@dataclass(frozen=True)
class JobStatus:
    """A snapshot of the whole job."""

    job: str
    coordinator: int  # its incarnation
    version: str
    uptime: float
    tasks: tuple[Task, ...]
    barriers: tuple[BarrierStatus, ...]
    error: JobError | None
    rounds: tuple[FinishedRound, ...]  # the last ones, oldest first
    stragglers: tuple[Straggler, ...]  # in those; most often last first
    spares: tuple[Spare, ...]  # the first ones, in the order in which they asked
    relays: tuple[Relay, ...]  # the first ones, in the order in which they connected
    leases: tuple[LeasedItem, ...]  # the first ones, in the order of their pushes
    missing: tuple[MissingTask, ...]  # the first ones that others have waited for at least 1 s
    leader: Leadership | None  # None: the job has no standbys
    elastic: ElasticState | None
    state: JobState
    keys: int
    key_bytes: int
    sessions: int
    waiting_gets: int
    waiting_pops: int
    queued_items: int
    leased_items: int  # taken from queues, and not finished yet
    memory_bytes: int
    memory_bytes_max: int
    more_barriers: int  # open ones that are not in `barriers`
    more_relays: int  # that are not in `relays`
    spares_waiting: int  # all spares
    waiting_key_watches: int
    locks_held: int
    waiting_locks: int  # calls that wait for a lock
    stuck_tasks: int  # that are deadlocked
    deadlines_answered: int  # calls whose time had passed
    lateness_p99: float  # how late these were answered
    lateness_max: float


@dataclass(frozen=True)
class Wait:
    """What some tasks wait for."""

    kind: str
    name: str
    waiting: str  # the tasks, as ranges
    waiting_cut: int
    others: int  # number of callers that are not tasks
    missing: BarrierFailure | None
    age: float
    remaining: float | None
    stuck: bool  # one of the tasks is deadlocked


@dataclass(frozen=True)
class EpochEnd:
    """Why an epoch is to end, or has ended."""

    why: str  # "lost": it is over; "joiners" or "asked": nothing is broken
    text: str  # who failed, or who asks
    joiners: int  # processes that wait to join


@dataclass(frozen=True)
class EpochMember:
    """A member of an epoch; its task is its index in the list."""

    member: str
    incarnation: int
    label: str
    peer: str
    survivor: bool  # of the epoch before


def epoch_end_of(raw) -> EpochEnd | None:
    return None if raw is None else EpochEnd(*raw)


def epoch_members_of(raw) -> list[EpochMember]:
    return [EpochMember(*one) for one in raw[1]]


@dataclass(frozen=True)
class Why:
    """Every waiting call, and the tasks that are deadlocked."""

    waits: tuple[Wait, ...]
    more: int  # waits that are not listed
    stuck: str  # the deadlocked tasks, and why; empty: none
    state: JobState


@dataclass(frozen=True)
class Device:
    """One device of a task. The exchange gives it ``partition`` and ``global_id``."""

    ordinal: int = 0  # the task's own number for it
    name: str = ""
    vendor: str = ""
    kind: str = ""
    compute_capability: str = ""
    core_count: int = 0
    numa_node: int | None = None
    fabric_uuid: str = ""  # of its fast interconnect; empty: none
    memory_bytes: int = 0
    shared_memory_per_block_bytes: int = 0
    text: str = ""  # for display
    debug_text: str = ""
    attributes: Mapping[str, str | bool | int | float | Sequence[int]] = field(default_factory=dict)
    partition: int = 0  # devices of a partition share a fast interconnect
    global_id: int = 0  # dense: by partition, then by task


@dataclass(frozen=True)
class Topology:
    """The devices of one task, and the location of its machine."""

    devices: Sequence[Device] = ()
    boot_id: str = ""  # the same in all tasks of a machine
    network_nodes: Sequence[str] = ()  # the switches above it, top level first
    partition_index: int | None = None  # stated by all tasks or by none

    @classmethod
    def of_this_host(cls, devices: Sequence[Device] = (), *,
                     partition_index: int | None = None) -> Topology:
        """With the kernel's boot id, and the network nodes that the environment variable
        ``XLA_DISTRIBUTED_TOPOLOGY_NETWORK_NODES`` names."""
        return replace(topology_of(_native.topology_of_this_host()), devices=tuple(devices),
                       partition_index=partition_index)


@dataclass(frozen=True)
class LaunchParameters:
    """The job's parameters in the environment of this process."""

    launcher: str
    address: str | None
    job: str | None
    attempt: int | None
    task: int | None
    num_tasks: int | None
    local_task: int | None
    missing: dict[str, str]  # what the launcher cannot provide, and what to set


# Conversions from the native module's tuples.


def barrier_failure_of(raw) -> BarrierFailure:
    round, arrived, expected, missing, cut, known = raw
    return BarrierFailure(round, arrived, expected, missing, cut,
                          tuple(MissingTask(*one) for one in known))


def keys_of(raw) -> list[KeyValue]:
    return [KeyValue(*one) for one in raw]


def changes_of(raw) -> list[KeyChange]:
    return [KeyChange(*one) for one in raw]


def failure_of(raw) -> Failure:
    task, code, message = raw
    return Failure(task, Code(code), message)


def events_of(raw) -> tuple[list[Event], int]:
    entries, through, _ = raw
    return [Event(*one) for one in entries], through


def processes_of(raw) -> tuple[Process, ...]:
    return tuple(Process(*one) for one in raw)


def swap_of(raw) -> Swap:
    return Swap(*raw)


def queue_item_of(raw) -> QueueItem:
    return QueueItem(*raw)


def launch_parameters_of(raw) -> LaunchParameters:
    return LaunchParameters(**raw)


def job_error_of(raw) -> JobError | None:
    if raw is None:
        return None
    cause, later, later_count = raw
    return JobError(failure_of(cause), tuple(map(failure_of, later)), later_count)


def task_of(raw) -> Task:
    *head, error, recoverable, progress, returns_by, ended_with_job = raw
    return Task(*head, None if error is None else Problem(Code(error[0]), error[1]), recoverable,
                None if progress is None else Progress(*progress), returns_by, ended_with_job)


def tasks_of(raw) -> TaskList:
    version, tasks = raw
    return TaskList(version, tuple(map(task_of, tasks)))


def process_change_of(raw) -> ProcessChange:
    tasks, lost = raw
    return ProcessChange(tasks_of(tasks), processes_of(lost))


def status_of(raw) -> JobStatus:
    (job, coordinator, version, uptime, tasks, barriers, error, rounds, stragglers, spares, relays,
     leases, missing, leader, elastic, state, *rest) = raw
    return JobStatus(job, coordinator, version, uptime, tuple(map(task_of, tasks)),
                     tuple(BarrierStatus(*one) for one in barriers), job_error_of(error),
                     tuple(map(round_of, rounds)), tuple(Straggler(*one) for one in stragglers),
                     tuple(Spare(*one) for one in spares), tuple(Relay(*one) for one in relays),
                     tuple(LeasedItem(*one) for one in leases),
                     tuple(MissingTask(*one) for one in missing),
                     None if leader is None else Leadership(*leader),
                     None if elastic is None else ElasticState(*elastic), JobState(*state), *rest)


def wait_of(raw) -> Wait:
    kind, name, waiting, cut, others, missing, *rest = raw
    figures = None if missing is None else barrier_failure_of(missing)
    return Wait(kind, name, waiting, cut, others, figures, *rest)


def why_of(raw) -> Why:
    waits, more, stuck, state = raw
    return Why(tuple(map(wait_of, waits)), more, stuck, JobState(*state))


def topology_of(raw) -> Topology:
    devices, *rest = raw
    return Topology(tuple(Device(*one) for one in devices), *rest)


def topologies_of(raw) -> list[Topology]:
    return [topology_of(one) for one in raw]


def raw_topology_of(mine: Topology):
    """For the native module, without the fields that the exchange assigns."""
    return ([(one.ordinal, one.name, one.vendor, one.kind, one.compute_capability, one.core_count,
              one.numa_node, one.fabric_uuid, one.memory_bytes, one.shared_memory_per_block_bytes,
              one.text, one.debug_text, dict(one.attributes)) for one in mine.devices],
            mine.boot_id, list(mine.network_nodes), mine.partition_index)
