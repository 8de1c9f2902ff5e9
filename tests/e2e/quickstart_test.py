"""coxswain-quickstart: the first job of a new user."""

import os
import re
import signal
import unittest

from programs import EndToEnd, USAGE


class Quickstart(EndToEnd):

    def test_quickstart_runs_a_whole_job(self):
        job = self.run_to_end("coxswain-quickstart", 4)

        self.assertEqual(job.code, 0, job.said())
        self.assertEqual(job.err, "")
        rows = [line for line in job.lines["out"] if re.match(r"\s+\d+ ", line)]
        self.assertEqual(len(rows), 4, job.out)
        for row in rows:
            self.assertTrue(row.endswith("ok, saw 16 devices"), row)
        self.assertRegex(job.out, r"join: [\d.]+ ms until all 4 were there")
        self.assertRegex(job.out, r"barrier: 1000 rounds, p50 \d+ us, p99 \d+ us, max \d+ us")

    def test_a_worker_that_dies_is_named(self):
        job = self.start("coxswain-quickstart", 3, "--rounds", 10**7)
        job.line("barrier rounds")
        with open(f"/proc/{job.pid}/task/{job.pid}/children", encoding="ascii") as file:
            _supervisor, _first, victim, _third = map(int, file.read().split())

        os.kill(victim, signal.SIGKILL)

        self.assertEqual(job.wait(), 128 + signal.SIGKILL, job.said())
        self.assertIn("task 1 failed: killed by signal 9 (SIGKILL)", job.out)

    def test_a_wrong_number_is_wrong_usage(self):
        self.assertEqual(self.run_to_end("coxswain-quickstart", "none").code, USAGE)
        self.assertEqual(self.run_to_end("coxswain-quickstart", "0").code, USAGE)


if __name__ == "__main__":
    unittest.main()
