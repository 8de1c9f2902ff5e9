"""Real torch finds its peers through the coordinator, which speaks the protocol of its TCPStore.
tcp_store_test.py torch-VERSION [unittest's arguments]
"""

import os
import sys
import unittest

from faults_test import Training
from harness import HERE, SLOWNESS, TASKS, WithRealJobs, free_port, python_of
from restart_test import WithJournal
from torchrun_nodes import PACKAGE

TORCH = {"GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}

KILLS = int(os.environ.get("COXSWAIN_KILLS", "5"))


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

        compared = self.spawn(self.python, HERE / "programs" / "torch_store_table.py", "tcp_store", served.addresses[0],
                              env=TORCH | {"PYTHONPATH": str(PACKAGE), "TORCH_CPP_LOG_LEVEL": "ERROR",
                                           "COXSWAIN_SLOWNESS": str(SLOWNESS)})

        self.assertEqual(compared.wait(), 0, compared.output())
        self.assertRegex(compared.out, r"\d\d rows compared, 0 differ")

    def test_run_needs_no_line_of_code(self):
        job = self.run_of()

        self.assertEqual(job.wait(), 0, job.output())
        self.assert_all_trained(job.lines["out"])

    def test_a_relay_serves_them(self):
        for options in ((), ("--insecure",)):
            job = self.run_of("--relay", *options)

            self.assertEqual(job.wait(), 0, job.output())
            self.assert_all_trained(job.lines["out"])

    def test_task_needs_no_line_of_code(self):
        served = self.serve(TASKS)

        tasks = [self.spawn("coxswain", "task", "--task-id", rank, "--", *self.program("training"),
                            env=TORCH | {"COXSWAIN_ADDRESS": served.addresses[0]})
                 for rank in range(TASKS)]

        self.assertEqual([task.wait() for task in tasks], [0] * TASKS, tasks[0].output())
        self.assert_all_trained([line for task in tasks for line in task.lines["out"]])

    def test_a_job_with_a_token_needs_relays(self):
        env = TORCH | {"COXSWAIN_ADDRESS": f"127.0.0.1:{free_port()}", "COXSWAIN_TOKEN": "secret"}
        tasks = [self.spawn("coxswain", "task", "--host-if-task-0", "--relay", "--task-id", rank, "--num-tasks",
                            TASKS, "--", *self.program("training"), env=env) for rank in range(TASKS)]

        self.assertEqual([task.wait() for task in tasks], [0] * TASKS, [task.output() for task in tasks])
        self.assert_all_trained([line for task in tasks for line in task.lines["out"]])

    def test_processes_that_wait_for_one_that_ended_are_notified_at_once(self):
        job = self.run_of(arguments=("1",))

        self.assertEqual(job.wait(), 7, job.output())
        # One may wait for a connection of gloo's instead, until `run` ends it.
        self.assertIn("told after", job.out)


class Restarts(WithJournal, Training):

    framework = "behind_relay"

    def start_behind_relay(self, coordinator, env):
        """Its processes, which share a relay. The job has a token, which they cannot send."""
        env = env | TORCH | {"COXSWAIN_ADDRESS": coordinator.addresses[0], "COXSWAIN_TOKEN": "secret"}
        return [self.spawn("coxswain", "task", "--relay", "--task-id", task, "--", self.python, "-B",
                           HERE / "programs" / "tcp_store_faults.py", env=env)
                for task in range(TASKS)], []

    def serve_with_token(self):
        return self.serve_journal(TASKS, "--token-file", self.token)

    def test_programs_behind_a_relay_survive_the_coordinator(self):
        self.token = self.directory / "token"
        self.token.touch(mode=0o600)
        self.token.write_text("secret")
        coordinator = self.serve_with_token()
        job = self.train(coordinator)
        for _ in range(KILLS):
            self.kill(coordinator)
            coordinator = self.serve_with_token()
            self.wait_for_checkpoints(job, 2)

        self.assert_trained(job)


if __name__ == "__main__":
    TcpStore.python = Training.python = python_of(sys.argv.pop(1))
    unittest.main()
