"""`coxswain why --stacks` with py-spy: the lines at which the processes of a job are.
stacks_test.py py-spy [unittest's arguments]
"""

import json
import os
import pathlib
import sys
import time
import unittest

from harness import HERE, LIMIT, EndToEnd, python_of

PROGRAM = HERE / "programs" / "stuck.py"


def line_of(comment):
    """As py-spy prints it."""
    lines = PROGRAM.read_text().splitlines()
    return next(f"({PROGRAM.name}:{number})" for number, line in enumerate(lines, 1) if comment in line)


class Stacks(EndToEnd):

    at = {}
    directory_of_py_spy = None

    def test_the_lines_of_a_sleep_and_of_an_endless_native_loop_are_named(self):
        for where in ("in PATH", "beside the Python"):
            with self.subTest(where):
                self.check(where == "in PATH")
                self.doCleanups()
                self.setUp()

    def check(self, is_in_path):
        python = sys.executable
        env = {"PYTHONPATH": os.environ["COXSWAIN_PYTHON"], "PATH": "/usr/bin:/bin"}
        if is_in_path:
            env["PATH"] = f"{self.directory_of_py_spy}:{env['PATH']}"
        else:
            python = pathlib.Path(self.directory_of_py_spy) / "python"
        self.start("coxswain", "run", "-n", 8, "--", python, PROGRAM, "arrives", "sleeps", "arrives", "spins", env=env)

        end = time.monotonic() + LIMIT
        while True:
            said = self.coxswain("why", "--stacks", "--json")
            taken = json.loads(said.out)["stacks"] if said.code == 0 else {"wanted": 0}
            if taken["wanted"] == 2:
                break
            self.assertLess(time.monotonic(), end, said.out or said.err)
            time.sleep(0.2)

        groups = {group["tasks"]: group for group in taken["groups"]}
        self.assertEqual(groups["1"]["stack"].splitlines()[0], "sleeps " + line_of("the line of the sleep"))
        self.assertIn("spins " + line_of("the line of the native loop"), groups["3"]["stack"].splitlines())
        self.assertIn("running", groups["3"]["rest"])
        self.assertRegex(self.succeed("why", "--stacks").out, r"\n1 task, 1, missing for .* s, in sleeps \(stuck.py")


if __name__ == "__main__":
    Stacks.directory_of_py_spy = str(pathlib.Path(python_of(sys.argv.pop(1))).parent)
    unittest.main()
