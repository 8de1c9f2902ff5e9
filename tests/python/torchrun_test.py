#!/usr/bin/env python3
"""torchrun itself, with gloo on this machine: nodes are killed and join while it trains."""

import collections
import importlib.util
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import coxswain
from support import LIMIT, PythonTest, main

STEPS = 120

WORKER = """
import datetime, os, pathlib, sys, time
import torch, torch.distributed as dist
directory, steps = pathlib.Path(sys.argv[1]), int(sys.argv[2])
dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=30))
rank, world, epoch = dist.get_rank(), dist.get_world_size(), os.environ["COXSWAIN_EPOCH"]
saved = directory / "step"
step = int(saved.read_text()) if saved.exists() else 0
while step < steps:
    one = torch.ones(1)
    dist.all_reduce(one)
    with open(directory / "log", "a") as log:
        log.write(f"{epoch} {step} {rank} {world} {int(one)} {os.environ['COXSWAIN_MEMBER']}\\n")
    step += 1
    if rank == 0:
        (directory / "new").write_text(str(step))
        (directory / "new").replace(saved)
    time.sleep(0.05)
dist.destroy_process_group()
"""


@unittest.skipUnless(importlib.util.find_spec("torch"), "there is no PyTorch (tools/install_dependencies --torch)")
class Torchrun(PythonTest):
    def setUp(self):
        super().setUp()
        made = tempfile.TemporaryDirectory(prefix="coxswain-torchrun-")
        self.addCleanup(made.cleanup)
        self.directory = pathlib.Path(made.name)
        (self.directory / "train.py").write_text(WORKER)

    def serve(self, **settings):
        settings = {"last_call": 10, "come_back": 0, "reconnect_grace": 0.5, **settings}
        self.job = self.coordinator(4, job="train", elastic=True, min_tasks=2, spares=1, **settings)

    def node(self, name, steps=STEPS):
        """torchrun with one worker, in a process group of its own."""
        log = open(self.directory / f"{name}.err", "ab")
        self.addCleanup(log.close)
        made = subprocess.Popen(
            [sys.executable, "-m", "coxswain.torchrun", "--nnodes=2:4", "--nproc_per_node=1",
             "--max_restarts=1000", "--monitor_interval=0.1", "--rdzv_backend=coxswain",
             f"--rdzv_endpoint={self.job.address}", "--rdzv_id=train",
             f"--rdzv_conf=member={name},local_addr=127.0.0.1,min_epoch=0",
             self.directory / "train.py", self.directory, str(steps)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "GLOO_SOCKET_IFNAME": "lo",
                 "OMP_NUM_THREADS": "1"},
            stdout=log, stderr=log, start_new_session=True)
        self.addCleanup(self.kill, made)
        return made

    def kill(self, node):
        try:
            os.killpg(node.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        node.wait()

    def steps(self):
        """(epoch, step, rank, world, sum, member) of each."""
        log = self.directory / "log"
        if not log.exists():
            return []
        lines = log.read_text().splitlines()
        return [(*map(int, one.split()[:5]), one.split()[5]) for one in lines if one.count(" ") == 5]

    def said(self):
        return "\n".join(f"--- {one.name}\n{one.read_text()[-3000:]}" for one in self.directory.glob("*.err"))

    def await_world(self, size, after):
        """A later epoch of this size has made steps: its number."""
        deadline = time.monotonic() + 3 * LIMIT
        while time.monotonic() < deadline:
            found = [epoch for epoch, _, _, world, *_ in self.steps() if epoch > after and world == size]
            if found:
                return found[-1]
            time.sleep(0.05)
        self.fail(f"no epoch of {size} after {after}\n{self.said()}")

    def test_the_job_goes_on_while_nodes_are_killed_and_join(self):
        self.serve()
        nodes = {name: self.node(name) for name in ("n0", "n1", "n2", "n3")}
        epoch = self.await_world(4, 0)

        self.kill(nodes.pop("n2"))
        epoch = self.await_world(3, epoch)
        nodes["n4"] = self.node("n4")
        epoch = self.await_world(4, epoch)
        lead = next(member for number, _, rank, *_, member in reversed(self.steps())
                    if number == epoch and rank == 0)
        self.kill(nodes.pop(lead))
        self.await_world(3, epoch)
        for one in nodes.values():
            one.wait(3 * LIMIT)

        self.assertEqual([one.returncode for one in nodes.values()], [0] * 3, self.said())
        worlds = collections.defaultdict(set)
        for number, step, _, world, total, _ in self.steps():
            self.assertEqual(total, world)
            worlds[number, step].add(world)
        self.assertTrue(all(len(one) == 1 for one in worlds.values()), worlds)
        self.assertEqual(max(step for _, step in worlds), STEPS - 1)
        first = {}
        for number, step in sorted(worlds):
            first.setdefault(number, step)
        ends = {number: max(step for other, step in worlds if other == number) for number in first}
        for before, after in zip(sorted(first), sorted(first)[1:]):
            self.assertGreaterEqual(first[after], ends[before])  # at most the step that was not saved

    def test_a_node_that_is_stopped_for_too_long_is_lost_and_joins_again(self):
        self.serve(heartbeat_timeout=3, last_call=2)
        nodes = {name: self.node(name, 100000) for name in ("n0", "n1", "n2")}
        epoch = self.await_world(3, 0)

        os.killpg(nodes["n1"].pid, signal.SIGSTOP)

        epoch = self.await_world(2, epoch)
        os.killpg(nodes["n1"].pid, signal.SIGCONT)
        self.await_world(3, epoch)


if __name__ == "__main__":
    main()
