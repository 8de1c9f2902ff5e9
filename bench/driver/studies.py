"""Questions to several coordinators beside each other: the `growth` of a barrier's cost with the number
of tasks, and whether a coordinator gets slower or larger by its `history`."""

from driver.figures import (
    bytes_text, counted, fit_power_law, or_unknown, ratio_text, rate_text, share_text, time_text)
from driver.machine import refuse, show
from driver.report import Found, figure_line, first_p50, quotient, rate, rounded, table_line
from driver.sides import Stage
from driver.workloads import (
    KEYS_MAX, Extent, Plan, Population, Words, add_number, barrier_plan, clamp)


class Step(Found):
    """Barriers over one number of tasks."""

    def __init__(self, stage, tasks, given):
        sessions = -(-tasks // given.tasks_per_session)
        self.tasks, self.plan = tasks, barrier_plan(Population(tasks, sessions, tasks, sessions))
        super().__init__(self.plan.words, given.baseline)
        name = counted(tasks, "task")
        self.sides = {True: stage.add(self.plan, "coxswain", name)}
        if given.baseline:
            self.sides[False] = stage.add(self.plan, "baseline", f"{name} of the baseline")
        for is_ours, side in self.sides.items():
            if side.bytes_connected is not None:
                result = self.ours if is_ours else self.other
                result.connected_bytes_per_task = side.bytes_connected / tasks


class Growth:
    name = "growth"
    help = ("What a barrier costs over more and more tasks: latency and server CPU, and by which power "
            "of the number of tasks they grow (1 is linear)")

    def add_options(self, parser):
        add_number(parser, "--tasks-from", 1_000, 1, 1_000_000, "The least number of tasks")
        add_number(parser, "--tasks-to", 100_000, 1, 1_000_000, "The greatest")
        add_number(parser, "--steps", 9, 2, 100, "How many numbers, each greater by the same factor")
        add_number(parser, "--tasks-per-session", 100, 1, 1_000_000,
                   "So many tasks share a connection; 1: each has its own, as far as the limit of open "
                   "files goes")
        parser.add_argument("--baseline", action="store_true",
                            help="Also with a plain epoll server that moves the same bytes over as many "
                                 "connections, in interleaved samples: how the machine itself grows")
        add_number(parser, "--samples", 7, 1, 10_000, "Of each number, after one for warming up")

    def run(self, given):
        low, high = given.tasks_from, given.tasks_to
        if low >= high:
            refuse(f"--tasks-from {low} is not below --tasks-to {high}")
        numbers = sorted({round(low * (high / low)**(i / (given.steps - 1)))
                          for i in range(given.steps)})
        with Stage(given.program, given.transport) as stage:
            steps = [Step(stage, tasks, given) for tasks in numbers]
            for step in steps:
                show(f"warming up: {counted(step.tasks, 'task')}")
                for side in step.sides.values():
                    side.measure(step.plan.steps)
            stage.watch()
            for number in range(given.samples):
                # Upwards and downwards, so that what drifts meets all alike.
                for step in steps if number % 2 == 0 else reversed(steps):
                    show(f"sample {number + 1} of {given.samples}: {counted(step.tasks, 'task')}")
                    step.sample(number, lambda is_ours, step=step: step.sides[is_ours].measure(
                        step.plan.steps))
            disturbance = stage.disturbance()
            return (self._table(steps, stage) + disturbance.warning(),
                    self._json(steps, stage, disturbance), True)

    def _laws(self, steps):
        """What is fitted, if it was measured: its name for people and in the JSON, and the law."""
        def cpu(step, result):
            return [quotient([s], "server_cpu", "operations") * step.tasks
                    for s in result.samples if s.server_cpu is not None]

        def latency(result):
            return [first_p50(s) for s in result.samples]

        for text, key, values in (
                (f"  {steps[0].plan.words.latencies[0][0]}", "latency", lambda s: latency(s.ours)),
                ("    of the baseline", "baseline_latency", lambda s: latency(s.other)),
                ("    ours by the baseline's", "latency_ratio", lambda s: s.pairs.p50),
                ("  server CPU for a barrier", "server_cpu", lambda s: cpu(s, s.ours)),
                ("    of the baseline", "baseline_server_cpu", lambda s: cpu(s, s.other)),
                ("    ours by the baseline's", "server_cpu_ratio", lambda s: s.pairs.server_cpu)):
            if "baseline" in text and not steps[0].other:
                continue
            points = [(step.tasks, value) for step in steps for value in values(step)]
            if points:
                yield text, key, fit_power_law(points)

    def _figures(self, steps, results):
        row = "{:>9}{:>10}{:>10}{:>10}{:>10}{:>10}{:>11}{:>12}{:>15}{:>11}{:>13}\n"
        text = row.format("tasks", "sessions", "p50", "p99", "p99.9", "max", "p50/task", "CPU/task",
                          "tasks/s", "load busy", "memory/task")
        for step, of in zip(steps, results):
            latency = of.latency(0)
            text += row.format(
                f"{step.tasks:,}", f"{step.plan.ours.connections:,}",
                *(time_text(latency.percentile(share)) for share in (0.5, 0.99, 0.999)),
                time_text(latency.max), time_text(latency.percentile(0.5) / step.tasks),
                or_unknown(quotient(of.samples, "server_cpu", "operations"), time_text),
                rate_text(rate(of.samples)), share_text(quotient(of.samples, "busy", "elapsed")),
                or_unknown(of.bytes_per_task(False), bytes_text))
        return text

    def _table(self, steps, stage):
        first, last = steps[0], steps[-1]
        text = (f"growth: barrier over {first.tasks:,} to {counted(last.tasks, 'task')} in "
                f"{first.plan.ours.connections:,} to "
                f"{counted(last.plan.ours.connections, 'session')}, {len(first.ours.samples)} samples "
                f"of each number, interleaved; {stage.over()}; {stage.cpus}\n\n"
                f"p50 to max: {first.words.latencies[0][0]}\n")
        text += self._figures(steps, [s.ours for s in steps])
        if first.other:
            text += f"\nthe baseline\n{self._figures(steps, [s.other for s in steps])}\n"
            text += "by the baseline's  [95 % interval]\n"
            for row in (("tasks", "p50", "server CPU"),
                        *((f"{s.tasks:,}", ratio_text(s.pairs.p50), ratio_text(s.pairs.server_cpu))
                          for s in steps)):
                text += "{:>9}   {:<26}{}\n".format(*row)
        text += "\nexponent of the number of tasks      exponent   [95 % interval]\n"
        for what, _, law in self._laws(steps):
            text += f"{what:<34}{law.exponent:>13.3f}   [{law.low:.3f}, {law.high:.3f}]\n"
        return text + "\n"

    def _json(self, steps, stage, disturbance):
        told = {"workload": "growth", **stage.origin(), "transport": stage.transport,
                "samples": len(steps[0].ours.samples)}
        for _, key, law in self._laws(steps):
            told |= {f"{key}_exponent": rounded(law.exponent),
                     f"{key}_exponent_low": rounded(law.low),
                     f"{key}_exponent_high": rounded(law.high)}
        told["steps"] = []
        for step in steps:
            told["steps"].append({"tasks": step.tasks, "sessions": step.plan.ours.connections,
                                  **step.sides_to_json("coxswain", "baseline")})
        return {**told, "disturbed": disturbance.to_json()}


class Act(Found):
    """One thing that a new coordinator and one with a history do in turn."""

    def __init__(self, load, steps, name, title, operation, latency):
        self.load, self.steps = load, steps
        super().__init__(Words(name, title, "", operation, [latency], has_rate=True), True)

    def rows(self):
        text = f"{self.words.title}, {self.words.latencies[0][0]}\n"
        for figure in self.figures():
            label = {"load_share": "  load busy", "rate_per_s": "  rate"}.get(
                figure.key, figure.text if "." in figure.key else "")
            if figure.key.startswith("server_cpu_ns"):
                label = f"  server CPU per {self.words.operation[0]}"
            if label:
                text += figure_line(figure, self.other, self.ours, label)
        return text


class History:
    name = "history"
    help = ("Whether a coordinator gets slower or larger by what it has done before: barriers, gets and "
            "puts after many used barrier ids and with many keys, beside a new coordinator")
    PARTS = 10  # of the ids
    REQUESTS = 20_000  # in a sample
    KEYS_AT_FIRST = 1_000

    def add_options(self, parser):
        add_number(parser, "--tasks", 100, 1, 10_000,
                   "Simulated tasks, each on a connection of its own")
        add_number(parser, "--used-ids", 1_000_000, self.PARTS, 900_000_000,
                   "Barrier ids that have been used before")
        add_number(parser, "--keys", 1_000_000, self.KEYS_AT_FIRST, KEYS_MAX,
                   "Keys that are there; a new coordinator has 1,000")
        add_number(parser, "--bytes", 64, 0, 1_000_000, "The size of each value")
        add_number(parser, "--pairs", 15, 1, 100_000, "Pairs of samples to compare")

    def run(self, given):
        self.given = given
        answer, operation = ("request to answer", "latency_ns"), ("operation", "operation")
        self.acts = [
            Act("barriers", clamp(self.REQUESTS // given.tasks, 5, 1_000), "barrier",
                f"barrier over {counted(given.tasks, 'task')}", ("task and barrier", "task"),
                ("last arrival to last release", "release_ns")),
            Act("first_gets", self.REQUESTS, "get_of_first",
                f"get of the first {self.KEYS_AT_FIRST:,} keys", operation, answer),
            Act("gets", self.REQUESTS, "get", "get of any key", operation, answer),
            Act("puts", self.REQUESTS, "put", "put over any key", operation, answer)]
        extent = Extent(given.tasks, given.tasks)
        plan = Plan(Words("history", "", "", operation, []), "history", extent, extent,
                    options={"keys": given.keys, "keys_at_first": self.KEYS_AT_FIRST,
                             "bytes": given.bytes}, job={"num_tasks": given.tasks})
        with Stage(given.program, given.transport) as stage:
            new, old = (stage.add(plan, "coxswain", name) for name in ("new", "with history"))
            self._grow_old(old)
            self._measure(stage, new, old)
            disturbance = stage.disturbance()
            return (self._table(stage) + disturbance.warning(), self._json(stage, disturbance), True)

    def _ids_at(self, part):
        return self.given.used_ids * part // self.PARTS

    def _grow_old(self, old):
        """The memory is looked at after each part of the ids, and with all keys."""
        old.turn_to("use_ids")
        self.by_ids = []
        for part in range(self.PARTS):
            show(f"{self._ids_at(part):,} of {self.given.used_ids:,} used ids")
            used = old.measure(self._ids_at(part + 1) - self._ids_at(part))
            self.by_ids += [used.after.now] if self.by_ids else [used.before.now, used.after.now]
        show(f"storing {self.given.keys:,} keys")
        old.turn_to("store_keys")
        self.with_keys = old.measure(1).after.now
        # The first half also fills what is bounded: it does not count.
        half = self.PARTS // 2
        self.per_id = ((self.by_ids[-1] - self.by_ids[half]) /
                       (self.given.used_ids - self._ids_at(half)))
        self.per_key = (self.with_keys - self.by_ids[-1]) / self.given.keys

    def _measure(self, stage, new, old):
        """New, old, old, new, ... so that what drifts meets both alike; after one of each for warming
        up."""
        def sample(side, act):
            side.turn_to(act.load)
            return side.measure(act.steps)

        for act in self.acts:
            sample(new, act)
            sample(old, act)
        stage.watch()
        for pair in range(self.given.pairs):
            for act in self.acts:
                show(f"pair {pair + 1} of {self.given.pairs}: {act.words.name}")
                act.sample(pair, lambda is_old, act=act: sample(old if is_old else new, act))

    def _table(self, stage):
        given = self.given
        text = (f"history: {given.used_ids:,} used barrier ids and {given.keys:,} keys of "
                f"{bytes_text(given.bytes)}, {counted(given.tasks, 'task')}, "
                f"{counted(given.pairs, 'pair')} of samples, interleaved; {stage.over()}; "
                f"{stage.cpus}\n\n" + table_line("", "new", "with history", "ratio  [95 % interval]"))
        text += "".join(act.rows() for act in self.acts) + "memory of the server\n"
        memory = {f"  {self._ids_at(part):,} used ids": bytes_text(size)
                  for part, size in enumerate(self.by_ids)}
        memory |= {f"  and {given.keys:,} keys": bytes_text(self.with_keys),
                   "  of one more id, second half": f"{self.per_id:.2f} B",
                   "  of one more key": bytes_text(self.per_key)}
        return text + "".join(table_line(what, "", size) for what, size in memory.items()) + "\n"

    def _json(self, stage, disturbance):
        asked = ("tasks", "used_ids", "keys", "bytes", "pairs")
        return {"workload": "history", **stage.origin(), "transport": stage.transport,
                **{name: getattr(self.given, name) for name in asked},
                **{act.words.name: act.sides_to_json("with_history", "new") for act in self.acts},
                "server_bytes_by_used_ids": self.by_ids, "server_bytes_with_keys": self.with_keys,
                "server_bytes_per_used_id": rounded(self.per_id),
                "server_bytes_per_key": rounded(self.per_key), "disturbed": disturbance.to_json()}
