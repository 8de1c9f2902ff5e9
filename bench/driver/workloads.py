"""The workloads: their options, what server each needs, how long a sample is, and what its figures are
called. Not here: what the load does (workloads/*.cpp)."""

import argparse
import dataclasses
import re
from collections.abc import Callable
from typing import NamedTuple

from driver.figures import bytes_text, counted, time_text
from driver.machine import refuse
from driver.processes import OF_JOBS
from driver.report import table_line

MIB = 2**20
KEYS_MAX = 9_999_999


class Extent(NamedTuple):
    """How many connections a load opens at once, and for how many tasks; for none, if they observe."""
    connections: int
    tasks: int


@dataclasses.dataclass
class Words:
    """What the figures of a workload are called, for people and in the JSON."""
    name: str  # "barrier"
    title: str  # "barrier over 1,024 tasks"
    steps: str  # what a sample consists of: "rounds"
    operation: tuple[str, str]  # ("task and barrier", "task"): CPU time is told for each
    latencies: list[tuple[str, str]]  # ("whole round", "round_ns"); the first is compared
    has_rate: bool = False  # operations in a second are worth telling and comparing
    parts: list[tuple[str, str]] = dataclasses.field(default_factory=list)  # ("the join", "join")
    counts_peak: bool = False  # memory per task is that of a sample's peak, not of its end


@dataclasses.dataclass
class Plan:
    """A workload with its options."""
    words: Words
    load: str  # as coxswain-load names it
    ours: Extent
    others: Extent
    steps: int = 1  # so many, that a sample lasts about half a second to two seconds
    options: dict = dataclasses.field(default_factory=dict)  # of the load
    job: dict = dataclasses.field(default_factory=dict)  # of the coordinator
    parameters: dict = dataclasses.field(default_factory=dict)  # what was asked for, for the JSON
    measured: str = ""  # what our side is called, if not by its kind
    joins_first: bool = True  # all tasks join when the load connects, and stay
    # The job, or what is asked, is meant to fail, so that the coordinator's warnings are none.
    fails: bool = False
    answers_together: int = 1  # of the baseline: so many requests
    # The same work with fewer tasks, if memory for each task is to be measured by comparing both.
    smaller: Callable[[], "Plan"] | None = None
    conclude: Callable[[dict], tuple] | None = None  # what the load has seen: as Report.shown
    compares_recordings: bool = False
    others_load: str | None = None  # of the other side, if it is another one
    trunks: int = 0  # of our side: so many relays, which the load plays
    relays: int = 0  # of our side: so many relays, each a process

    def extent(self, kind):
        return self.ours if kind in OF_JOBS else self.others

    def put_behind_relays(self, given):
        self.parameters |= {"relays": given.relays, "processes": int(given.processes)}
        if given.processes:
            self.relays = given.relays
        else:
            self.trunks = given.relays


class Workload:
    name: str
    help: str
    rivals: tuple[str, ...] = ()  # the servers of others that can do this work
    speaks_xla = False  # XLA's protocol can say it
    has_baseline = True  # there is something that the baseline could do as well
    uses_up_servers = False  # each sample needs new servers and loads
    beside: str | None = None  # what it is compared with in any case

    def add_options(self, parser):
        raise NotImplementedError

    def plan(self, given) -> Plan:
        """BenchError: the options cannot be."""
        raise NotImplementedError


# Options.


def number(low, high, kind=int):
    """The type of an option that is a number between two others."""
    def parse(text):
        value = kind(text)
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"{value} is not between {low:,} and {high:,}")
        return value
    parse.__name__ = "number"
    return parse


def add_number(parser, name, default, low, high, text, kind=int):
    parser.add_argument(name, type=number(low, high, kind), default=default, metavar="N",
                        help=text + ("" if default is None else " (default: %(default)s)"))


def arrivals(text):
    """The type of --arrivals: what the load is told."""
    found = re.fullmatch(r"together|ordered|jittered:(\d+)(us|ms|s)", text)
    within = found and found[1] and int(found[1]) * {"us": 10**3, "ms": 10**6, "s": 10**9}[found[2]]
    if not found or within is not None and not 0 < within <= 10**10:
        raise argparse.ArgumentTypeError(
            f"--arrivals is '{text}', but must be together, ordered, or jittered and a time up to "
            "10 s, such as jittered:5ms")
    return {"arrivals": text.split(":")[0], "arrivals_within_ns": within or 0}


def add_arrivals(parser):
    parser.add_argument(
        "--arrivals", type=arrivals, default="together",
        help="together: as fast as can be, those of one session with one write; ordered: one write "
             "for each task, in order; jittered:5ms: one write for each task at a random moment "
             "within so long a time (default: %(default)s)")


def add_population(parser, has_baseline=True):
    any_number = number(1, 1_000_000)
    parser.add_argument("--tasks", type=any_number, required=True, metavar="N", help="Simulated tasks")
    parser.add_argument("--sessions", type=any_number, metavar="N",
                        help="Connections of the coordinator's load, each with as many of the tasks "
                             "(default: one for each task)")
    if has_baseline:
        parser.add_argument("--baseline-tasks", type=any_number, metavar="N",
                            help="Tasks, and connections, of the baseline's load (default: as many as "
                                 "--tasks)")


@dataclasses.dataclass
class Population:
    tasks: int
    sessions: int
    baseline_tasks: int
    baseline_sessions: int

    @classmethod
    def of(cls, given):
        sessions = given.sessions or given.tasks
        if sessions > given.tasks:
            refuse(f"{sessions} --sessions are more than {given.tasks} --tasks: each needs a task")
        baseline_tasks = getattr(given, "baseline_tasks", None) or given.tasks
        return cls(given.tasks, sessions, baseline_tasks, baseline_tasks)

    def smaller(self):
        """A fifth of it."""
        return Population(*(max(1, n // 5) for n in dataclasses.astuple(self)))

    def __str__(self):
        """ "10,000 tasks in 100 sessions (the baseline: 1,024)"."""
        text = counted(self.tasks, "task")
        if self.sessions != self.tasks:
            text += f" in {counted(self.sessions, 'session')}"
        return text + (f" (the baseline: {self.baseline_tasks:,})" if self.baseline_tasks != self.tasks else "")

    def plan(self, words, load, **further):
        """In which all of them join when the load connects."""
        parameters = {"tasks": self.tasks, "sessions": self.sessions,
                      "baseline_tasks": self.baseline_tasks, **further.pop("parameters", {})}
        return Plan(words, load, Extent(self.sessions, self.tasks),
                    Extent(self.baseline_sessions, self.baseline_tasks), parameters=parameters,
                    job={"num_tasks": self.tasks, **further.pop("job", {})}, **further)


def clamp(value, low, high):
    return int(min(max(value, low), high))


def add_processes(parser):
    parser.add_argument("--processes", action="store_true",
                        help="Start coxswain relay for each relay, reached by Unix sockets, whose CPU "
                             "time is added to the coordinator's (default: the load plays the relays)")


# The workloads.


def rounds_words(name, title):
    return Words(name, title, "rounds", ("task and barrier", "task"),
                 [("last arrival to last release", "release_ns"), ("whole round", "round_ns")])


# The options of a load of plain barriers.
BARRIER = {**arrivals("together"), "redis_barrier": "script", "bytes": 0, "reduces": False}


def barrier_plan(who, when=None, redis_barrier="script", name="barrier", title="barrier over",
                 of_each=0, reduces=False):
    """All tasks arrive, all are released, again and again; each brings so many bytes."""
    return who.plan(rounds_words(name, f"{title} {who}"), "barrier",
                    steps=clamp(20_480 // who.tasks, 5, 50), answers_together=who.baseline_tasks,
                    options={**BARRIER, **(when or {}), "redis_barrier": redis_barrier,
                             "bytes": of_each, "reduces": reduces})


class Barrier(Workload):
    name = "barrier"
    help = ("All tasks arrive, all are released: the time from the last arrival sent to the last "
            "release received, and the server's CPU")
    rivals = ("redis", "etcd", "xla")
    speaks_xla = True

    def add_options(self, parser):
        add_population(parser)
        add_arrivals(parser)
        parser.add_argument(
            "--redis-barrier", choices=("script", "count", "list"), default="script",
            help="With --vs redis: script: a function counts, and publishes when all are there; "
                 "count: the client that counted the last one publishes; list: all wait for an "
                 "element of a list (default: %(default)s)")

    def plan(self, given):
        return barrier_plan(Population.of(given), given.arrivals, given.redis_barrier)


class BarrierData(Workload):
    name = "barrier-data"
    help = ("Barriers to which each task brings bytes, and gets those of all (all-gather), or what a "
            "reduction makes of them")
    rivals = ("redis",)

    def add_options(self, parser):
        add_population(parser)
        add_arrivals(parser)
        group = parser.add_mutually_exclusive_group()
        add_number(group, "--bytes", 64, 1, 64 * MIB, "What each task brings")
        group.add_argument("--reduce", action="store_true",
                           help="Instead of all bytes, each gets the sum of one 64-bit integer of each")

    def plan(self, given):
        who, of_each = Population.of(given), 8 if given.reduce else given.bytes
        title = ("sum of an integer of each of" if given.reduce else
                 f"all-gather of {bytes_text(of_each)} from each of")
        plan = barrier_plan(who, given.arrivals, name=self.name, title=title, of_each=of_each,
                            reduces=given.reduce)
        plan.parameters |= {"bytes": of_each, "reduces": int(given.reduce)}
        # About 256 MiB of answers in a sample.
        of_a_round = of_each * who.tasks * (1 if given.reduce else who.tasks)
        plan.steps = clamp(min(20_480 // who.tasks, 256 * MIB // of_a_round), 3, 50)
        return plan


def join_plan(who):
    words = Words("join", f"join of {who}", "storms", ("task", "task"),
                  [("first connect to the start of the job", "storm_ns"),
                   ("connect to the first answer", "greeted_ns")], has_rate=True)
    return who.plan(words, "join", parameters={"tasks_for_memory": who.smaller().tasks},
                    joins_first=False, smaller=lambda: join_plan(who.smaller()))


class Join(Workload):
    name = "join"
    help = ("A whole job begins: all connect, say hello and join, until all know that it has started. "
            "Tasks in a second, and the server's memory for each when they are idle")
    uses_up_servers = True
    rivals = ("xla",)
    speaks_xla = True

    def add_options(self, parser):
        add_population(parser)

    def plan(self, given):
        return join_plan(Population.of(given))


class Churn(Workload):
    name = "churn"
    help = ("Connections come and go: each says hello, joins, leaves and is closed, and another takes "
            "its place. Visits in a second, and how long one takes")

    def add_options(self, parser):
        add_number(parser, "--connections", 16, 1, 100_000,
                   "Connections at any time, each of another task")

    def plan(self, given):
        slots = given.connections
        words = Words("churn", f"churn of {counted(slots, 'connection')}", "visits",
                      ("visit", "visit"), [("connect to having left", "visit_ns"),
                                           ("connect to the first answer", "greeted_ns")], True)
        extent = Extent(slots, 0)
        # Each task comes and goes alone.
        return Plan(words, "churn", extent, extent, max(2_000, 2 * slots), {"slots": slots},
                    {"num_tasks": slots, "is_together": False}, {"connections": slots})


def add_connections(parser):
    add_number(parser, "--connections", 1, 1, 1_000_000, "Connections, each with its own session")
    add_number(parser, "--outstanding", 1, 1, 4_000, "Requests without an answer on each of them")


SAMPLE_BYTES_MAX = 256 * MIB


def keys_plan(given, name, what, parameters, steps, puts_of_ten=0, lists=False):
    words = Words(name, f"{what} of {bytes_text(given.bytes)}, "
                  f"{counted(given.connections, 'connection')} with {given.outstanding:,} outstanding",
                  "operations", ("operation", "operation"), [("request to answer", "latency_ns")], True)
    extent = Extent(given.connections, 0)
    options = {"puts_of_ten": puts_of_ten, "outstanding": given.outstanding, "keys": given.keys,
               "bytes": given.bytes, "lists": lists}
    return Plan(words, "keys", extent, extent, steps, options, {"num_tasks": 1}, parameters)


class Keys(Workload):
    name = "kv"
    help = ("Keys are read or written, each answer followed by the next request: latency, and "
            "operations in a second")
    rivals = ("redis", "etcd", "xla")
    speaks_xla = True

    def add_options(self, parser):
        parser.add_argument("--operation", choices=("get", "put", "mixed"), default="get",
                            help="mixed: nine gets for one put (default: %(default)s)")
        add_connections(parser)
        add_number(parser, "--keys", 1_000, 1, KEYS_MAX,
                   "Different keys, of which each request takes any")
        add_number(parser, "--bytes", 64, 0, 64 * MIB, "The size of each value, up to 64 MiB")

    def plan(self, given):
        under_way = given.bytes * given.outstanding * given.connections
        stored = given.bytes * given.keys
        if max(under_way, stored) > 2**30:
            refuse(f"values of {given.bytes} B make {bytes_text(under_way)} under way at once and "
                   f"{bytes_text(stored)} stored, but 1 GiB is the limit of each: fewer --keys, "
                   "--connections or --outstanding")
        puts_of_ten = {"get": 0, "put": 10, "mixed": 1}[given.operation]
        is_one = given.connections == 1 and given.outstanding == 1
        steps = clamp(SAMPLE_BYTES_MAX // max(given.bytes, 1), 16, 10_000 if is_one else 100_000)
        return keys_plan(given, "kv", f"kv {given.operation}",
                         {"connections": given.connections, "outstanding": given.outstanding,
                          "puts_of_ten": puts_of_ten, "keys": given.keys, "bytes": given.bytes},
                         steps, puts_of_ten)


class DirGet(Workload):
    name = "dir-get"
    help = "A directory is read with all its values, each answer followed by the next request"
    rivals = ("redis", "etcd")

    def add_options(self, parser):
        add_number(parser, "--keys", 100, 1, KEYS_MAX, "Keys of the directory")
        add_number(parser, "--bytes", 64, 0, 64 * MIB, "The size of each value")
        add_connections(parser)

    def plan(self, given):
        listing = given.keys * (given.bytes + 24)
        if listing > SAMPLE_BYTES_MAX:
            refuse(f"a listing would have {bytes_text(listing)}, but {bytes_text(SAMPLE_BYTES_MAX)} is "
                   "the limit: fewer --keys or --bytes")
        return keys_plan(given, "dir-get", f"directory of {counted(given.keys, 'key')}",
                         {"keys": given.keys, "bytes": given.bytes,
                          "connections": given.connections, "outstanding": given.outstanding},
                         clamp(SAMPLE_BYTES_MAX // listing, 10, 10_000), lists=True)


class FanOut(Workload):
    name = "fan-out"
    help = ("Many wait for a key, one puts it: the time until the last one has the value, and the "
            "server's CPU and memory")
    rivals = ("redis", "etcd", "xla")
    speaks_xla = True

    def add_options(self, parser):
        add_number(parser, "--waiters", 1_024, 1, 1_000_000,
                   "Connections that wait, each with its own session")
        add_number(parser, "--bytes", 64, 0, 16 * MIB, "The size of the value, up to 16 MiB")

    def plan(self, given):
        words = Words("fan-out", f"fan-out of {bytes_text(given.bytes)} to "
                      f"{counted(given.waiters, 'waiter')}", "rounds", ("waiter and round", "waiter"),
                      [("put to last value", "value_ns"), ("first get to last value", "round_ns")])
        extent = Extent(given.waiters + 1, 0)
        # About 512 MiB in a sample.
        of_a_round = max(given.bytes * given.waiters, 1)
        return Plan(words, "fan-out", extent, extent,
                    clamp(min(20_480 // given.waiters, 512 * MIB // of_a_round), 2, 50),
                    {"bytes": given.bytes}, {"num_tasks": 1},
                    {"waiters": given.waiters, "bytes": given.bytes},
                    answers_together=given.waiters + 1)


def nanoseconds(seconds):
    return int(seconds * 1e9)


class Heartbeat(Workload):
    name = "heartbeat"
    help = ("A job that is idle: the sessions' heartbeats, one after another at an even pace, and the "
            "server's CPU for them")
    rivals = ("redis", "xla")
    speaks_xla = True

    def add_options(self, parser):
        add_population(parser)
        add_number(parser, "--period", 10, 0.001, 100, "Seconds between two heartbeats of a session",
                   float)

    def plan(self, given):
        who, period = Population.of(given), {"period_ns": nanoseconds(given.period)}
        words = Words("heartbeat", f"heartbeats of {who} every {given.period:g} s", "heartbeats",
                      ("heartbeat", "heartbeat"), [("heartbeat to its answer", "latency_ns")])
        # Those of a second.
        return who.plan(words, "heartbeat", steps=max(10, int(who.sessions / given.period)),
                        options=period, parameters=period)


class Failure(Workload):
    name = "failure"
    help = ("One process of a job is killed: the time until the last survivor has been told. With "
            "--baseline beside the release of a barrier")
    uses_up_servers = True

    def add_options(self, parser):
        parser.add_argument("--tasks", type=number(2, 1_000_000), required=True, metavar="N",
                            help="Tasks, one of which is the process that is killed")
        add_number(parser, "--relays", 0, 0, 1_000, "Relays that they are behind")
        add_processes(parser)
        add_number(parser, "--reconnect-grace", 0, 0, 50,
                   "Seconds that the coordinator spares a task whose connection is lost", float)

    def plan(self, given):
        grace = {"reconnect_grace_ns": nanoseconds(given.reconnect_grace)}
        words = Words("failure", f"failure of one of {counted(given.tasks, 'task')}, "
                      f"{given.reconnect_grace:g} s of grace", "failures", ("survivor", "survivor"),
                      [("kill to last survivor told", "told_ns")])
        extent = Extent(given.tasks, given.tasks)
        # The baseline's figure is the release of a plain barrier: telling something to all takes so long.
        plan = Plan(words, "failure", extent, extent, others_load="barrier", options=BARRIER,
                    job={"num_tasks": given.tasks, **grace},
                    parameters={"tasks": given.tasks, **grace}, fails=True,
                    answers_together=given.tasks)
        plan.put_behind_relays(given)
        return plan


def told_of_deadlines(seen):
    ended = seen.pop("ended")
    lines = [("answered too early", f"{seen['early']:,}"), ("lateness as the coordinator knows it", ""),
             ("  p99 of the last 4,096", time_text(seen["own_lateness_p99_ns"])),
             ("  max", time_text(seen["own_lateness_max_ns"]))]
    text = "".join(table_line(what, None, figure) for what, figure in lines)
    if seen["early"]:
        text += (f"TOO EARLY: {seen['early']:,} of {counted(ended, 'barrier')} were answered before "
                 f"their deadline, by up to {time_text(seen['early_by_max_ns'])}.\n")
    return text, seen, seen["early"] == 0


class Deadlines(Workload):
    name = "deadlines"
    help = ("Barriers that cannot complete, in an otherwise idle job: how long after its deadline each "
            "one times out. Fails if one times out early")
    has_baseline = False

    def add_options(self, parser):
        add_population(parser, has_baseline=False)
        add_number(parser, "--per-second", 2_000, 0.1, 100_000, "Barriers that begin in a second",
                   float)
        add_number(parser, "--timeout-from", 0.05, 0.001, 60,
                   "Each has any timeout, in whole milliseconds, from so many seconds", float)
        add_number(parser, "--timeout-to", 1, 0.001, 60, "... to so many", float)

    def plan(self, given):
        who = Population.of(given)
        if who.tasks < 2:
            refuse("--tasks 1: one task waits for another, so there must be two")
        if given.timeout_from > given.timeout_to:
            refuse(f"--timeout-from {given.timeout_from:g} is above --timeout-to {given.timeout_to:g}")
        words = Words("deadlines", f"deadlines of {given.timeout_from:g} s to {given.timeout_to:g} s, "
                      f"{given.per_second:g} barriers a second, among {who}", "barriers",
                      ("barrier", "barrier"), [("deadline to its news", "lateness_ns")])
        gap = {"gap_ns": nanoseconds(1 / given.per_second)}
        ends = {"timeout_from": given.timeout_from, "timeout_to": given.timeout_to}
        plan = who.plan(words, "deadlines", steps=max(10, int(given.per_second)),  # those of a second
                        options={**gap, **{f"{k}_ms": round(v * 1e3) for k, v in ends.items()}},
                        parameters={**{f"{k}_ns": nanoseconds(v) for k, v in ends.items()}, **gap},
                        fails=True, conclude=told_of_deadlines)
        del plan.parameters["baseline_tasks"]
        return plan


def mixed_plan(who, barriers, devices):
    fewer = who.smaller()
    words = Words("mixed", f"a day of {who} with {counted(barriers, 'barrier')}", "days",
                  ("task and day", "task"),
                  [("whole day", "day_ns"), ("last arrival to last release", "release_ns")],
                  parts=[("connect, hello, join", "join"), ("topologies", "topologies"),
                         ("barriers", "barriers"), ("puts and gets", "keys"),
                         ("heartbeats", "heartbeats"), ("leave, bye", "leave")], counts_peak=True)
    asked = {"barriers": barriers, "devices": devices}
    # The smaller one with as many requests in all, since a coordinator keeps the last ones.
    return who.plan(words, "mixed", options=asked, joins_first=False,
                    parameters={**asked, "tasks_for_memory": fewer.tasks},
                    answers_together=who.baseline_tasks,
                    smaller=lambda: mixed_plan(fewer, barriers * who.tasks // fewer.tasks, devices))


class Mixed(Workload):
    name = "mixed"
    help = ("A job's day: all join, exchange topologies, meet at barriers, put and get keys, show that "
            "they live, and leave. The time and the server's CPU of each part, and memory per task")
    uses_up_servers = True

    def add_options(self, parser):
        add_population(parser)
        add_number(parser, "--barriers", 100, 1, 100_000,
                   "Barriers in a day, each followed by a put and a get of each task")
        add_number(parser, "--devices", 1, 0, 64,
                   "Devices of each task, of which all tell all; 0: no topologies")

    def plan(self, given):
        who = Population.of(given)
        sent = max(who.tasks, who.baseline_tasks)**2 * (30 + 40 * given.devices)
        if given.devices and sent > 16 * 2**30:
            refuse(f"{counted(who.tasks, 'task')} who tell each other their topologies are sent about "
                   f"{bytes_text(sent)}, but 16 GiB is the limit: fewer --tasks, or --devices 0")
        return mixed_plan(who, given.barriers, given.devices)


class Check(Workload):
    name = "check"
    help = ("Whether the simulated tasks are like real ones: the same barriers by them and by as many "
            "client processes. Fails if their requests are not the same to the byte")
    beside = "processes"

    def add_options(self, parser):
        add_number(parser, "--tasks", 100, 1, 1_000, "Tasks, and client processes")
        add_arrivals(parser)

    def plan(self, given):
        plan = barrier_plan(Population(*(given.tasks,) * 4), given.arrivals, name=self.name)
        plan.words.title = (f"barrier over {counted(given.tasks, 'simulated task')} and as many "
                            "client processes")
        plan.measured, plan.parameters = "simulated", {"tasks": given.tasks}
        plan.steps = clamp(5_000 // given.tasks, 5, 50)
        plan.joins_first, plan.compares_recordings = False, True
        plan.job["record_bytes_max"] = 2**30
        return plan


class Relay(Workload):
    name = "relay"
    help = ("The same barriers behind relays, and with a connection to the coordinator for each task")
    beside = "native"

    def add_options(self, parser):
        parser.add_argument("--tasks", type=number(1, 1_000_000), required=True, metavar="N",
                            help="Simulated tasks")
        add_number(parser, "--relays", 8, 1, 20_000, "Relays, each with as many of the tasks")
        parser.add_argument("--alone", action="store_true",
                            help="Only behind relays: for more tasks than this machine has sockets")
        add_processes(parser)

    def plan(self, given):
        plan = barrier_plan(Population(*(given.tasks,) * 4), name=self.name)
        plan.words.title = (f"barrier over {counted(given.tasks, 'task')} behind "
                            f"{counted(given.relays, 'relay')}" + ("" if given.alone else ", and without"))
        plan.measured = "relays"
        plan.parameters = {"tasks": given.tasks}
        plan.put_behind_relays(given)
        return plan


class Hop(Workload):
    name = "hop"
    help = ("A key is read by one client through a relay's Unix socket, and from the coordinator itself: "
            "what one more hop takes")
    beside = "native"

    def add_options(self, parser):
        del parser

    def plan(self, given):
        given.connections, given.outstanding, given.keys, given.bytes = 1, 1, 1_000, 64
        plan = keys_plan(given, self.name, "get through a relay, and without,", {}, 10_000)
        plan.measured, plan.relays = "relay", 1
        return plan


ALL = [one() for one in (Barrier, BarrierData, Join, Churn, Keys, DirGet, FanOut, Heartbeat, Failure,
                         Deadlines, Mixed, Check, Relay, Hop)]
