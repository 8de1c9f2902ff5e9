#!/usr/bin/env python3
"""Tests bench/driver: its statistics, texts and tables, without any measurement."""

import argparse
import unittest

from driver import workloads
from driver.figures import Histogram, figure_text, median, median_interval
from driver.machine import BenchError
from driver.rows import ROWS, tables


class Figures(unittest.TestCase):
    def test_percentiles_are_the_nearest_rank_over_all_histograms(self):
        h = Histogram(*({"max": last, "times": [n for t in range(first, last + 1) for n in (t, 1)]}
                        for first, last in ((1, 50), (51, 100))))
        self.assertEqual(h.count(), 100)
        for share, expected in ((0, 1), (0.5, 50), (0.99, 99), (0.991, 100), (1, 100)):
            self.assertEqual(h.percentile(share), expected)

    def test_no_percentile_exceeds_the_maximum(self):
        h = Histogram({"max": 123_456_789, "times": [123_456_800.5, 1]})
        self.assertEqual(h.percentile(0.5), 123_456_789)
        self.assertEqual(Histogram().percentile(0.5), 0)

    def test_median_interval_lies_between_two_ranks(self):
        # Those of the tables for the sign test: 15 values give ranks 4 and 12 (96.5 %).
        for n, low, high in ((15, 4, 12), (6, 1, 6), (3, 1, 3), (1, 1, 1)):
            self.assertEqual(median_interval(list(range(n, 0, -1))), (low, high))
        self.assertEqual((median([3, 1, 2]), median([4, 1, 3, 2]), median([])), (2, 2.5, 0))

    def test_figures_have_three_digits_and_their_unit(self):
        for key, value, text in (
                ("release_ns.p50", 850, "850 ns"), ("release_ns.max", 14_300_000, "14.3 ms"),
                ("release_ns.count", 1_500, "1,500"), ("server_bytes", 1536, "1.50 KiB"), ("rate_per_s", 12_345.4, "12,345"),
                ("load_share", 0.57, "57%"), ("server_bytes_per_task", None, "unknown")):
            self.assertEqual(figure_text(key, value), text)


class Workloads(unittest.TestCase):
    def test_more_sessions_than_tasks_are_refused(self):
        with self.assertRaises(BenchError):
            workloads.barrier(argparse.Namespace(tasks=2, sessions=3))


class Tables(unittest.TestCase):
    def lines(self, p50_ratio=1.05, busy=False):
        side = {"latency_ns": {"p50": 5e4, "p99": 6e4, "p99_9": 7e4, "max": 8e4}, "rate_per_s": 2e4,
                "server_cpu_ns_per_operation": 9e3, "load_share": 0.5}
        text, all_met = tables({"kv": {
            "machine": "M", "program": "P", "day": "2026-01-02", "coxswain": side, "baseline": side,
            **{f"{key}_ratio{end}": p50_ratio for key in ("p50", "server_cpu") for end in ("", "_low", "_high")},
            "disturbed": {"is_too_much": busy}}})
        self.assertFalse(all_met)  # the other rows are not measured
        return text.splitlines()

    def test_a_target_is_met_at_its_limit_but_not_above(self):
        for ratio, met in ((1.05, "yes"), (1.051, "**no**")):
            self.assertIn(f"| kv | round trip of a get | at most 1.05 x | 1.05 x | [{ratio:.3f}, {ratio:.3f}] "
                          f"| {met} |", self.lines(ratio))

    def test_busy_and_missing_rows_are_marked_and_both_sides_have_figures(self):
        lines = self.lines(busy=True)
        self.assertTrue(any(line.startswith("| kv |") and "(busy machine)" in line for line in lines))
        self.assertTrue(any(line.startswith("| heartbeat |") and "not measured" in line for line in lines))
        self.assertIn("| kv | baseline | 50 | 60 | 70 | 80 | 20,000 | 9,000 |  | 50% |", lines)
        self.assertTrue(all(targets for _, targets in ROWS.values()))


if __name__ == "__main__":
    unittest.main()
