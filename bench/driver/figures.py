"""Percentiles, how sure one can be of a median, and figures for people."""

import collections
import itertools
import math
import statistics


class Histogram:
    """How often what took how long, in nanoseconds, as coxswain-load writes it."""

    def __init__(self, *written):
        self.times, self.max = collections.Counter(), 0
        for one in written:
            times = one["times"]
            self.times.update(dict(zip(times[::2], times[1::2])))
            self.max = max(self.max, one["max"])

    def count(self):
        return self.times.total()

    def percentile(self, share):
        """The smallest time that at least ``share`` (0 to 1) of all do not exceed; zero without any."""
        rank = max(1, math.ceil(share * self.count() - 1e-9))
        ordered = sorted(self.times)
        for time, passed in zip(ordered, itertools.accumulate(self.times[t] for t in ordered)):
            if passed >= rank:
                return min(time, self.max)
        return self.max


def median_interval(values, confidence=0.95):
    """The narrowest symmetrical interval between two order statistics that contains the true median
    with at least this probability, by the binomial distribution of ranks, whatever that of the values
    is. Fewer than six values cannot give 95 %: then it is all of their range."""
    def coverage(cut):
        """Leaving out so many at each end misses if no more than these lie on one side."""
        return 1 - 2 * sum(math.comb(len(values), k) for k in range(cut + 1)) / 2**len(values)

    cut = 0
    while 2 * (cut + 1) < len(values) and coverage(cut + 1) >= confidence:
        cut += 1
    ordered = sorted(values)
    return ordered[cut], ordered[-1 - cut]


def median(values):
    return statistics.median(values) if values else 0


def ratio_of(ours, others):
    return ours / others if others else 0


def rounded(value):
    """Six digits."""
    return int(value) if value == int(value) and abs(value) < 1e15 else float(f"{value:.6g}")


def three_figures(value, unit):
    decimals = 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    return f"{value:.{decimals}f} {unit}"


def time_text(ns):
    for limit, unit in ((1e3, "ns"), (1e6, "us"), (1e9, "ms")):
        if ns < limit:
            return three_figures(ns / limit * 1e3, unit)
    return three_figures(ns / 1e9, "s")


def bytes_text(size):
    if abs(size) < 2**10:
        return f"{size:.0f} B"
    return three_figures(size / 2**10, "KiB") if abs(size) < 2**20 else three_figures(size / 2**20, "MiB")


def figure_text(key, value):
    """By the unit in the key: "release_ns.p50", "server_bytes"."""
    if value is None:
        return "unknown"
    if "_ns" in key and not key.endswith(".count"):
        return time_text(value)
    if "bytes" in key:
        return bytes_text(value)
    return f"{value:.0%}" if "share" in key else f"{value:,.0f}"
