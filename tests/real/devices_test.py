"""A process of a recoverable JAX job is started again with another number of devices: it ends with an error, the
others go on, and the next process has the right number.
devices_test.py jax-VERSION [unittest's arguments]
"""

import signal
import sys
import unittest

from harness import TASKS, python_of
from jax_case import ALL, HERE, LAST, JaxCase

# Of jaxlib from 0.5.3 on, and of the coordinator.
ERRORS = "Different local topology", "had other devices: 1, this one has 2. Start it with the same devices"


class Devices(JaxCase):

    def start_process(self, task, devices=1):
        env = {"JAX_PLATFORMS": "cpu", "PYTHONUNBUFFERED": "1", "STOP": str(self.stop_file),
               "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}"}
        command = [self.python, "-B", HERE / "programs" / "job.py", "devices"]
        self.processes[task] = self.jax_task(self.coordinator.addresses[0], task, command, env)

    def kill(self, task):
        self.processes[task].signal(signal.SIGKILL)
        self.processes[task].wait()
        self.wait_for_status(f"task {task} failed", lambda s: s["tasks"][task]["state"] == "failed")

    def devices_of(self, task):
        words = f"sees {task} "
        return self.processes[task].line(words).removeprefix(words)

    def assert_same_devices(self, tasks):
        for task in tasks:
            self.assertEqual(self.devices_of(task), self.devices)

    def test_a_process_that_returns_needs_the_same_devices(self):
        self.stop_file = self.directory / "stop"
        self.coordinator = self.serve(TASKS, "--recoverable")
        self.processes = {}
        for task in ALL:
            self.start_process(task)
        self.devices = self.devices_of(0)
        self.assert_same_devices(ALL)

        for task in (LAST, 0):
            self.kill(task)
            self.start_process(task, devices=2)
            self.assertNotEqual(self.processes[task].wait(), 0)
            given = self.processes[task].output()
            self.assertTrue(any(error in given for error in ERRORS), given)

            self.start_process(task)
            self.assert_same_devices([task])
        for task in (1, 0):
            self.kill(task)
            self.start_process(task)
            self.assert_same_devices([task])

        self.stop_file.touch()
        for task in ALL:
            self.assertEqual(self.processes[task].wait(), 0, self.processes[task].output())


if __name__ == "__main__":
    JaxCase.python = python_of(sys.argv.pop(1))
    unittest.main()
