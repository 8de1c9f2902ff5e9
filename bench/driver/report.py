"""What a run found, and how it is told: as a table for people, and as JSON, with times in nanoseconds.
Not here: how it was measured (experiment)."""

import dataclasses
import math
from collections.abc import Callable

from driver.figures import (
    Histogram, bytes_text, counted, median, median_interval, or_unknown, ratio_of, ratio_text,
    rate_text, share_text, time_text)
from driver.sides import Sample

PAIRS_ENOUGH = 15

# A load that works longer than this part of the time may be what limits the rate.
LOAD_SHARE_ENOUGH = 0.9


def rounded(value):
    """Six digits; None if JSON has no such number."""
    if not math.isfinite(value):
        return None
    return int(value) if value == int(value) and abs(value) < 1e15 else float(f"{value:.6g}")


def quotient(samples, above, below):
    """The sum of the one by that of the other: None if a sample does not have it."""
    pairs = [(getattr(s, above), getattr(s, below)) for s in samples]
    if any(None in pair for pair in pairs):
        return None
    return ratio_of(sum(a for a, _ in pairs), sum(b for _, b in pairs))


def rate(samples):
    return quotient(samples, "operations", "elapsed") * 1e9


def first_p50(sample):
    return sample.latencies[0].percentile(0.5) if sample.latencies else 0


# The server's memory, after a sample and during it.


def bytes_after(s):
    return s.after.now


def peak_bytes(s):
    return max(s.after.peak, s.after.now)


def growth_bytes(s):
    return max(0, peak_bytes(s) - s.before.now)


def median_of(samples, size):
    """None if one of them does not have it."""
    if not samples or not all(s.before and s.after for s in samples):
        return None
    return median([size(s) for s in samples])


@dataclasses.dataclass
class Result:
    """All samples of one side."""
    samples: list[Sample] = dataclasses.field(default_factory=list)
    smaller: list[Sample] = dataclasses.field(default_factory=list)  # with fewer tasks
    # By how much the server grew while its tasks connected and joined, for each; None if they do so in
    # the samples.
    connected_bytes_per_task: float | None = None

    def latency(self, place):
        every = Histogram()
        for s in self.samples:
            every.add(s.latencies[place])
        return every

    def bytes_per_task(self, at_peak):
        """What one more task costs the server: the slope if it was measured with fewer, too, at the
        peak of a sample or after it; else what all cost when they connected, if they did."""
        if not self.smaller or not self.samples:
            return self.connected_bytes_per_task

        def used(s):
            return (peak_bytes(s) if at_peak else bytes_after(s)) - s.first_bytes

        more, fewer = median_of(self.samples, used), median_of(self.smaller, used)
        tasks = self.samples[0].operations - self.smaller[0].operations
        return None if more is None or fewer is None or tasks <= 0 else (more - fewer) / tasks


class Comparison:
    """Of pair after pair, Coxswain's figure by the other side's."""

    def __init__(self, words):
        self.words = words
        self.p50, self.rate, self.server_cpu = [], [], []
        self.parts = {(key, what): [] for _, key in words.parts for what in ("elapsed", "server_cpu")}

    def add(self, ours, other):
        self.p50.append(ratio_of(first_p50(ours), first_p50(other)))
        self.rate.append(ratio_of(rate([ours]), rate([other])))
        # Per operation: samples of one side may be of different lengths.
        cpu = [quotient([s], "server_cpu", "operations") for s in (ours, other)]
        if None not in cpu:
            self.server_cpu.append(ratio_of(*cpu))
        for (_, key), mine, theirs in zip(self.words.parts, ours.parts, other.parts):
            for what in ("elapsed", "server_cpu"):
                self.parts[key, what].append(ratio_of(mine[what], theirs[what]))

    def to_json(self):
        found = {"p50": self.p50, "rate": self.rate if self.words.has_rate else [],
                 "server_cpu": self.server_cpu}
        for (key, what), pairs in self.parts.items():
            found[f"{key}_{'time' if what == 'elapsed' else what}"] = pairs
        told = {}
        for name, pairs in found.items():
            if pairs:
                sure = median_interval(pairs)
                told |= {f"{name}_ratio": rounded(median(pairs)),
                         **{f"{name}_ratio_{end}": rounded(value)
                            for end, value in sure._asdict().items()},
                         f"{name}_ratio_pairs": [rounded(one) for one in pairs]}
        return told


@dataclasses.dataclass
class Figure:
    """Of a side: a line of the table and a member of the JSON."""
    text: str  # empty: it is in the JSON only
    key: str  # "release_ns.p50"
    of: Callable[[Result], float | None]
    say: Callable[[float], str] = str
    pairs: list | None = None  # of our side and the other one
    heading: str = ""  # a line above it
    may_lack: bool = False  # no line if our side does not have it


def _latency_figures(words, pairs):
    for place, (text, key) in enumerate(words.latencies):
        yield Figure("", f"{key}.count", lambda r, at=place: r.latency(at).count(), heading=text)
        for share, what, name in ((0.5, "p50", "p50"), (0.99, "p99", "p99"),
                                  (0.999, "p99.9", "p99_9")):
            yield Figure(f"  {what}", f"{key}.{name}",
                         lambda r, at=place, share=share: r.latency(at).percentile(share), time_text,
                         pairs.p50 if place == 0 and what == "p50" else None)
        yield Figure("  max", f"{key}.max", lambda r, at=place: r.latency(at).max, time_text)


def _part_figures(words, pairs, heading, what, name):
    for place, (text, key) in enumerate(words.parts):
        yield Figure(f"  {text}", f"{key}.{name}",
                     lambda r, at=place: median([s.parts[at][what] for s in r.samples]), time_text,
                     pairs.parts[key, what], heading if place == 0 else "")


def figures_of(words, pairs, ours):
    """All figures of a workload, in the order of the table."""
    def by(above, below):
        return lambda r: quotient(r.samples, above, below)

    def memory(size):
        return lambda r: median_of(r.samples, size)

    operation, key = words.operation
    per_task = ("  per task, when all have joined" if not ours.smaller else
                "  per task, at most" if words.counts_peak else "  per idle task")
    return [
        *_latency_figures(words, pairs),
        Figure("", "operations", lambda r: sum(s.operations for s in r.samples)),
        Figure("rate", "rate_per_s", lambda r: rate(r.samples), rate_text,
               pairs.rate if words.has_rate else None),
        *_part_figures(words, pairs, "time of each part (median)", "elapsed", "time_ns"),
        *_part_figures(words, pairs, "server CPU of each part (median)", "server_cpu",
                       "server_cpu_ns"),
        Figure("  server", f"server_cpu_ns_per_{key}", by("server_cpu", "operations"), time_text,
               pairs.server_cpu, f"CPU per {operation}"),
        Figure("  load", f"load_cpu_ns_per_{key}", by("load_cpu", "operations"), time_text),
        Figure("  server", "server_share", by("server_cpu", "elapsed"), share_text,
               heading="busy while the clock ran"),
        Figure("  load", "load_share", by("busy", "elapsed"), share_text),
        Figure("  after a sample", "server_bytes", memory(bytes_after), bytes_text,
               heading="memory of the server", may_lack=True),
        Figure("  growth during a sample", "server_growth_bytes", memory(growth_bytes), bytes_text,
               may_lack=True),
        Figure(per_task, "server_bytes_per_task", lambda r: r.bytes_per_task(words.counts_peak),
               bytes_text, may_lack=True)]


def to_json(figures, result):
    told = {}
    for figure in figures:
        if (value := figure.of(result)) is not None:
            *outer, last = figure.key.split(".")
            (told.setdefault(outer[0], {}) if outer else told)[last] = rounded(value)
    return told


def table_line(what, other, ours, compared=""):
    """``other`` is None if there is no other side."""
    line = f"{what:<34}" + ("" if other is None else f"{other:>13}") + f"{ours:>13}"
    return f"{line}   {compared}".rstrip() + "\n"


def figure_line(figure, other, ours, what=None):
    return table_line(what or figure.text, other and or_unknown(figure.of(other), figure.say),
                      or_unknown(figure.of(ours), figure.say),
                      ratio_text(figure.pairs) if figure.pairs else "")


class Found:
    """What was found of our side, and of another one if there is one."""

    def __init__(self, words, has_other):
        self.words = words
        self.ours, self.other = Result(), Result() if has_other else None
        self.pairs = Comparison(words)

    def sample(self, number, measure):
        """Takes a sample of both, ours first every other time, so that what drifts meets both alike."""
        order = (True,) if not self.other else (False, True) if number % 2 == 0 else (True, False)
        found = {is_ours: measure(is_ours) for is_ours in order}
        self.ours.samples.append(found[True])
        if self.other:
            self.other.samples.append(found[False])
            self.pairs.add(found[True], found[False])

    def figures(self):
        return figures_of(self.words, self.pairs, self.ours)

    def sides_to_json(self, ours, other):
        figures = self.figures()
        told = {**self.pairs.to_json(), ours: to_json(figures, self.ours)}
        return {**told, other: to_json(figures, self.other)} if self.other else told


class Report(Found):
    """Of one experiment."""
    baseline_transport: str | None = None  # never TLS
    steps_per_sample = 0
    shown = ("", {}, True)  # text, members of the JSON, and whether it is good

    def __init__(self, plan, stage, measured, beside):
        super().__init__(plan.words, beside)
        self.plan, self.stage = plan, stage
        self.measured = measured  # the name of what was measured: "coxswain"
        self.beside = beside  # what stands in the baseline's place, if anything does

    def in_short(self):
        """So far: "latency 1.072 x baseline, server CPU 1.310 x"."""
        text = f": latency {median(self.pairs.p50):.3f} x {self.beside}"
        if self.words.has_rate:
            text += f", rate {median(self.pairs.rate):.3f} x"
        if self.pairs.server_cpu:
            text += f", server CPU {median(self.pairs.server_cpu):.3f} x"
        return text if self.pairs.p50 else ""

    def table(self, disturbance):
        text = f"{self.words.title}, {self._circumstances()}\n\n" + table_line(
            "", self.beside, self.measured, self.beside and "ratio  [95 % interval]" or "")
        for figure in self.figures():
            if figure.may_lack and figure.of(self.ours) is None:
                continue
            if figure.heading:
                text += f"{figure.heading}\n"
            if figure.text:
                text += figure_line(figure, self.other, self.ours)
        notes = self._notes() + disturbance.warning()
        return text + (self.shown[0] and f"\n{self.shown[0]}") + (notes and f"\n{notes}")

    def to_json(self, disturbance):
        told = {"workload": self.words.name, **self.plan.parameters, **self.stage.origin(),
                "measured": self.measured, "transport": self.stage.transport}
        if self.other:
            told |= {"baseline_transport": self.baseline_transport, "pairs": len(self.ours.samples)}
        return {**told, f"{self.words.steps}_per_sample": self.steps_per_sample,
                **self.sides_to_json("coxswain", self.beside), **self.shown[1],
                "disturbed": disturbance.to_json()}

    def _circumstances(self):
        """ "TCP, 300 rounds a side in 15 pairs of samples, interleaved; servers on CPU 0, ..."."""
        samples, text = len(self.ours.samples), self.stage.over()
        if self.other and self.baseline_transport == "tcp" and self.stage.transport != "tcp":
            text += f" (the {self.beside}: TCP)"
        text += f", {counted(self.steps_per_sample * samples, self.words.steps[:-1])}"
        if self.other:
            text += f" a side in {counted(samples, 'pair')} of samples, interleaved"
        return f"{text}; {self.stage.cpus}"

    def _notes(self):
        text = ""
        sides = {self.measured: self.ours}
        if self.other:
            sides["the baseline" if self.beside == "baseline" else self.beside] = self.other
        for name, result in sides.items() if self.words.has_rate else ():
            share = quotient(result.samples, "busy", "elapsed")
            if share >= LOAD_SHARE_ENOUGH:
                text += (f"note: the load on {name} was busy {100 * share:.0f} % of the time: the "
                         "server could do more, and its rate is at least this.\n")
        if self.other and len(self.ours.samples) < PAIRS_ENOUGH:
            coverage = median_interval(self.pairs.p50).coverage
            text += (f"note: so few pairs: the intervals hold with {100 * coverage:.0f} %. Take "
                     f"{PAIRS_ENOUGH} or more.\n")
        return text
