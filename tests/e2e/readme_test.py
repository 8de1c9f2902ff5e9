"""The documents' commands, in order, as a reader copies them: a shell runs each bash block in a
directory that looks like a clone after tools/test. Not here: examples in other languages
(tests/tidy/readme_test.py, and their own tests).
"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import unittest

from programs import BIN, EndToEnd, LIMIT, clean_environment, free_port

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = ["README.md", "src/coxswain/README.md", "tools/README.md", "tools/deploy/README.md",
             "src/python/README.md"]
DOCUMENTED = "\n".join((ROOT / name).read_text(encoding="utf-8") for name in DOCUMENTS)
README_BYTES_MAX = 8000

BLOCK = re.compile(r"(?:^<!-- not run by tests/e2e/readme_test\.py: ([^\n]*) -->\n)?^```bash\n(.*?)^```\n",
                   re.M | re.S)
ANY_BLOCK = re.compile(r"^```\w*\n.*?^```\n", re.M | re.S)
# Must not appear outside the blocks.
COMMAND = re.compile(
    r"^ +(?:\$ |(?:\./|sudo|apt-get|coxswain|srun|python3|pip|curl|cmake|build/)[\w./-]* ).*", re.M)
UNTIL_CTRL_C = re.compile(r"(coxswain serve .*?) +# until Ctrl-C\n")

# Lines that install and build what is there already, or run this test.
DONE = re.compile(r"\./tools/(install_dependencies|quickstart|test)\b|cmake --(build --)?preset\b")
# Words in lines that need parts not built in this configuration; release builds all.
NOT_BUILT = set(os.environ.get("COXSWAIN_README_WITHOUT", "").split(":"))

# Gives a server that was just started the time that a reader takes to type the next line.
PREFACE = """set -e -o pipefail
until_it_listens() {
  until (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; do :; done
}
"""


def lines_to_run(block):
    lines = []
    for line in block.splitlines():
        words = line.split()
        if DONE.match(line) or NOT_BUILT.intersection(words):
            print(f"not run: {line}")
            line = ":"
        lines.append(line)
        served = re.match(r"coxswain serve .*:(\d+).* &$", line)
        if served:
            lines.append(f"until_it_listens {served[1]}")
    return lines


class Readme(EndToEnd):

    def setUp(self):
        super().setUp()
        self.clone = self.directory / "clone"
        (self.clone / "build").mkdir(parents=True)
        for entry in ROOT.iterdir():
            if entry.name not in ("build", ".git"):
                (self.clone / entry.name).symlink_to(entry)
        (self.clone / "build/release").symlink_to(BIN.parent)
        # The module is built for the Python that CMake found, and so is this test.
        python = self.directory / "bin/python3"
        python.parent.mkdir()
        python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        python.chmod(0o755)
        # Other programs may use the ports named in the README.
        self.ports = {port: str(free_port()) for port in ("8476", "8477")}
        self.exports = ""

    def shell(self, script):
        for port, other in self.ports.items():
            script = re.sub(rf"\b{port}\b", other, script)
        home = {name: str(self.directory)
                for name in ("HOME", "TMPDIR", "XDG_RUNTIME_DIR", "XDG_STATE_HOME")}
        home["PATH"] = f"{self.directory}/bin{os.pathsep}{os.environ['PATH']}"
        shell = subprocess.Popen(
            ["bash", "-v", "-c", script], cwd=self.clone, env=clean_environment(home),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", start_new_session=True)
        self.addCleanup(self.end, shell)
        return shell

    def end(self, shell):
        try:
            os.killpg(shell.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        shell.communicate()

    def run_block(self, block):
        interrupted = UNTIL_CTRL_C.fullmatch(block)
        if interrupted:
            self.interrupt(interrupted[1])
            return
        script = "\n".join([PREFACE + self.exports, *lines_to_run(block), "wait"])
        shell = self.shell(script)
        try:
            output, _ = shell.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            self.end(shell)
            self.fail(f"this does not end:\n{block}")
        self.assertEqual(shell.returncode, 0, f"{block}\nprinted\n{output}")
        self.exports += "".join(re.findall(r"^export .*\n", block, re.M))

    def interrupt(self, command):
        shell = self.shell(f"{self.exports}\nexec {command}")
        self.assertTrue(any('"event"' in line for line in shell.stdout), command)
        os.killpg(shell.pid, signal.SIGINT)
        output, _ = shell.communicate(timeout=LIMIT)
        self.assertIn(shell.returncode, (0, 128 + signal.SIGINT), f"{command}\nprinted\n{output}")

    def test_every_block_runs(self):
        blocks = BLOCK.findall(DOCUMENTED)
        self.assertGreater(len(blocks), 8)
        for why_not, block in blocks:
            if why_not:
                print(f"not run: {block}  {why_not}")
            else:
                self.run_block(block)

    def test_the_first_document_is_short(self):
        self.assertLess((ROOT / "README.md").stat().st_size, README_BYTES_MAX)

    def test_no_command_is_outside_the_blocks(self):
        outside = COMMAND.findall(ANY_BLOCK.sub("", DOCUMENTED))

        self.assertEqual(outside, [], "a block of commands begins with ```bash")


if __name__ == "__main__":
    unittest.main()
