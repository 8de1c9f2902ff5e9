"""Percentiles, how sure one can be of a median, how something grows, and figures for people."""

import collections
import itertools
import math
import statistics
from typing import NamedTuple


class Histogram:
    """How often what took how long, in nanoseconds, as coxswain-load tells it."""

    def __init__(self, told=None):
        times = told["times"] if told else ()
        self.times = collections.Counter(dict(zip(times[::2], times[1::2])))
        self.max = told["max"] if told else 0

    @classmethod
    def of(cls, times):
        made = cls()
        made.times.update(times)
        made.max = max(times, default=0)
        return made

    def add(self, other):
        self.times.update(other.times)
        self.max = max(self.max, other.max)

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


class Interval(NamedTuple):
    low: float
    high: float
    coverage: float


def median_interval(values, confidence=0.95):
    """The narrowest symmetrical interval between two order statistics that contains the true median
    with at least this probability, by the binomial distribution of ranks, whatever that of the values
    is. Fewer than six values cannot give 95 %: then it is all of their range, and ``coverage`` says
    what that is worth."""
    n = len(values)
    if n == 0:
        return Interval(0, 0, 0)

    def coverage(cut):
        """Leaving out so many at each end misses if no more than these lie on one side."""
        return max(0, 1 - 2 * sum(math.comb(n, k) for k in range(cut + 1)) / 2**n)

    cut = 0
    while 2 * (cut + 1) < n and coverage(cut + 1) >= confidence:
        cut += 1
    ordered = sorted(values)
    return Interval(ordered[cut], ordered[n - 1 - cut], coverage(cut))


def _within(t, degrees):
    """How probable it is that Student's t is between -t and t, as a finite series."""
    angle = math.atan(t / math.sqrt(degrees))
    power = degrees % 2
    total, term = 0, math.cos(angle)**power
    while power <= degrees - 2:
        total += term
        term *= (power + 1) / (power + 2) * math.cos(angle)**2
        power += 2
    total *= math.sin(angle)
    return 2 / math.pi * (angle + total) if degrees % 2 else total


def student_t(confidence, degrees):
    """The t that Student's t does not exceed, up or down, with this probability."""
    low, high = 0, 1e6
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, degrees) < confidence else (low, middle)
    return low


class PowerLaw(NamedTuple):
    """y = factor * x ^ exponent, as it was fitted, with the exponent's interval of 95 %, if the
    logarithms scatter evenly and independently."""
    exponent: float
    low: float
    high: float


def fit_power_law(points):
    """Least squares of the logarithms. All values must be above zero; with fewer than three, or with
    one x only, nothing is known of the exponent: it is then zero, and the interval without end."""
    xs, ys = [math.log(x) for x, _ in points], [math.log(y) for _, y in points]
    if len(points) < 3 or max(xs) - min(xs) < 1e-6:
        return PowerLaw(0, -math.inf, math.inf)
    slope, intercept = statistics.linear_regression(xs, ys)
    xx = sum((x - statistics.fmean(xs))**2 for x in xs)
    rest = sum((y - slope * x - intercept)**2 for x, y in zip(xs, ys))
    degrees = len(points) - 2
    spread = student_t(0.95, degrees) * math.sqrt(rest / degrees / xx)
    return PowerLaw(slope, slope - spread, slope + spread)


def median(values):
    return statistics.median(values) if values else 0


def ratio_of(ours, others):
    return ours / others if others > 0 else 0


# Texts.


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
    if abs(size) < 2**20:
        return three_figures(size / 2**10, "KiB")
    return three_figures(size / 2**20, "MiB")


def rate_text(per_second):
    return three_figures(per_second, "/s") if per_second < 100 else f"{per_second:,.0f} /s"


def share_text(share):
    return f"{100 * share:.0f} %"


def counted(n, noun):
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def ratio_text(pairs):
    """ "1.078  [1.061, 1.094]": the median and its interval."""
    if not pairs:
        return "unknown"
    sure = median_interval(pairs)
    return f"{median(pairs):.3f}  [{sure.low:.3f}, {sure.high:.3f}]"


def or_unknown(value, text):
    return "unknown" if value is None else text(value)
