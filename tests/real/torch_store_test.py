"""coxswain.Store as torch's store, compared with torch's TCPStore and without its coordinator.
torch_store_test.py torch-VERSION [unittest's arguments]
"""

import os
import re
import signal
import sys
import unittest

from harness import HERE, SLOWNESS, WithRealJobs, python_of
from torchrun_nodes import PACKAGE

WAYS = 3  # direct, behind a PrefixStore, behind a PrefixStore of one
TIMEOUT, LATE = 2, 3  # s

DAMAGE = """
import torch.distributed
from coxswain import torch_extension
torch_extension.path().parent.mkdir()
torch_extension.path().write_text("no library")
print("queues" if hasattr(torch.distributed.Store, "queue_push") else "no queues")
"""


class TorchStore(WithRealJobs):

    python = None

    def torch(self, *command):
        """A program that may use an extension of its own."""
        return self.spawn(self.python, *command, env={
            "PYTHONPATH": str(PACKAGE), "TORCH_CPP_LOG_LEVEL": "ERROR", "TORCH_EXTENSIONS_DIR": str(self.directory / "t"),
            "COXSWAIN_SLOWNESS": os.environ.get("COXSWAIN_SLOWNESS", "1")})

    def program(self, name):
        served = self.serve(1)
        kind = ("store",) if name == "table" else ()
        return served, self.torch(HERE / "programs" / f"torch_store_{name}.py", *kind, served.addresses[0])

    def compare(self):
        _, compared = self.program("table")
        self.assertEqual(compared.wait(), 0, compared.output())
        self.assertRegex(compared.out, r"\d\d rows compared, 0 differ")
        return compared

    def test_every_call_is_as_at_a_tcp_store(self):
        built = self.torch("-m", "coxswain.torch_extension")
        self.assertEqual(built.wait(), 0, built.output())

        self.assertEqual(self.compare().err, "")

    def test_without_its_extension_a_prefix_store_has_no_queues(self):
        damaged = self.torch("-c", DAMAGE)
        self.assertEqual(damaged.wait(), 0, damaged.output())
        if "no queues" in damaged.out:
            self.skipTest("this torch has no queues")

        self.assertIn("queue_push, queue_pop, queue_len, list_keys do not work behind a PrefixStore", self.compare().err)

    def test_every_call_has_a_limit_when_the_coordinator_is_gone(self):
        served, program = self.program("gone")
        program.line("joined")

        served.end()
        program.signal(signal.SIGUSR1)

        self.assertEqual(program.wait(), 0, program.output())
        found = re.findall(r"(?m)^(.*): ([\d.]+) told$", program.out)
        self.assertEqual(len(found), 11 * WAYS, program.output())
        for call, after in found:
            self.assertTrue(TIMEOUT - 0.1 <= float(after) <= TIMEOUT + LATE * SLOWNESS, f"{call}: {after} s")


if __name__ == "__main__":
    TorchStore.python = python_of(sys.argv.pop(1))
    unittest.main()
