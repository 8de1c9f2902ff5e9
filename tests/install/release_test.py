#!/usr/bin/env python3
"""What tools/release made, used as its users do: the wheel for this Python, in a fresh virtual environment,
runs a job within ten seconds; and the program runs one in a root with nothing but glibc.

Usage: release_test.py DIRECTORY
In Debian 13, whose Python is another and which has none of our libraries: tests/real/debian_13 python3 ...
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import venv

DIRECTORY = pathlib.Path(sys.argv.pop(1)).resolve()
TRAIN = pathlib.Path(__file__).resolve().parents[2] / "tools/examples/train.py"


def output_of(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60, **options)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


class Release(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="coxswain-release-test-")
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def test_a_wheel_runs_a_job_within_ten_seconds(self):
        wheel, = DIRECTORY.glob(f"*-cp3{sys.version_info.minor}-*manylinux_2_34_*.whl")
        self.assertLess(wheel.stat().st_size, 15_000_000)
        environment = self.directory / "venv"
        venv.create(environment, with_pip=True)
        ours = {"PATH": f"{environment / 'bin'}:/usr/bin:/bin", "HOME": str(self.directory)}
        (self.directory / "steps").mkdir()

        began = time.monotonic()
        output_of(environment / "bin/pip", "install", "--no-index", wheel, env=ours)
        job = output_of("coxswain", "run", "-n", "4", "--", "python", TRAIN,
                        self.directory / "steps", env=ours)
        took = time.monotonic() - began

        print(f"installed and ran a job in {took:.1f} s")
        self.assertEqual(job.count("stopped after 400 steps"), 4, job)
        self.assertLess(took, 10)

    @unittest.skipIf(os.geteuid(), "only root can change the root directory")
    def test_the_program_runs_a_job_where_there_is_only_glibc(self):
        archive, = DIRECTORY.glob("coxswain-*-linux-*.tar.gz")
        output_of("tar", "-x", "-f", archive, "-C", self.directory)
        program, = self.directory.glob("*/bin/coxswain")
        for needed in re.findall(r"(/\S+) \(0x", output_of("ldd", program)):
            to = self.directory / needed[1:]
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(needed, to)
            self.assertRegex(to.name, r"^(libc|libm|ld-linux.*)\.so\.\d$")
        inside = "/" + str(program.relative_to(self.directory))
        (self.directory / "tmp").mkdir()

        output_of("chroot", self.directory, inside, "run", "-n", "2", "--",
                  inside, "task", "--", inside, "barrier", "all")


if __name__ == "__main__":
    unittest.main()
