"""tools/quickstart in a directory that looks like a clone, with a wheel whose program is the one built
here, and with a build that takes no time. Debian's packages are not installed.
"""

import os
import pathlib
import re
import shutil
import subprocess
import unittest
import zipfile

from programs import BIN, EndToEnd, LIMIT, clean_environment, free_port

ROOT = pathlib.Path(__file__).resolve().parents[2]
CMAKE = """#!/bin/sh
if [ "$1" = --build ]; then
  for step in 1 2 3 4; do echo "[$step/4] a step"; done
  echo "a warning"
  mkdir -p build/release && ln -s '{bin}' build/release/bin
fi
"""
OFFER = "tools/quickstart --wheel"


class Quickstart(EndToEnd):

    def setUp(self):
        super().setUp()
        self.clone = self.directory / "clone"
        (self.clone / "tools").mkdir(parents=True)
        shutil.copy(ROOT / "tools/quickstart", self.clone / "tools")
        (self.clone / "tools/examples").symlink_to(ROOT / "tools/examples")
        self.program(self.clone / "tools/install_dependencies", "#!/bin/sh\n")
        self.program(self.directory / "bin/cmake", CMAKE.format(bin=BIN))

    def program(self, path, text):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def make_wheel(self, platform):
        """A wheel for this platform; its program is that of BIN."""
        (self.clone / "dist").mkdir(exist_ok=True)
        name = "coxswain_sync-0.1.0"
        with zipfile.ZipFile(self.clone / f"dist/{name}-py3-none-{platform}.whl", "w") as wheel:
            wheel.writestr(f"{name}.dist-info/METADATA",
                           "Metadata-Version: 2.1\nName: coxswain-sync\nVersion: 0.1.0\n")
            wheel.writestr(f"{name}.dist-info/WHEEL",
                           f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-{platform}\n")
            program = zipfile.ZipInfo(f"{name}.data/scripts/coxswain")
            program.external_attr = 0o100755 << 16
            wheel.writestr(program, f'#!/bin/sh\nexec "{BIN}/coxswain" "$@"\n')
            wheel.writestr(f"{name}.dist-info/RECORD", "")

    def shell(self, *command):
        return subprocess.run(
            command, cwd=self.clone, capture_output=True, text=True, timeout=LIMIT, env=clean_environment(
                self.directories() | {"PATH": f"{self.directory}/bin{os.pathsep}/usr/bin{os.pathsep}/bin"}))

    def assert_job(self, done):
        """Checks that its job ran, and that what it says to type next works."""
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for task in range(4):
            self.assertIn(f"[0] result/{task}\n", done.stdout)
        lines = re.findall("^  (.*)\n", done.stdout, re.MULTILINE)
        self.assertEqual(len(lines), 3)
        again = self.shell("bash", "-ec", "\n".join(lines).replace("8477", str(free_port())))
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("[0] result/3\n", again.stdout)

    def test_it_builds_and_prints_its_progress(self):
        done = self.shell("tools/quickstart")

        self.assertIn("[2/4] 50 % about 0 min left", done.stdout)
        self.assertIn("a warning\n", done.stdout)
        self.assertNotIn(OFFER, done.stdout)
        self.assert_job(done)

    def test_a_wheel_in_dist_is_offered_and_installed(self):
        self.make_wheel("any")

        self.assertIn(OFFER, self.shell("tools/quickstart").stdout)
        self.assert_job(self.shell("tools/quickstart", "--wheel"))

    def test_a_wheel_for_another_machine_is_not(self):
        self.make_wheel("win_amd64")

        self.assertNotIn(OFFER, self.shell("tools/quickstart").stdout)
        done = self.shell("tools/quickstart", "--wheel")
        self.assertNotEqual(done.returncode, 0)


if __name__ == "__main__":
    unittest.main()
