#!/usr/bin/env python3
"""Tests bench/driver: its statistics, texts and options, without any measurement."""

import argparse
import math
import unittest

from driver import workloads
from driver.figures import (
    Histogram, bytes_text, counted, fit_power_law, median, median_interval, rate_text, student_t,
    time_text)
from driver.machine import USAGE, BenchError


class Histograms(unittest.TestCase):
    def test_percentiles_are_the_nearest_rank(self):
        h = Histogram.of(range(1, 101))
        self.assertEqual(h.count(), 100)
        for share, expected in ((0, 1), (0.5, 50), (0.99, 99), (0.991, 100), (1, 100)):
            self.assertEqual(h.percentile(share), expected)

    def test_no_percentile_exceeds_the_maximum(self):
        h = Histogram({"max": 123_456_789, "times": [123_456_800.5, 1]})
        self.assertEqual(h.percentile(0.5), 123_456_789)

    def test_without_times_all_figures_are_zero(self):
        self.assertEqual((Histogram().percentile(0.5), Histogram().max, Histogram().count()), (0, 0, 0))

    def test_merging_two_histograms_equals_one_with_all_times(self):
        low, high = Histogram.of(range(1, 51)), Histogram.of(range(51, 101))
        low.add(high)
        self.assertEqual((low.count(), low.percentile(0.5), low.percentile(0.999)), (100, 50, 100))


class Statistics(unittest.TestCase):
    def test_median_needs_no_order(self):
        self.assertEqual((median([3, 1, 2]), median([4, 1, 3, 2]), median([])), (2, 2.5, 0))

    def test_median_interval_lies_between_two_ranks(self):
        # Those of the tables for the sign test: 15 values give ranks 4 and 12 (96.5 %).
        for n, low, high, coverage in ((15, 4, 12, 0.9648), (6, 1, 6, 0.96875), (3, 1, 3, 0.75),
                                       (1, 1, 1, 0), (0, 0, 0, 0)):
            found = median_interval(list(range(n, 0, -1)))
            self.assertEqual((found.low, found.high), (low, high))
            self.assertAlmostEqual(found.coverage, coverage, delta=0.001)


class PowerLaws(unittest.TestCase):
    def test_an_exact_power_law_has_no_uncertainty(self):
        law = fit_power_law([(1, 3), (10, 300), (100, 30_000), (1_000, 3_000_000)])
        self.assertAlmostEqual(law.exponent, 2, delta=1e-9)
        self.assertLess(law.high - law.low, 1e-6)

    def test_scattered_points_have_the_textbook_interval(self):
        # By hand: logarithms to base 10 of y are 0, 1.1, 1.9, 3 at x = 0, 1, 2, 3; the slope is 0.98,
        # the sum of squares left 0.018, its error sqrt(0.009 / 5), and t for two degrees 4.302653.
        law = fit_power_law([(1, 1), (10, 10**1.1), (100, 10**1.9), (1_000, 1_000)])
        self.assertAlmostEqual(law.exponent, 0.98, delta=1e-9)
        self.assertAlmostEqual(law.high - law.exponent, 4.302653 * math.sqrt(0.009 / 5), delta=1e-6)
        self.assertAlmostEqual(law.exponent - law.low, law.high - law.exponent, delta=1e-9)

    def test_students_t_matches_the_tables(self):
        for degrees, t in ((1, 12.7062), (2, 4.30265), (7, 2.36462), (61, 1.99962)):
            self.assertAlmostEqual(student_t(0.95, degrees), t, delta=1e-4)

    def test_too_few_points_give_no_exponent(self):
        for few in ([], [(1, 1), (2, 4)], [(5, 1), (5, 2), (5, 3)]):
            self.assertEqual(fit_power_law(few), (0, -math.inf, math.inf))


class Words(unittest.TestCase):
    def test_figures_have_three_digits_and_their_unit(self):
        for text, expected in (
                (time_text(850), "850 ns"), (time_text(9_120), "9.12 us"),
                (time_text(14_300_000), "14.3 ms"), (time_text(1.85e9), "1.85 s"),
                (bytes_text(64), "64 B"), (bytes_text(1536), "1.50 KiB"),
                (bytes_text(12 * 2**20), "12.0 MiB"), (bytes_text(-2048), "-2.00 KiB"),
                (rate_text(12_345.4), "12,345 /s"), (rate_text(2.5), "2.50 /s"),
                (counted(1, "task"), "1 task"), (counted(1_024, "task"), "1,024 tasks"),
                (counted(1_234_567, "task"), "1,234,567 tasks"), (counted(999, "task"), "999 tasks")):
            self.assertEqual(text, expected)

    def test_arrivals_are_one_of_three_patterns(self):
        for text, name, within in (
                ("together", "together", 0), ("ordered", "ordered", 0),
                ("jittered:5ms", "jittered", 5_000_000), ("jittered:250us", "jittered", 250_000),
                ("jittered:10s", "jittered", 10**10)):
            self.assertEqual(workloads.arrivals(text),
                             {"arrivals": name, "arrivals_within_ns": within})

    def test_other_arrivals_are_refused(self):
        for text in ("", "apart", "jittered", "jittered:", "jittered:5", "jittered:0ms",
                     "jittered:-1ms", "jittered:11s", "jittered:5 ms", "jittered:5msx"):
            with self.assertRaises(argparse.ArgumentTypeError):
                workloads.arrivals(text)

    def test_more_sessions_than_tasks_are_refused(self):
        with self.assertRaises(BenchError) as refused:
            workloads.Population.of(argparse.Namespace(tasks=2, sessions=3))
        self.assertEqual(refused.exception.code, USAGE)

    def test_the_coordinators_own_lateness_is_reported_too(self):
        seen = {"ended": 3, "early": 0, "early_by_max_ns": 0, "own_lateness_p99_ns": 120_000,
                "own_lateness_max_ns": 3_000_000, "deadlines_answered": 20_000}
        text, figures, is_good = workloads.told_of_deadlines(dict(seen))
        self.assertTrue(is_good)
        self.assertIn("120 us", text)
        self.assertEqual(figures, {k: v for k, v in seen.items() if k != "ended"})

    def test_answers_before_their_deadline_are_a_failure(self):
        text, _, is_good = workloads.told_of_deadlines(
            {"ended": 3, "early": 1, "early_by_max_ns": 1, "own_lateness_p99_ns": 0,
             "own_lateness_max_ns": 0, "deadlines_answered": 3})
        self.assertFalse(is_good)
        self.assertIn("TOO EARLY: 1 of 3 barriers", text)


if __name__ == "__main__":
    unittest.main()
