"""Real JAX behind a relay, or real torch with a coxswain.Store, trains while coordinators are killed.
faults_test.py jax-VERSION|torch-VERSION [unittest's arguments]

COXSWAIN_KILLS says how often, 20 if it is not set.
"""

import os
import signal
import sys
import unittest

from harness import TASKS, Job, python_of
from jax_case import ALL, HERE, JaxCase
from restart_test import WithJournal
from standby_test import WithStandby

sys.path.insert(0, str(HERE / "programs"))
from training import weights_after  # noqa: E402

KILLS = int(os.environ.get("COXSWAIN_KILLS", "20"))


class Training(JaxCase):

    framework = None

    def train(self, coordinator):
        self.stop_file = self.directory / "stop"
        env = {"PYTHONUNBUFFERED": "1", "STOP": str(self.stop_file)}
        start = getattr(self, f"start_{self.framework}")
        job = Job("faults", TASKS, *start(coordinator, env))
        self.addCleanup(job.end)
        self.wait_for_checkpoints(job, 1)
        return job

    def start_jax(self, coordinator, env):
        """Its processes, behind one relay, and the relay."""
        relay = self.relay(coordinator)
        command = [self.python, "-B", HERE / "programs" / "job.py", "training"]
        env = env | {"JAX_PLATFORMS": "cpu"}
        return [self.jax_task(relay.address, task, command, env) for task in ALL], [relay]

    def start_torch(self, coordinator, env):
        """Its processes, each with a connection of its own."""
        env = env | {"COXSWAIN_ADDRESS": ",".join(coordinator.addresses), "COXSWAIN_NUM_TASKS": str(TASKS),
                     "PYTHONPATH": os.environ["COXSWAIN_PYTHON"], "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
        return [self.spawn(self.python, "-B", HERE / "programs" / "store_training.py",
                           env=env | {"COXSWAIN_TASK_ID": str(task)}) for task in ALL], []

    def wait_for_checkpoints(self, job, count):
        """Of all processes, from now on."""
        so_far = sum("checkpoint " in line for line in job.lines)
        job.wait_for(so_far + count * TASKS, "checkpoint ")

    def assert_trained(self, job):
        self.stop_file.touch()
        self.assertEqual(job.wait(), [0] * TASKS, job.output())
        done = {line.partition("steps ")[2] for line in job.lines if line.startswith("passed training")}
        self.assertEqual(len(done), 1, job.output())
        steps, _, weights = done.pop().split()
        self.assertEqual(float(weights), round(weights_after(int(steps), TASKS), 3))


class Restarts(WithJournal, Training):

    def test_training_goes_on_while_the_coordinator_is_killed(self):
        coordinator = self.serve_journal(TASKS)
        job = self.train(coordinator)
        for _ in range(KILLS):
            self.kill(coordinator)
            coordinator = self.serve_journal(TASKS)
            self.wait_for_checkpoints(job, 2)

        self.assert_trained(job)


class OnEtcd(WithStandby, Training):

    def test_training_goes_on_when_a_standby_takes_over(self):
        leader, standby = self.pair(tasks=TASKS)
        leader.addresses = self.at["COXSWAIN_ADDRESS"].split(",")
        job = self.train(leader)
        leader.signal(signal.SIGKILL)
        standby.line('"ready"')
        self.wait_for_checkpoints(job, 2)

        self.assert_trained(job)


if __name__ == "__main__":
    name = sys.argv.pop(1)
    Training.python, Training.framework = python_of(name), name.partition("-")[0]
    unittest.main()
