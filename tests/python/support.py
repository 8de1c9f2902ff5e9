"""Jobs for the tests of the Python package: a coordinator and the clients of all tasks in this
process, and separate Python programs. Not here: tests.
"""

import contextlib
import os
import pathlib
import socket
import subprocess
import sys
import time
import unittest
import unittest.mock
from concurrent.futures import ThreadPoolExecutor

import coxswain

# Longer than any working call takes, in seconds.
LIMIT = 60

# The file for the names of the tests that ran, if requested.
REPORT = open(os.environ.get("COXSWAIN_TEST_REPORT", os.devnull), "w", buffering=1)


class PythonTest(unittest.TestCase):
    def setUp(self):
        print(self._testMethodName, file=REPORT)

    def coordinator(self, num_tasks=1, **settings):
        made = coxswain.Coordinator(num_tasks, **settings)
        self.addCleanup(made.stop)
        return made

    def client(self, to, task=None, **settings):
        made = coxswain.Client(to.address, task, **settings)
        self.addCleanup(made.close)
        return made

    def clients(self, to, num_tasks):
        """One joined client per task."""
        made = [self.client(to, task) for task in range(num_tasks)]
        together(*(one.join for one in made))
        return made

    def python(self, code, *arguments, **environment):
        """Starts a program that can import coxswain."""
        program = subprocess.Popen(
            [sys.executable, "-c", code, *map(str, arguments)], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment})
        self.addCleanup(end, program)
        return program

    def out_of(self, program, code=0):
        """Its output, once it has ended."""
        out, err = program.communicate(timeout=LIMIT)
        self.assertEqual(program.returncode, code, f"{out}\n{err}")
        return out


def seconds_without_cpu(pid):
    """How long the threads of a process were ready to run but had no CPU; zero if the kernel does not show it."""
    nanoseconds = 0
    for thread in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with contextlib.suppress(OSError):  # it has ended
            nanoseconds += int(thread.read_text(encoding="ascii").split()[1])
    return nanoseconds / 1e9


def end(program):
    if program.poll() is None:
        program.kill()
    program.communicate()


def together(*calls):
    """The results of the calls, each of which runs on its own thread."""
    with ThreadPoolExecutor(len(calls)) as threads:
        return [one.result(LIMIT) for one in [threads.submit(call) for call in calls]]


def eventually(condition):
    """Waits for a condition that only a broken program does not meet."""
    deadline = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError("it did not happen")
        time.sleep(0.001)


def a_free_address():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{one.getsockname()[1]}"


def answer_all(listener, reply):
    """Sends every connection a reply that is not a coordinator's, until the listener is closed."""
    kept = []
    while True:
        try:
            kept.append(listener.accept()[0])
        except OSError:
            return
        if reply:
            with kept.pop() as peer:
                peer.sendall(reply)


def impatient():
    """Patches how long a listener may take to identify itself as a coordinator."""
    return unittest.mock.patch("coxswain._coordinator._ANSWER_TIMEOUT", 0.2)


def main():
    unittest.main(verbosity=1)


PACKAGE = pathlib.Path(coxswain.__file__).parent
