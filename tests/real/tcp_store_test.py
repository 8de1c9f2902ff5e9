"""Real torch finds its peers through the coordinator, which speaks the protocol of its TCPStore.
tcp_store_test.py torch-VERSION [unittest's arguments]
"""

import sys
import unittest

from harness import HERE, TASKS, WithRealJobs, python_of

TORCH = {"GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}


class TcpStore(WithRealJobs):

    python = None

    def program(self, name, *arguments):
        return [self.python, HERE / "programs" / f"tcp_store_{name}.py", *arguments]

    def run_of(self, *options, arguments=()):
        command = self.program("training", *arguments)
        return self.spawn("coxswain", "run", "-n", TASKS, *options, "--", *command, env=TORCH)

    def assert_all_trained(self, lines):
        self.assertEqual(sorted(line.partition("trained ")[2] for line in lines if "trained " in line),
                         [f"{rank} of {TASKS}" for rank in range(TASKS)])

    def test_every_method_is_as_at_torchs_own_server(self):
        served = self.serve(1)

        compared = self.spawn(*self.program("methods", served.addresses[0]), env=TORCH)

        self.assertEqual(compared.wait(), 0, compared.said())
        self.assertRegex(compared.out, r"\d\d calls compared, 0 differ")

    def test_run_needs_no_line_of_code(self):
        job = self.run_of()

        self.assertEqual(job.wait(), 0, job.said())
        self.assert_all_trained(job.lines["out"])

    def test_a_relay_carries_its_clients(self):
        job = self.run_of("--insecure", "--relay")

        self.assertEqual(job.wait(), 0, job.said())
        self.assert_all_trained(job.lines["out"])

    def test_task_needs_no_line_of_code(self):
        served = self.serve(TASKS)

        tasks = [self.spawn("coxswain", "task", "--task-id", rank, "--", *self.program("training"),
                            env=TORCH | {"COXSWAIN_ADDRESS": served.addresses[0]})
                 for rank in range(TASKS)]

        self.assertEqual([task.wait() for task in tasks], [0] * TASKS, tasks[0].said())
        self.assert_all_trained([line for task in tasks for line in task.lines["out"]])

    def test_processes_that_wait_for_one_that_ended_are_told_at_once(self):
        job = self.run_of(arguments=("1",))

        self.assertEqual(job.wait(), 7, job.said())
        # One may wait for a connection of gloo's instead, until `run` ends it.
        self.assertIn("told after", job.out)


if __name__ == "__main__":
    TcpStore.python = python_of(sys.argv.pop(1))
    unittest.main()
