"""The parts of a JobStatus."""

from __future__ import annotations

from dataclasses import dataclass

from coxswain._code import Code


@dataclass(frozen=True)
class JobState:
    """How the job is."""

    state: str  # "running", "slow", "waiting", "deadlock", "gathering", "not_started", ...
    headline: str  # the same as a sentence
    since: str | None  # RFC 3339; None: not known
    tasks: str  # that are missing or to blame, as in "3,17-24"
    tasks_cut: int  # number of tasks omitted there


@dataclass(frozen=True)
class BarrierStatus:
    """An open round."""

    kind: str  # "barrier", "count barrier", "join", "leave" or "topology"
    name: str
    round: int
    arrived: int
    expected: int
    missing: str
    missing_cut: int
    age: float
    remaining: float | None


@dataclass(frozen=True)
class FinishedRound:
    """A round of a barrier of tasks that has ended."""

    number: int  # of all rounds of the job, from 1
    name: str  # may be cut
    round: int
    at: float  # the coordinator's uptime
    tasks: int
    outcome: Code
    spread: float  # from the first arrival to the last
    lag: float  # from the median arrival to the last
    last_task: int | None  # None: it failed, or there was only one task


@dataclass(frozen=True)
class Straggler:
    """A task that came last."""

    task: int
    times_last: int
    lag_mean: float
    lag_max: float
    of: int  # in how many rounds some task came last


@dataclass(frozen=True)
class LeasedItem:
    """An item that was taken from a queue, and is not finished yet."""

    queue: str
    number: int
    redeliveries: int  # how often it was taken before and came back
    holder: str  # for people
    at: float  # the coordinator's uptime when it was taken or extended
    expires: float | None  # likewise; None: when its session ends


@dataclass(frozen=True)
class Spare:
    """A process that waits for a task's number."""

    member: str
    label: str
    peer: str
    age: float
    suspect: bool


@dataclass(frozen=True)
class Relay:
    """A relay that is connected."""

    label: str
    peer: str
    clients: int  # sessions whose connections it carries
    clients_paused: int  # of these: those that do not read, so that messages wait
    at: float  # the coordinator's uptime when it connected


@dataclass(frozen=True)
class Leadership:
    """The coordinator that leads a job with standbys, and the inputs that their journal has not
    confirmed."""

    address: str
    term: int
    lag_entries: int
    lag_bytes: int
    lag: float  # the age of the oldest one


@dataclass(frozen=True)
class ElasticState:
    """The epoch of a job whose number of tasks changes."""

    epoch: int  # 0: none has begun
    tasks_min: int
    tasks_max: int
    tasks_wanted: int
    ending: str  # why the epoch is to end; empty: it is not
    over: bool  # the calls of its members fail
    ready: int  # members that have called next_epoch
    age: float


def round_of(raw) -> FinishedRound:
    number, name, round, at, tasks, outcome, *rest = raw
    return FinishedRound(number, name, round, at, tasks, Code(outcome), *rest)
