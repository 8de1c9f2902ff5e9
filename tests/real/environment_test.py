"""Which environments `environment` makes. Nothing is installed."""

import contextlib
import io
import pathlib
import tempfile
import unittest
import unittest.mock

from harness import environment_module

environment = environment_module()


class Kept(unittest.TestCase):

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        (self.directory / "locks").mkdir()
        for name in ("BUILD", "HERE"):
            self.replace(name, self.directory)
        self.lock_file = self.directory / "locks" / "a-1.txt"
        self.lock_file.write_text(f"# a==1 {environment.PLATFORM}.\n")
        self.made = []
        self.replace("install", self.install)

    def replace(self, name, value):
        patch = unittest.mock.patch.object(environment, name, value)
        patch.start()
        self.addCleanup(patch.stop)

    def install(self, name):
        self.made.append(name)
        python = environment.directory_of(name) / "bin" / "python"
        python.parent.mkdir(parents=True, exist_ok=True)
        python.touch()
        (environment.directory_of(name) / "complete").write_text(environment.contents(name))

    def make(self):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            environment.make("a-1")
        self.assertEqual(out.getvalue(), f"{self.directory}/real-env-a-1/bin/python\n")

    def test_a_complete_one_is_kept_whichever_python_asks_for_it(self):
        self.make()
        with unittest.mock.patch.object(environment.sys, "version", "3.99.0 (another one)"), \
                unittest.mock.patch.object(environment, "PLATFORM", "for Python 3.99, another"):
            self.make()

        self.assertEqual(self.made, ["a-1"])

    def test_one_whose_lock_file_has_changed_or_that_is_incomplete_is_made_again(self):
        self.make()
        self.lock_file.write_text(f"# a==1.1 {environment.PLATFORM}.\n")
        self.make()
        (self.directory / "real-env-a-1" / "complete").unlink()
        self.make()

        self.assertEqual(self.made, ["a-1"] * 3)


if __name__ == "__main__":
    unittest.main()
