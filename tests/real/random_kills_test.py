"""A fault tolerant JAX job whose processes are killed and started again.
random_kills_test.py jax-VERSION [unittest's arguments]

COXSWAIN_KILLS says how many random kills there are, 5 if it is not set, and COXSWAIN_SEED repeats them.
"""

import os
import random
import sys
import unittest

from harness import TASKS, Job, python_of
from jax_case import ALL, HERE, JaxCase
from restart_test import WithJournal

KILLS = int(os.environ.get("COXSWAIN_KILLS", "5"))
SEED = int(os.environ.get("COXSWAIN_SEED", random.randrange(1 << 32)))

VICTIMS = [*ALL, "coordinator"]


class RandomKills(WithJournal, JaxCase):

    def start_job(self, address):
        self.address, self.stop_file = address, self.directory / "stop"
        self.job = Job("recoverable", TASKS, [self.process(task) for task in ALL], [])
        self.await_live(ALL, ALL)

    def process(self, task):
        command = [self.python, "-B", HERE / "programs" / "job.py", "recoverable"]
        env = {"JAX_PLATFORMS": "cpu", "PYTHONUNBUFFERED": "1", "STOP": str(self.stop_file)}
        return self.jax_task(self.address, task, command, env)

    def await_live(self, tasks, live):
        """Until the last set that each of these processes has seen is this one."""
        for task in tasks:
            process = self.job.programs[task]
            process.until(lambda lines: lines and lines[-1].endswith(str(live)), f"live {task} {process.pid} ")

    def kill_process(self, task):
        self.job.programs[task].end()

    def begin_again(self, task):
        self.job.programs[task] = self.process(task)

    def stop_job(self):
        self.stop_file.touch()
        self.assertEqual(self.job.wait(), [0] * TASKS, self.job.said())

    def test_the_job_goes_on_after_each_kill(self):
        print(f"COXSWAIN_SEED={SEED}")
        dice = random.Random(SEED)
        coordinator = self.serve_journal(TASKS, "--recoverable")
        self.start_job(self.relay(coordinator).address)
        for _ in range(KILLS):
            victim = dice.choice(VICTIMS)
            if victim == "coordinator":
                coordinator.end()
                coordinator = self.serve_journal(TASKS, "--recoverable")
                continue
            self.kill_process(victim)
            if dice.random() < 0.5:  # else it is back before all know
                others = [task for task in ALL if task != victim]
                self.await_live(others, others)
            self.begin_again(victim)
            self.await_live(ALL, ALL)
        self.stop_job()


if __name__ == "__main__":
    JaxCase.python = python_of(sys.argv.pop(1))
    unittest.main()
