"""The workloads: their options, what server each needs, how long a sample is, and the names of its figures.
Not here: what the load does (workloads/*.cpp)."""

import argparse
import dataclasses
from collections.abc import Callable

from driver.machine import refuse
from driver.processes import OF_JOBS

MIB = 2**20
MILLION = 1_000_000

# Of the workloads: the default (none: it must be given), the least, the greatest, and what it is.
OPTIONS = {
    "tasks": (None, 1, MILLION, "Simulated tasks"),
    "sessions": (0, 1, MILLION, "Connections of the coordinator's load, each with as many of the tasks "
                                "(default: one for each task)"),
    "baseline-tasks": (0, 1, MILLION, "Tasks, and connections, of the baseline's load (default: as --tasks)"),
    "bytes": (64, 0, 64 * MIB, "The size of each value, or what each task brings"),
    "reduce": (False, "Instead of all bytes, each gets the sum of one 64-bit integer of each"),
    "operation": ("get", ("get", "put", "mixed"), "mixed: nine gets for one put"),
    "connections": (1, 1, MILLION, "Connections, each with its own session"),
    "outstanding": (1, 1, 4_000, "Requests without an answer on each of them"),
    "keys": (1_000, 1, 9_999_999, "Different keys, of which each request takes any"),
    "waiters": (1_024, 1, MILLION, "Connections that wait, each with its own session"),
    "period": (10.0, 0.001, 100, "Seconds between two heartbeats of a session"),
    "reconnect-grace": (0.0, 0, 50, "Seconds that the coordinator spares a task whose connection is lost"),
}


@dataclasses.dataclass
class Plan:
    """A workload with its options."""
    load: str  # as coxswain-load names it
    latencies: tuple[str, ...]  # as the JSON names them; the first is compared
    unit: str  # CPU time is stated for each
    connections: int  # that the load opens at once
    tasks: int = 0  # none: they observe
    baseline_tasks: int = 0  # of the baseline and Redis, which have no sessions
    steps: int = 1  # so many, that a sample lasts about half a second to two seconds
    options: dict = dataclasses.field(default_factory=dict)  # of the load
    job: dict = dataclasses.field(default_factory=dict)  # of the coordinator
    together: int = 1  # so many requests the baseline answers together
    fails: bool = False  # the coordinator's warnings are not shown
    uses_up_servers: bool = False  # each sample needs new servers and loads
    baseline_load: str | None = None  # if it is another one
    # The same work with fewer tasks, if memory for each task is to be measured by comparing both.
    smaller: Callable[[], "Plan"] | None = None

    def extent(self, kind):
        """How many connections a load opens at once, and for how many tasks."""
        if kind in OF_JOBS or not self.tasks:
            return self.connections, self.tasks
        return self.baseline_tasks or self.tasks, self.baseline_tasks or self.tasks


@dataclasses.dataclass
class Workload:
    help: str
    options: tuple[str, ...]
    plan: Callable[[argparse.Namespace], Plan]
    beside: tuple[str, ...] = ("redis", "xla")  # what can do this work as well as the baseline


def number_between(low, high, kind):
    """The type of an option that is a number between two others."""
    def number(text):
        value = kind(text)
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"{value} is not between {low:,} and {high:,}")
        return value
    return number


def add_option(parser, name, default, *rest):
    text = rest[-1]
    if isinstance(default, bool):
        parser.add_argument(f"--{name}", action="store_true", help=text)
    elif isinstance(default, str):
        parser.add_argument(f"--{name}", choices=rest[0], default=default, help=f"{text} (default: {default})")
    else:
        kind = number_between(rest[0], rest[1], int if default is None else type(default))
        text += f" (default: {default:g})" if default else ""
        parser.add_argument(f"--{name}", type=kind, default=default, required=default is None, metavar="N", help=text)


def clamp(value, low, high):
    return int(min(max(value, low), high))


def population(given):
    """Of a plan in which all tasks join."""
    sessions = given.sessions or given.tasks
    if sessions > given.tasks:
        refuse(f"{sessions} --sessions are more than {given.tasks} --tasks: each needs a task")
    return {"connections": sessions, "tasks": given.tasks, "job": {"num_tasks": given.tasks},
            "baseline_tasks": getattr(given, "baseline_tasks", 0) or given.tasks}


def barrier(given, each=0, reduces=False):
    who = population(given)
    return Plan("barrier", ("release_ns", "round_ns"), "task", **who, steps=clamp(20_480 // given.tasks, 5, 50),
                together=who["baseline_tasks"], options={"bytes": each, "reduces": reduces})


def barrier_data(given):
    each = 8 if given.reduce else max(given.bytes, 1)
    plan = barrier(given, each, given.reduce)
    # About 256 MiB of answers in a sample.
    of_a_round = each * given.tasks * (1 if given.reduce else given.tasks)
    plan.steps = clamp(min(20_480 // given.tasks, 256 * MIB // of_a_round), 3, 50)
    return plan


def join(given):
    def smaller():
        return join(argparse.Namespace(tasks=max(1, given.tasks // 5), sessions=given.sessions // 5,
                                       baseline_tasks=given.baseline_tasks // 5))

    return Plan("join", ("storm_ns", "greeted_ns"), "task", **population(given), uses_up_servers=True,
                smaller=smaller)


def kv(given):
    is_one = given.connections == 1 and given.outstanding == 1
    return Plan("keys", ("latency_ns",), "operation", given.connections,
                steps=clamp(256 * MIB // max(given.bytes, 1), 16, 10_000 if is_one else 100_000),
                options={"puts_of_ten": {"get": 0, "put": 10, "mixed": 1}[given.operation],
                         "outstanding": given.outstanding, "keys": given.keys, "bytes": given.bytes},
                job={"num_tasks": 1})


def fan_out(given):
    # About 512 MiB in a sample.
    of_a_round = max(given.bytes * given.waiters, 1)
    return Plan("fan-out", ("value_ns", "round_ns"), "waiter", given.waiters + 1,
                steps=clamp(min(20_480 // given.waiters, 512 * MIB // of_a_round), 2, 50),
                options={"bytes": given.bytes}, job={"num_tasks": 1}, together=given.waiters + 1)


def heartbeat(given):
    who = population(given)
    return Plan("heartbeat", ("latency_ns",), "heartbeat", **who,
                steps=max(10, int(who["connections"] / given.period)),  # those of a second
                options={"period_ns": int(given.period * 1e9)})


def failure(given):
    if given.tasks < 2:
        refuse("--tasks 1: one process is killed, and another one is notified")
    # The baseline's figure is the release of a plain barrier: to notify all takes so long.
    return Plan("failure", ("told_ns",), "survivor", given.tasks, given.tasks, together=given.tasks,
                job={"num_tasks": given.tasks, "reconnect_grace_ns": int(given.reconnect_grace * 1e9)},
                options={"bytes": 0, "reduces": False}, baseline_load="barrier", fails=True,
                uses_up_servers=True)


POPULATION = ("tasks", "sessions", "baseline-tasks")
WORKLOADS = {
    "barrier": Workload("All tasks arrive, and all are released", POPULATION, barrier),
    "barrier-data": Workload("Barriers to which each task brings bytes, and gets those of all, or a reduction's result",
                             (*POPULATION, "bytes", "reduce"), barrier_data, ("redis",)),
    "join": Workload("A job begins: all connect, say hello and join", POPULATION, join, ("xla",)),
    "kv": Workload("Keys are read or written, each answer followed by the next request",
                   ("operation", "connections", "outstanding", "keys", "bytes"), kv),
    "fan-out": Workload("Many wait for a key, and one puts it", ("waiters", "bytes"), fan_out),
    "heartbeat": Workload("An idle job: heartbeats at an even pace", (*POPULATION, "period"), heartbeat),
    "failure": Workload("A process of a job is killed: the time until the last survivor has been notified",
                        ("tasks", "reconnect-grace"), failure, ()),
}
