#!/usr/bin/env python3
"""``python3 -m coxswain.torchrun`` with the torch of the distribution, which may be too old to find the
backend by itself. Not here: nodes that are killed and join (tests/real)."""

import importlib.metadata
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from support import LIMIT, PythonTest, main

WORKER = """
import datetime, os, pathlib, sys
import torch, torch.distributed as dist
dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=30))
total = torch.ones(1)
dist.all_reduce(total)
made = pathlib.Path(sys.argv[1]) / f"rank-{dist.get_rank()}"
made.write_text(f"{int(total)} {dist.get_world_size()} {os.environ['COXSWAIN_EPOCH']}")
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

    @staticmethod
    def local_address(conf):
        is_old = importlib.metadata.version("torch").startswith("1.")
        return [f"{conf},local_addr=127.0.0.1"] if is_old else [conf, "--local-addr=127.0.0.1"]

    def node(self, name):
        made = subprocess.Popen(
            [sys.executable, "-m", "coxswain.torchrun", "--nnodes=2", "--nproc_per_node=1",
             "--rdzv_backend=coxswain", f"--rdzv_endpoint={self.job.address}", "--rdzv_id=train",
             *self.local_address(f"--rdzv_conf=member={name}"), self.directory / "train.py", self.directory],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "GLOO_SOCKET_IFNAME": "lo",
                 "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(made.kill)
        return made

    def test_two_nodes_are_one_world(self):
        self.job = self.coordinator(2, job="train", elastic=True, min_tasks=2)
        nodes = [self.node(name) for name in ("n0", "n1")]

        texts = [one.communicate(timeout=3 * LIMIT)[0] for one in nodes]

        self.assertEqual([one.returncode for one in nodes], [0, 0], texts)
        made = {one.name: one.read_text() for one in self.directory.glob("rank-*")}
        self.assertEqual(made, {"rank-0": "2 2 1", "rank-1": "2 2 1"})
        self.assertIn("epoch 1 begins with 2 of 2 nodes", texts[0])


if __name__ == "__main__":
    main()
