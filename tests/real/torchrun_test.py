#!/usr/bin/env python3
"""An unmodified torchrun on several nodes: workers, nodes and the coordinator are killed, nodes come late,
are replaced and wait as spares. torchrun_test.py torch-VERSION [unittest's arguments]
"""

import os
import signal
import sys
import time
import unittest

from harness import python_of
from torchrun_nodes import Job

# From SIGKILL of torchrun to the first step of the others; far less than a last call.
SHRINK_MAX = 12


class TorchrunCase(unittest.TestCase):
    def job(self, **settings):
        job = Job(self.python, **settings)
        self.addCleanup(job.close)
        return job


class Torchrun(TorchrunCase):
    def assert_all_summed(self, job):
        for one in job.steps():
            self.assertEqual(one.total, one.world)

    def test_two_nodes_with_two_workers_each(self):
        job = self.job()
        job.serve("--min-tasks", 2, "--num-tasks", 2)
        for name in ("node0", "node1"):
            job.start(name, 2, workers=2)
        job.first_step(4)

        self.assertEqual(job.stop(), {"node0": 0, "node1": 0}, job.texts())
        self.assert_all_summed(job)
        self.assertEqual({one.rank for one in job.steps()}, {0, 1, 2, 3})

    def test_a_node_without_restarts_left_ends_the_job(self):
        job = self.job()
        job.serve("--min-tasks", 2, "--num-tasks", 2)
        (job.directory / "fails-node1").touch()
        for name in ("node0", "node1"):
            job.start(name, 2, "--max-restarts=1")

        self.assertEqual(job.ends(), {"node0": 1, "node1": 1}, job.texts())
        self.assertRegex(job.terminal("node0") + job.terminal("node1"), "node node[01] has failed")

    def test_whatever_is_killed_the_others_go_on(self):
        job = self.job()
        options = ["--min-tasks", 1, "--num-tasks", 2, "--spares", 1, "--last-call", "1s", "--journal",
                   job.directory / "journal"]
        job.serve(*options)

        def start(name):
            job.start(name, "1:2", "--max-restarts=100", conf="min_epoch=0")

        start("node0")
        alone = job.first_step(1)
        start("node1")  # a late one
        both = job.first_step(2, alone.at)
        self.assertGreater(both.epoch, alone.epoch)

        at = time.monotonic()
        os.kill(job.worker("node1"), signal.SIGKILL)
        job.first_step(2, at)

        job.coordinator.kill()
        job.coordinator.wait()
        at = time.monotonic()
        job.serve(*options)
        start("node2")
        job.await_text("node2", "this node is a spare")
        steps = [one for one in job.steps() if one.at > at]
        self.assertEqual(len({one.epoch for one in steps}), 1, job.texts())

        at = job.kill("node1")
        replaced = job.first_step(2, at)
        self.assertLess(replaced.at - at, SHRINK_MAX)
        job.await_text("node0", "epoch 4 begins with 2 of 2 nodes")
        self.assertRegex(job.terminal("node0"), r"task 1 \(node1\) failed: .*: epoch 4 begins with 2 of 2 nodes")

        at = job.kill("node0")
        alone = job.first_step(1, at)
        self.assertLess(alone.at - at, SHRINK_MAX)
        self.assertEqual(alone.node, "node2")
        job.await_text("node2", "epoch 5 begins with 1 of 2 nodes")
        self.assertRegex(job.terminal("node2"), r"task 0 \(node0\) failed: ")

        start("node0")
        job.first_step(2, time.monotonic())
        self.assertEqual(job.stop(), {"node0": 0, "node2": 0}, job.texts())
        self.assert_all_summed(job)


class TorchrunFaults(TorchrunCase):
    def start_two(self):
        job = self.job()
        job.serve("--min-tasks", 1, "--num-tasks", 2, "--heartbeat-timeout", "3s")
        for name in ("node0", "node1"):
            job.start(name, "1:2", "--max-restarts=100", conf="min_epoch=0")
        job.first_step(2)
        return job

    def test_a_node_that_is_stopped_for_too_long_is_lost_and_joins_again(self):
        job = self.start_two()
        at = time.monotonic()
        job.nodes["node1"].send_signal(signal.SIGSTOP)

        alone = job.first_step(1, at)
        self.assertEqual(alone.node, "node0")
        at = time.monotonic()
        job.nodes["node1"].send_signal(signal.SIGCONT)
        job.first_step(2, at)
        self.assertEqual(job.stop(), {"node0": 0, "node1": 0}, job.texts())

    def test_a_node_whose_network_is_gone_is_lost(self):
        job = self.start_two()
        if job.network.head is None:
            self.skipTest(job.network.why_not)
        at = time.monotonic()
        job.network.cut(job.places["node1"][0])

        alone = job.first_step(1, at)
        self.assertEqual(alone.node, "node0")
        job.await_text("node0", "epoch 2 begins with 1 of 2 nodes")

    def test_torchrun_at_relays_is_lost_without_a_grace(self):
        job = self.job(with_relays=True)
        job.serve("--min-tasks", 1, "--num-tasks", 2, "--reconnect-grace", "600s")
        for name in ("node0", "node1"):
            job.start(name, "1:2", "--max-restarts=100")
        job.first_step(2)

        at = job.kill("node1")

        job.first_step(1, at)
        self.assertIn("ended without leaving: epoch 2 begins with 1 of 2 nodes", job.terminal("node0"))


if __name__ == "__main__":
    TorchrunCase.python = python_of(sys.argv.pop(1))
    unittest.main()
