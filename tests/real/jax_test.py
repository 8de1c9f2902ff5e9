"""Real JAX and Orbax: programs as users write them, in each way in which a job is started.
jax_test.py jax-VERSION [unittest's arguments]
"""

import pathlib
import re
import sys
import unittest

from harness import LIMIT, TASKS, WAYS, WithRealJobs, python_of

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = "collective", "client", "live", "checkpoint", "preemption", "killed"


class Jax(WithRealJobs):

    def jax_job(self, way, *programs, **how):
        command = [PYTHON, "-B", HERE / "programs" / "job.py", *programs]
        return self.job(way, command, env={"CHECKPOINTS": str(self.directory / "checkpoints")}, **how)


if __name__ == "__main__":
    PYTHON = python_of(sys.argv.pop(1))
    unittest.main()
