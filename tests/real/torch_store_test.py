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


class TorchStore(WithRealJobs):

    python = None

    def program(self, name):
        served = self.serve(1)
        environment = {"PYTHONPATH": str(PACKAGE), "TORCH_CPP_LOG_LEVEL": "ERROR",
                       "COXSWAIN_SLOWNESS": os.environ.get("COXSWAIN_SLOWNESS", "1")}
        program = self.spawn(self.python, HERE / "programs" / f"torch_store_{name}.py", served.addresses[0],
                             env=environment)
        return served, program

    def test_every_call_is_as_at_a_tcp_store(self):
        _, compared = self.program("table")

        self.assertEqual(compared.wait(), 0, compared.said())
        self.assertRegex(compared.out, r"\d\d rows compared, 0 differ")

    def test_every_call_has_a_limit_when_the_coordinator_is_gone(self):
        served, program = self.program("gone")
        program.line("joined")

        served.end()
        program.signal(signal.SIGUSR1)

        self.assertEqual(program.wait(), 0, program.said())
        told = re.findall(r"(?m)^(.*): ([\d.]+) told$", program.out)
        self.assertEqual(len(told), 11 * WAYS, program.said())
        for call, after in told:
            self.assertTrue(TIMEOUT - 0.1 <= float(after) <= TIMEOUT + LATE * SLOWNESS, f"{call}: {after} s")


if __name__ == "__main__":
    TorchStore.python = python_of(sys.argv.pop(1))
    unittest.main()
