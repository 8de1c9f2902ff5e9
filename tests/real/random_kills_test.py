"""A fault tolerant JAX job whose processes, relays and coordinator are killed and started again.
random_kills_test.py jax-VERSION [unittest's arguments]

COXSWAIN_KILLS says how many random kills there are, 5 if it is not set, and COXSWAIN_SEED repeats them.
"""

import os
import random
import sys
import unittest

from harness import TASKS, Job, python_of
from jax_case import ALL, ENDED_BY_JAXLIB, HERE, JaxCase
from restart_test import WithJournal

KILLS = int(os.environ.get("COXSWAIN_KILLS", "5"))
SEED = int(os.environ.get("COXSWAIN_SEED", random.randrange(1 << 32)))

# Each has half of the processes, as on two hosts.
RELAYS = {"host0": ALL[:TASKS // 2], "host1": ALL[TASKS // 2:]}

VICTIMS = [*ALL, *RELAYS, "coordinator"]


class RandomKills(WithJournal, JaxCase):

    def start_coordinator(self):
        self.coordinator = self.serve_journal(TASKS, "--recoverable", "--relay-grace", "1s")

    def start_job(self):
        self.stop_file = self.directory / "stop"
        self.start_coordinator()
        self.relays = {name: self.relay(self.coordinator, name=name) for name in RELAYS}
        self.job = Job("recoverable", TASKS, [self.process(task) for task in ALL], [])
        self.await_live(ALL, ALL)

    def process(self, task):
        command = [self.python, "-B", HERE / "programs" / "job.py", "recoverable"]
        env = {"JAX_PLATFORMS": "cpu", "PYTHONUNBUFFERED": "1", "STOP": str(self.stop_file)}
        relay, = (relay for name, relay in self.relays.items() if task in RELAYS[name])
        return self.jax_task(relay.address, task, command, env)

    def await_live(self, tasks, live):
        """Until the last set that each of these processes has seen is this one."""
        for task in tasks:
            process = self.job.programs[task]
            process.until(lambda lines: lines and lines[-1].endswith(str(live)), f"live {task} {process.pid} ")

    def kill_one(self, victim):
        """Starts what is no process of the job again. The tasks whose processes have ended."""
        if victim == "coordinator":
            self.coordinator.end()
            self.start_coordinator()
            return []
        if victim in RELAYS:
            self.relays[victim].end()
            for task in RELAYS[victim]:
                self.assertIn(self.job.programs[task].wait(), ENDED_BY_JAXLIB)
            self.relays[victim] = self.relay(self.coordinator, name=victim)
            return RELAYS[victim]
        self.job.programs[victim].end()
        return [victim]

    def stop_job(self):
        self.stop_file.touch()
        self.assertEqual(self.job.wait(), [0] * TASKS, self.job.output())

    def test_the_job_goes_on_after_each_kill(self):
        print(f"COXSWAIN_SEED={SEED}")
        dice = random.Random(SEED)
        self.start_job()
        for _ in range(KILLS):
            ended = self.kill_one(dice.choice(VICTIMS))
            if ended and dice.random() < 0.5:  # else they are back before all know
                others = [task for task in ALL if task not in ended]
                self.await_live(others, others)
            for task in ended:
                self.job.programs[task] = self.process(task)
            if ended:
                self.await_live(ALL, ALL)
        self.stop_job()


if __name__ == "__main__":
    JaxCase.python = python_of(sys.argv.pop(1))
    unittest.main()
