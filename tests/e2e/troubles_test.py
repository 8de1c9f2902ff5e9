"""tools/examples/troubles: what `coxswain why` says of each of the eight jobs in its first line."""

import os
import pathlib
import re
import signal
import time
import unittest

from programs import EndToEnd, LIMIT, PATH

TROUBLES = pathlib.Path(__file__).resolve().parents[2] / "tools/examples/troubles"
PYTHON = os.environ["COXSWAIN_PYTHON"]

HEADLINES = {
    "missing": r"Waiting for task 5: 7 of 8 have been at barrier 'step' for \d+ s \(times out in \d:\d\d\)",
    "deadlock": r"Deadlock: tasks 0-7 are blocked on each other: task 0 waits for lock 'weights' for task 1, .*",
    "slow-host": r"Slow: waits for node01 \(tasks 2-3\) 0\.\d s of each \d(\.\d)? s step",
    "killed": r"Failed at \d\d:\d\d:\d\d: task 3 was killed by signal 11 \(SIGSEGV\)",
    "out-of-memory": r"Failed at \d\d:\d\d:\d\d: task 3 was killed by signal 9 \(SIGKILL\) \(out of memory\? "
                     r"on \S+: dmesg \| grep -i oom\)",
    "frozen": r"Waiting for task 3: 7 of 8 have been at barrier 'step' for \d+ s \(times out in \d:\d\d\)",
    "gathering": r"Gathering: the first epoch needs 4 processes, 2 wait \((b0, b1|b1, b0)\)",
    "coordinator-gone": r"nothing listens at .*",
}


class Troubles(EndToEnd):

    at = {}

    def why(self, expected):
        """Until it says this."""
        end = time.monotonic() + LIMIT
        while True:
            said = self.coxswain("why")
            lines = re.sub(r"^coxswain why: ", "", said.err) + said.out
            first = lines.splitlines()[0] if lines else ""
            if re.fullmatch(expected, first):
                return lines
            self.assertLess(time.monotonic(), end, f"{expected} is not the first line of:\n{lines}")
            time.sleep(0.2)

    def test_why_says_what_is_wrong(self):
        for name, headline in HEADLINES.items():
            with self.subTest(name):
                job = self.start(TROUBLES, name, env=PATH | {"PYTHONPATH": PYTHON})
                self.wait_for_job(name)

                lines = self.why(headline)

                if name == "coordinator-gone":
                    self.assertRegex(lines, "the last one, 'coordinator-gone', ended at .*: its coordinator was killed")
                job.signal(signal.SIGINT)
                job.wait()
                self.doCleanups()
                self.setUp()

    def wait_for_job(self, name):
        end = time.monotonic() + LIMIT
        while name not in self.coxswain("jobs").out:
            self.assertLess(time.monotonic(), end, f"{name} does not begin")


if __name__ == "__main__":
    unittest.main()
