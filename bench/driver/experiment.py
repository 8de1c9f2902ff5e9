"""Takes samples: of the coordinator alone, or of it and of another side in turn."""

from driver.machine import show
from driver.processes import RIVALS, XLA_SERVICE, files_parent_of, need_rival
from driver.report import Report
from driver.sides import Stage

SAMPLES_ALONE = 10

# A process's memory varies by some pages from one start to the next.
SMALLER_SAMPLES = 5


class Place:
    """For one kind of server."""

    def __init__(self, kind):
        self.kind = kind
        self.running = None  # none yet, or between two samples that need new servers
        self.bytes_per_task = None


class Experiment:
    def __init__(self, workload, given):
        self.workload, self.given = workload, given
        self.plan = workload.plan(given)
        self.beside = "baseline" if given.baseline else given.vs or (None if given.alone else workload.beside)
        if self.beside == "xla":
            self.beside = XLA_SERVICE
        self.transport = given.transport
        if given.address:
            self.transport = "unix" if given.address.startswith("unix:") else "tcp"
        self.ours = Place("baseline-2" if given.calibrate else given.protocol or "coxswain")
        self.other = Place(self.beside) if self.beside else None
        self.steps = self.plan.steps  # in a sample

    def run(self):
        """The table, the JSON, and whether what was to be as expected, is."""
        given, parent = self.given, "/tmp"
        if self.beside in RIVALS:
            need_rival(self.beside, self.transport == "unix")
            parent = files_parent_of(self.beside)
        with Stage(given.program, self.transport, given.address, given.server_pid,
                   given.baseline_transport == "tcp", parent, given.spin,
                   given.durability, given.engine) as self.stage:
            measured = "coxswain" if self.beside == XLA_SERVICE else self.plan.measured or self.ours.kind
            self.report = Report(self.plan, self.stage, measured, self.beside)
            if self.other:
                self.report.baseline_transport = "unix" if self.stage.is_unix(self.beside) else "tcp"
            disturbance = self._measure()
            return (self.report.table(disturbance), self.report.to_json(disturbance),
                    self.report.shown[2])

    def _measure(self):
        report, given = self.report, self.given
        if given.rounds and not self.workload.uses_up_servers:
            self.steps = given.rounds if self.other else -(-given.rounds // SAMPLES_ALONE)
        if not self.workload.uses_up_servers:
            for place in filter(None, (self.other, self.ours)):
                self._start(place, self.plan)
        self._warm_up()
        report.steps_per_sample = self.steps
        self.stage.watch()
        if self.other:
            self._measure_pairs()
        else:
            self._measure_alone()
        disturbance = self.stage.disturbance()
        report.ours.connected_bytes_per_task = self.ours.bytes_per_task
        if self.other:
            report.other.connected_bytes_per_task = self.other.bytes_per_task
        self._measure_memory()
        if self.ours.running:
            if self.plan.conclude:
                report.shown = self.plan.conclude(self.ours.running.conclude())
            self.ours.running.finish()
        if self.plan.compares_recordings:
            report.shown = self._compare_recordings()
        return disturbance

    def _start(self, place, plan):
        place.running = self.stage.add(plan, place.kind)
        tasks = plan.extent(place.kind).tasks if plan.joins_first else 0
        if tasks and place.running.bytes_connected is not None:
            place.bytes_per_task = place.running.bytes_connected / tasks

    def _sample(self, place, steps):
        if self.workload.uses_up_servers:
            return self._sample_of_new(place, self.plan, steps)
        return place.running.measure(steps)

    def _sample_of_new(self, place, plan, steps):
        self._start(place, plan)
        found = place.running.measure(steps)
        place.running.finish()
        self.stage.remove(place.running)
        place.running = None
        return found

    def _warm_up(self):
        """With a duration instead of a number of steps, it shows how many take so long."""
        show("warming up")
        steps = self.steps if self.given.warm_up is None else self.given.warm_up
        if steps == 0:
            return
        took = max(self._sample(place, steps).elapsed for place in (self.ours, self.other) if place)
        if self.given.seconds:
            samples = 2 * self.given.pairs if self.other else SAMPLES_ALONE
            of_a_step = max(took / 1e9 / steps, 1e-9)
            self.steps = max(1, round(self.given.seconds / samples / of_a_step))

    def _measure_pairs(self):
        """Baseline, ours, ours, baseline, baseline, ... so that what drifts meets both alike."""
        report = self.report
        for pair in range(self.given.pairs):
            show(f"pair {pair + 1} of {self.given.pairs}{report.in_short()}")
            report.sample(pair, lambda is_ours: self._sample(self.ours if is_ours else self.other,
                                                             self.steps))

    def _measure_alone(self):
        every, done = SAMPLES_ALONE * self.steps, 0
        if self.given.rounds and not self.given.seconds:
            every = self.given.rounds
        while done < every:
            show(f"{done} of {every} {self.plan.words.steps}")
            steps = min(self.steps, every - done)
            self.report.ours.samples.append(self._sample(self.ours, steps))
            done += steps

    def _measure_memory(self):
        """The same once more with fewer tasks: what a process needs for itself is in both."""
        if not self.plan.smaller or self.given.address:
            return
        fewer = self.plan.smaller()
        show("memory of fewer tasks")
        for _ in range(SMALLER_SAMPLES):
            self.report.ours.smaller.append(self._sample_of_new(self.ours, fewer, 1))
            if self.other:
                self.report.other.smaller.append(self._sample_of_new(self.other, fewer, 1))

    def _compare_recordings(self):
        """What both coordinators were told."""
        show("comparing what the coordinators were told")
        self.other.running.finish()
        files = {name: place.running.recording(f"{self.stage.directory}/{name}")
                 for name, place in (("ours", self.ours), ("others", self.other))}
        found = self.stage.roles.ask("compare", files)
        ours, others = found["ours"], found["others"]

        def line(what, of):
            return f"{what:<26}{of(others):>21}{of(ours):>21}\n"

        def counts(side, what):
            count = side["requests"].get(what)
            return f"{count['frames']:,} ({count['bytes']:,})" if count else "0"

        text = f"{'what the servers were told':<26}{'processes':>21}{'simulated':>21}\n"
        text += line("  connections", lambda side: f"{side['connections']:,}")
        for what in sorted({**ours["requests"], **others["requests"]}):
            text += line(f"  {what}", lambda side, what=what: counts(side, what))
        text += line("  requests taken in a loop iteration", lambda side: f"{side['requests_per_iteration']:.2f}")
        where = found.get("difference")
        text += (f"DIFFERENT: {where}.\n" if where else
                 "The requests of each task are the same to the byte, but for its label and its "
                 "incarnation.\n")
        totals = {f"requests_of_{name}": sum(count["frames"] for what, count in side["requests"].items()
                                             if what not in ("heartbeat", "ask_waiting"))
                  for name, side in (("simulated", ours), ("processes", others))}
        return text, {"requests_differ": int(bool(where)), **totals}, not where
