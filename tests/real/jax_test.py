"""Real JAX and Orbax: the programs of programs/ in each way in which a job is started.
jax_test.py jax-VERSION [unittest's arguments]
"""

import sys
import unittest

from harness import WAYS, python_of
from jax_case import ALL, PROGRAMS, JaxCase


class Jax(JaxCase):

    def check(self, way):
        job = self.jax_job(way, *PROGRAMS, "killed")
        codes = job.wait()
        for program in PROGRAMS:
            self.assert_passed(job, program)
        self.assert_agreed_on_preemption(job)
        self.assert_notified_of_the_killed(job)
        self.assert_codes_after_a_kill(job, codes)

    def check_that_all_leave(self, way):
        job = self.jax_job(way, "collective")
        codes = job.wait()
        self.assertEqual(set(codes), {0}, job.output())
        self.assertEqual(job.tasks_with("left "), ALL, job.output())

    def check_absent(self, way):
        job = self.jax_job(way, "absent")
        self.assert_absent_is_named(job)


def add_tests():
    """A method for each way, so that each is reported, and may be run, alone."""
    rules = {"programs_work_until_a_process_is_killed": Jax.check,
             "all_leave": Jax.check_that_all_leave,
             "a_process_that_never_comes_is_named": Jax.check_absent}
    for way in WAYS:
        for rule, check in rules.items():
            setattr(Jax, f"test_{way}_{rule}", lambda self, check=check, way=way: check(self, way))


add_tests()

if __name__ == "__main__":
    JaxCase.python = python_of(sys.argv.pop(1))
    unittest.main()
