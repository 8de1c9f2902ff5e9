"""The coordinator of a job of 64 processes is killed and started again at random moments.

COXSWAIN_KILLS: how many times for each durability (default 3; tools/nightly: 50). COXSWAIN_SEED: repeats
a run, but for its timing.
"""

import os
import random
import signal
import time
import unittest

from ordeal import Ordeal, PYTHON
from restart_test import WithJournal

KILLS = int(os.environ.get("COXSWAIN_KILLS", "3"))


@unittest.skipUnless(PYTHON, "the Python package is not built")
class Kills(WithJournal):

    def test_nothing_is_lost_or_done_twice(self):
        self.go_through("process")

    def test_nothing_is_lost_or_done_twice_with_a_synchronized_journal(self):
        self.go_through("disk")

    def go_through(self, durability):
        seed = int(os.environ.get("COXSWAIN_SEED", random.randrange(1 << 32)))
        print(f"{durability}: seed {seed}", flush=True)
        random.seed(seed)
        arguments = ("--keep", "--durability", durability)
        coordinator = self.serve_journal(64, *arguments)
        job = Ordeal(self, 64)
        job.await_rounds(1)

        for kill in range(KILLS):
            time.sleep(random.uniform(0, 0.5))
            if random.random() < 0.1:
                job.kill_a_task()
            if random.random() < 0.2:
                self.stop(coordinator)
            else:
                self.kill(coordinator)
            if random.random() < 0.1:
                job.kill_a_task()
            if random.random() < 0.2:
                self.kill_in_start(*arguments)
            coordinator = self.serve_journal(64, *arguments)
            if kill % 3 == 2:
                job.await_rounds(1)
        job.await_rounds(2)

        job.end()
        self.kill(coordinator)
        verified = self.run_to_end("coxswain", "journal", "verify", self.journal)
        self.assertEqual(verified.code, 0, verified.said())

    def kill_in_start(self, *arguments):
        program = self.start("coxswain", "serve", "-n", 64, "--listen", f"127.0.0.1:{self.port}",
                             "--journal", self.journal, *arguments)
        time.sleep(random.uniform(0, 0.05))
        program.signal(signal.SIGKILL)
        program.wait()


if __name__ == "__main__":
    unittest.main()
