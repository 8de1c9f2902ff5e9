#!/usr/bin/env python3
"""Tests bench/measure: its evaluation of given results, without measurements."""

import importlib.machinery
import importlib.util
import pathlib
import tempfile
import unittest

PATH = pathlib.Path(__file__).resolve().parent / "measure"
LOADER = importlib.machinery.SourceFileLoader("measure", str(PATH))
SPEC = importlib.util.spec_from_loader("measure", LOADER)
measure = importlib.util.module_from_spec(SPEC)
LOADER.exec_module(measure)


def results(p50_ratio=1.1, busy=False):
    side = {"latency_ns": {"p50": 5e4, "p99": 6e4, "p99_9": 7e4, "max": 8e4}, "rate_per_s": 2e4,
            "server_cpu_ns_per_operation": 9e3, "load_share": 0.5}
    return {"kv": {"machine": "M", "program": "P", "day": "2026-01-02", "p50_ratio": p50_ratio,
                   "p50_ratio_low": 1.05, "p50_ratio_high": 1.15, "coxswain": side, "baseline": side,
                   "disturbed": {"is_too_much": busy}}}


def line_of(text, begin):
    return next(line for line in text.splitlines() if line.startswith(begin))


class Measure(unittest.TestCase):
    def test_each_run_has_a_unique_name_and_a_target(self):
        names = [run.name for run in measure.RUNS]
        self.assertEqual(len(names), len(set(names)))
        self.assertTrue(all(run.targets for run in measure.RUNS))

    def test_a_target_is_met_at_its_limit_but_not_above(self):
        for ratio, met in ((1.05, "yes"), (1.051, "**no**")):
            text, _ = measure.tables(results(ratio))
            self.assertIn(f"| {ratio:.2f} x | [1.050, 1.150] | {met} |", line_of(text, "| kv |"))

    def test_figures_of_a_busy_machine_are_marked(self):
        text, _ = measure.tables(results(busy=True))
        self.assertIn("busy machine", line_of(text, "| kv |"))

    def test_an_unmeasured_target_is_not_met(self):
        text, all_met = measure.tables(results())
        self.assertFalse(all_met)
        self.assertIn("not measured", line_of(text, "| heartbeat |"))

    def test_both_sides_have_a_row_of_figures(self):
        text, _ = measure.tables(results())
        self.assertIn("| kv | baseline | 50 | 60 | 70 | 80 | 20,000 | 9,000 |  | 50% |", text)
        self.assertIn("| kv | coxswain | 50 |", text)

    def test_only_the_text_between_the_marks_is_replaced(self):
        with tempfile.TemporaryDirectory() as directory:
            report = pathlib.Path(directory) / "r.md"
            report.write_text(f"a\n{measure.BEGIN}\nold\n{measure.END}\nb\n", encoding="utf-8")
            measure.write_tables("new", report)
            self.assertEqual(report.read_text(encoding="utf-8"),
                             f"a\n{measure.BEGIN}\n\nnew\n\n{measure.END}\nb\n")


if __name__ == "__main__":
    unittest.main()
