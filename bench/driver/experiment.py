"""Takes samples: of the coordinator alone, or of it and of another side in turn; and what they found, as a
table for people, and as JSON with times in nanoseconds."""

import dataclasses
import datetime
import json
import os
import resource
import tempfile
import time

from driver import machine
from driver.figures import Histogram, figure_text, median, median_interval, ratio_of, rounded
from driver.machine import UNAVAILABLE, BenchError, cpu_time_of, memory_of, show
from driver.processes import (
    OF_JOBS, OURS, RIVALS, XLA_SERVICE, Child, need_rival, start_rival, start_server)

SAMPLES_ALONE = 10
DESCRIPTORS_BESIDES = 128  # and what the server keeps for itself

# A process's memory varies by some pages from one start to the next.
SMALLER_SAMPLES = 5


class Stage:
    """Processes that work beside each other, one server with its load at a time. All end with it."""

    def __init__(self, program):
        if not os.access(program, os.X_OK):
            raise BenchError(f"there is no {program}: build it, or give --program", UNAVAILABLE)
        self.program, self.children, self.addresses = program, [], 0
        self.server_cpu, self.load_cpu = machine.plan_cpus()

    def __enter__(self):
        self._files = tempfile.TemporaryDirectory(prefix="coxswain-bench-", dir="/tmp")
        self.directory = self._files.name
        return self

    def __exit__(self, *_):
        show("")
        for child in self.children:
            child.kill()
        self._files.cleanup()

    def keep(self, child):
        self.children.append(child)
        return child

    def start(self, name, role, options, cpu=None):
        """A process of coxswain-load."""
        return self.keep(Child(name, [self.program, role, json.dumps(options)], cpu))

    def remove(self, *children):
        for child in children:
            self.waited += machine.wait_time_of(child.pid)
            self.children.remove(child)
            child.kill()

    def new_path(self):
        self.addresses += 1
        return f"{self.directory}/{self.addresses}"

    def watch(self):
        """Disturbances count from here on."""
        self.waited = 0
        self._before = self._times()

    def disturbance(self):
        return machine.Disturbance.during(*(after - before for before, after in zip(self._before, self._times())))

    def _times(self):
        """The machine's; what our processes have used, and how long they were ready but had no CPU."""
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = int((ended.ru_utime + ended.ru_stime) * 1e9) + cpu_time_of(os.getpid())
        return [*machine.machine_time(), used + sum(cpu_time_of(child.pid) for child in self.children),
                self.waited + sum(machine.wait_time_of(child.pid) for child in self.children)]

    def origin(self):
        return {"machine": machine.machine(), "program": self.start("the program", "program", {}).receive()["program"],
                "day": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")}


@dataclasses.dataclass
class Sample:
    """What a load found in some steps in a row, and what the operating system knows of them. Times are
    in nanoseconds."""
    operations: int
    elapsed: int
    busy: int  # the load's own CPU time while the clock ran
    latencies: list
    server_cpu: int
    first_bytes: int  # of the server's process, before it served
    before: machine.Memory  # the server's
    after: machine.Memory


class Side:
    """A server and the load on it, each in a process of its own."""

    def __init__(self, stage, plan, kind, given):
        self.kind = kind
        connections, tasks = plan.extent(kind)
        machine.need_descriptors(connections + DESCRIPTORS_BESIDES)
        is_unix = given.transport == "unix" and not (given.baseline_transport and kind == "baseline")
        at = f"unix:{stage.new_path()}" if is_unix else "127.0.0.1:0"
        ours = {"spin_us": given.spin} if kind in OURS else {}
        if kind in RIVALS:
            self.server = start_rival(stage, kind, at, plan.job["num_tasks"])
        else:
            journal = {"journal": stage.new_path(), "durability": given.durability}
            self.server = start_server(stage, kind, {
                "listen": at, "together": plan.together, "is_together": True, "is_quiet": plan.fails, **plan.job,
                **ours, **(journal if kind == "coxswain" and given.durability else {})})
        before = memory_of(self.server.pid)
        load = plan.load if kind in OF_JOBS else plan.baseline_load or plan.load
        self.load = stage.start(f"the load ({kind})", "load", {
            "workload": load, "kind": kind, "address": self.server.at, "connections": connections,
            "tasks": tasks, **plan.options, **ours}, stage.load_cpu)
        while "connected" not in (heard := self.load.receive()):
            show(f"{kind}: {heard['connections']} of {connections} connections")
        self._await_rest()
        # None if tasks join in the samples.
        joins_first = tasks > 0 and load != "join"
        self.bytes_per_task = (memory_of(self.server.pid).now - before.now) / tasks if joins_first else None

    def measure(self, steps):
        machine.forget_peak(self.server.pid)
        before, begun = memory_of(self.server.pid), cpu_time_of(self.server.pid)
        found = self.load.ask(f"measure {steps}")
        self._await_rest()
        server_cpu = cpu_time_of(self.server.pid) - begun
        latencies = [Histogram(one) for one in found.pop("latencies")]
        return Sample(**found, latencies=latencies, server_cpu=server_cpu, first_bytes=self.server.first_bytes,
                      before=before, after=memory_of(self.server.pid))

    def finish(self):
        self.load.ask("finish")

    def _await_rest(self):
        """What a server does after its last answer is work, too: a coordinator gives memory back."""
        for _ in range(50):
            used = cpu_time_of(self.server.pid)
            time.sleep(0.001)
            if cpu_time_of(self.server.pid) == used:
                return



def quotient(samples, above, below):
    return ratio_of(sum(getattr(s, above) for s in samples), sum(getattr(s, below) for s in samples))


def median_of(samples, size):
    return median([size(s) for s in samples])


def figures_of(plan, samples, bytes_per_task):
    """Of one side, by their keys in the JSON."""
    found = {}
    for place, key in enumerate(plan.latencies[:len(samples[0].latencies)]):
        every = Histogram()
        for s in samples:
            every.times.update(s.latencies[place].times)
            every.max = max(every.max, s.latencies[place].max)
        found |= {f"{key}.count": every.count(), f"{key}.p50": every.percentile(0.5),
                  f"{key}.p99": every.percentile(0.99), f"{key}.p99_9": every.percentile(0.999),
                  f"{key}.max": every.max}
    return found | {
        "operations": sum(s.operations for s in samples),
        "rate_per_s": quotient(samples, "operations", "elapsed") * 1e9,
        f"server_cpu_ns_per_{plan.unit}": quotient(samples, "server_cpu", "operations"),
        "load_share": quotient(samples, "busy", "elapsed"),
        "server_bytes": median_of(samples, lambda s: s.after.now),
        "server_growth_bytes": median_of(samples, lambda s: max(0, max(s.after) - s.before.now)),
    } | ({} if bytes_per_task is None else {"server_bytes_per_task": bytes_per_task})


class Experiment:
    def __init__(self, name, plan, given):
        self.name, self.plan, self.given = name, plan, given
        self.ours = "xla" if given.vs == "xla" else given.protocol or "coxswain"
        self.other = "baseline" if given.baseline else XLA_SERVICE if given.vs == "xla" else given.vs
        self.kinds = [self.ours] + [self.other] * bool(self.other)
        self.samples = {kind: [] for kind in self.kinds}
        self.bytes_per_task = dict.fromkeys(self.kinds)
        self.ratios = {"p50": [], "rate": [], "server_cpu": []}
        self.running = {}

    def run(self):
        """The table and the JSON."""
        plan, given = self.plan, self.given
        if self.other in RIVALS:
            need_rival(self.other)
        with Stage(given.program) as self.stage:
            origin = self.stage.origin()
            self.stage.watch()
            steps = plan.steps
            if given.rounds and not plan.uses_up_servers:
                steps = given.rounds if self.other else -(-given.rounds // SAMPLES_ALONE)
            if not plan.uses_up_servers:
                for kind in reversed(self.kinds):
                    self.running[kind] = self._start(plan, kind)
                    self.bytes_per_task[kind] = self.running[kind].bytes_per_task
            show("warming up")
            for kind in self.kinds:
                self._sample(kind, plan, steps)
            self.stage.watch()
            self._measure(steps)
            disturbance = self.stage.disturbance()
            self._measure_memory()
            if self.running:
                self.running[self.ours].finish()
            return self._table(disturbance), {**origin, **self._json(disturbance)}

    def _start(self, plan, kind):
        return Side(self.stage, plan, kind, self.given)

    def _sample(self, kind, plan, steps):
        if not plan.uses_up_servers:
            return self.running[kind].measure(steps)
        side = self._start(plan, kind)
        if self.bytes_per_task[kind] is None:
            self.bytes_per_task[kind] = side.bytes_per_task
        found = side.measure(steps)
        side.finish()
        self.stage.remove(side.server, side.load)  # the server first: it need not see its clients vanish
        return found

    def _measure(self, steps):
        """Baseline, ours, ours, baseline, baseline, ... so that what drifts meets both alike."""
        if not self.other:
            left = self.given.rounds or SAMPLES_ALONE * steps
            while left > 0:
                show(f"{left} left")
                self.samples[self.ours].append(self._sample(self.ours, self.plan, min(steps, left)))
                left -= steps
            return
        for pair in range(self.given.pairs):
            show(f"pair {pair + 1} of {self.given.pairs}: latency {median(self.ratios['p50']):.3f} x {self.other}, "
                 f"server CPU {median(self.ratios['server_cpu']):.3f} x")
            order = (self.other, self.ours) if pair % 2 == 0 else (self.ours, self.other)
            found = {kind: self._sample(kind, self.plan, steps) for kind in order}
            for kind, sample in found.items():
                self.samples[kind].append(sample)
            ours, other = found[self.ours], found[self.other]
            self.ratios["p50"].append(ratio_of(*(s.latencies[0].percentile(0.5) for s in (ours, other))))
            for name, above, below in (("rate", "operations", "elapsed"), ("server_cpu", "server_cpu", "operations")):
                self.ratios[name].append(ratio_of(*(quotient([s], above, below) for s in (ours, other))))

    def _measure_memory(self):
        """The same once more with fewer tasks: what a process needs for itself is in both."""
        if not self.plan.smaller:
            return
        fewer = self.plan.smaller()
        show("memory of fewer tasks")

        def used(s):
            return s.after.now - s.first_bytes

        for kind in self.kinds:
            few = [self._sample(kind, fewer, 1) for _ in range(SMALLER_SAMPLES)]
            tasks = self.samples[kind][0].operations - few[0].operations
            grown = median_of(self.samples[kind], used) - median_of(few, used)
            self.bytes_per_task[kind] = grown / tasks if tasks > 0 else None

    def _figures(self, kind):
        return figures_of(self.plan, self.samples[kind], self.bytes_per_task[kind])

    def _table(self, disturbance):
        text = (f"{self.name}, {len(self.samples[self.ours])} {'pairs of samples' if self.other else 'samples'}\n\n"
                f"{'':<34}" + "".join(f"{kind:>13}" for kind in reversed(self.kinds))
                + ("   ratio  [95 % interval]" if self.other else "") + "\n")
        found = {kind: self._figures(kind) for kind in reversed(self.kinds)}
        compared = {f"{self.plan.latencies[0]}.p50": "p50", "rate_per_s": "rate",
                    f"server_cpu_ns_per_{self.plan.unit}": "server_cpu"}
        for key in found[self.ours]:
            text += f"{key:<34}" + "".join(f"{figure_text(key, of.get(key)):>13}" for of in found.values())
            if pairs := self.ratios.get(compared.get(key, "")):
                text += "   {:.3f}  [{:.3f}, {:.3f}]".format(median(pairs), *median_interval(pairs))
            text += "\n"
        return text + "\n" + disturbance.warning()

    def _json(self, disturbance):
        given = {name: value for name, value in vars(self.given).items()
                 if isinstance(value, (int, float, str)) and name not in ("json", "workload")}
        found = {"workload": self.name, **given}
        for name, pairs in self.ratios.items():
            if pairs:
                low, high = map(rounded, median_interval(pairs))
                found |= {f"{name}_ratio": rounded(median(pairs)), f"{name}_ratio_pairs": list(map(rounded, pairs)),
                          f"{name}_ratio_low": low, f"{name}_ratio_high": high}
        for kind in self.kinds:
            side = found["coxswain" if kind == self.ours else kind] = {}
            for key, value in self._figures(kind).items():
                outer, _, last = key.rpartition(".")
                (side.setdefault(outer, {}) if outer else side)[last] = rounded(value)
        return {**found, "disturbed": disturbance.to_json()}
