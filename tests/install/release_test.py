#!/usr/bin/env python3
"""What tools/release made, used as its users do, in the fresh root of a Debian that has Python but no compiler
and none of our libraries: the wheel runs a job within ten seconds in a virtual environment, the program runs
one in a root with nothing but glibc, and the packages run one and can be removed.

Usage: tools/debian NAME python3 release_test.py DIRECTORY
COXSWAIN_TEST_SLOWNESS in the environment is the factor by which qemu makes all of it slower (default 1).
"""

import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import venv

DIRECTORY = pathlib.Path(sys.argv.pop(1)).resolve()
SLOWNESS = int(os.environ.get("COXSWAIN_TEST_SLOWNESS", "1"))
TRAIN = pathlib.Path(__file__).resolve().parents[2] / "tools/examples/train.py"
DEBIAN = f"deb{re.search('VERSION_ID=.?([0-9]+)', pathlib.Path('/etc/os-release').read_text())[1]}"


def output_of(*command, timeout=60, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True,
                          timeout=SLOWNESS * timeout, **options)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def apt_get(*arguments):
    return output_of("apt-get", "-qq", "--yes", "--no-install-recommends", *arguments, timeout=600,
                     env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive"})


def installed_packages():
    return output_of("dpkg-query", "--show", "--showformat", "${Package} ${db:Status-Status}\n")


class Release(unittest.TestCase):
    def setUp(self):
        self.assertIsNone(shutil.which("cc"), "this is no fresh root")
        directory = tempfile.TemporaryDirectory(prefix="coxswain-release-test-")
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def train(self, python, environment):
        (self.directory / "steps").mkdir()
        job = output_of("coxswain", "run", "-n", "4", "--", python, TRAIN, self.directory / "steps",
                        env={**environment, "HOME": str(self.directory)})
        self.assertEqual(job.count("stopped after 400 steps"), 4, job)

    def test_a_wheel_runs_a_job_within_ten_seconds(self):
        wheel, = DIRECTORY.glob(f"*-cp3{sys.version_info.minor}-*manylinux_2_34_{platform.machine()}.whl")
        self.assertLess(wheel.stat().st_size, 15_000_000)
        environment = self.directory / "venv"
        venv.create(environment, with_pip=True)
        ours = {"PATH": f"{environment / 'bin'}:/usr/bin:/bin"}

        began = time.monotonic()
        output_of(environment / "bin/pip", "install", "--no-index", wheel, env=ours)
        self.train("python", ours)
        took = time.monotonic() - began

        print(f"installed and ran a job in {took:.1f} s")
        self.assertLess(took, SLOWNESS * 10)

    def test_the_program_runs_a_job_where_there_is_only_glibc(self):
        archive, = DIRECTORY.glob(f"coxswain-*-linux-{platform.machine()}.tar.gz")
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

    @unittest.skipIf(platform.machine() == "aarch64", "tools/release --arm64 makes no packages")
    def test_the_packages_run_a_job_and_leave_nothing(self):
        files = [one for name in ("coxswain_*", "python3-coxswain_*", f"libcoxswain-dev_*{DEBIAN}_*")
                 for one in DIRECTORY.glob(f"{name}.deb")]
        names = [one.name.partition("_")[0] for one in files]
        self.assertEqual(len(set(names)), 3, names)
        before = installed_packages()

        apt_get("update")
        apt_get("install", *files)
        self.train("python3", {"PATH": "/usr/bin:/bin"})
        output_of("pkg-config", "--exists", "coxswain")
        apt_get("purge", "--auto-remove", *names)

        self.assertEqual(installed_packages(), before)
        left = output_of("find", "/usr", "/etc", "/var/lib", "-xdev", "-name", "*coxswain*")
        self.assertEqual(left, "")


if __name__ == "__main__":
    unittest.main()
