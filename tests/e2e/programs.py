"""Real processes for the end-to-end tests: starts Coxswain's programs, collects their output, and
waits for it. No test sleeps: it waits for a condition, with a limit that only a broken program
reaches. Not here: tests.
"""

import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

BIN = pathlib.Path(os.environ.get("COXSWAIN_BIN", "build/release/bin")).resolve()

# Longer than any working program takes, in seconds: sanitizers and busy machines are slow.
LIMIT = 120

# Guaranteed times are multiplied by this where sanitizers slow everything down.
SLOWNESS = float(os.environ.get("COXSWAIN_SLOWNESS", "1"))

# The file for the names of the tests that ran, if requested.
REPORT = open(os.environ.get("COXSWAIN_TEST_REPORT", os.devnull), "w", buffering=1)

USAGE, UNAVAILABLE, TIMED_OUT, REFUSED = 64, 69, 75, 77


# Lets a script find the programs.
PATH = {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}

# All variables that the programs read: ours and those of launchers.
READ_BY_US = ("COXSWAIN_", "XDG_", "JAX", "SLURM_", "OMPI_", "TPU_", "MEGASCALE_", "MASTER_",
              "TORCHELASTIC_", "KUBERNETES_", "PMI_", "PMIX_", "MPI_LOCAL", "PBS_", "LSB_")


def clean_environment(changes=None):
    """Our environment without any variable that the programs read, and with the changes."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(READ_BY_US)}
    return kept | (changes or {})


class Program:
    """A running program. Threads collect its lines, so that it never blocks on output; except its
    standard output, if that is to stay unread."""

    make_line = str

    def __init__(self, name, *arguments, env=None, unread=False, pass_fds=()):
        self.command = [str(BIN / name), *map(str, arguments)]
        self.process = subprocess.Popen(
            self.command, env=clean_environment(env), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, errors="replace", pass_fds=pass_fds)
        self.pid = self.process.pid
        self.changed = threading.Condition()
        self.lines = {"out": [], "err": []}
        streams = [("err", self.process.stderr)]
        if not unread:
            streams.append(("out", self.process.stdout))
        self.readers = [threading.Thread(target=self.collect, args=pair) for pair in streams]
        for reader in self.readers:
            reader.start()

    def collect(self, stream, pipe):
        for line in pipe:
            with self.changed:
                self.lines[stream].append(self.make_line(line.rstrip("\n")))
                self.changed.notify_all()
        with self.changed:
            self.changed.notify_all()

    def line(self, text, stream="out"):
        """Waits for a line that contains the text, and returns it."""
        def found():
            return next((line for line in self.lines[stream] if text in line), None)

        def is_decided():
            return found() is not None or not any(r.is_alive() for r in self.readers)

        deadline = time.monotonic() + LIMIT
        with self.changed:
            while not is_decided() and time.monotonic() < deadline:
                self.changed.wait(timeout=1)  # a reader thread signals just before it ends
            if (line := found()) is not None:
                return line
        raise AssertionError(f"{self.command} did not say {text!r}\n{self.output()}")

    def wait(self, limit=LIMIT):
        """Its exit code, negative when a signal killed it."""
        try:
            code = self.process.wait(limit)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.command} still runs\n{self.output()}") from None
        for reader in self.readers:
            reader.join(LIMIT)
        return code

    def signal(self, number):
        self.process.send_signal(number)

    @property
    def out(self):
        return "\n".join(self.lines["out"])

    @property
    def err(self):
        return "\n".join(self.lines["err"])

    def output(self):
        return f"--- output\n{self.out}\n--- errors\n{self.err}\n---"

    def end(self):
        """Kills it with SIGKILL."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
        self.process.wait()
        for reader in self.readers:
            reader.join(LIMIT)
        self.process.stdout.close()
        self.process.stderr.close()


class EndToEnd(unittest.TestCase):
    """A directory for each test, and programs that are ended with it."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="coxswain-e2e-")
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        print(self._testMethodName, file=REPORT)

    def start(self, name, *arguments, env=None, **how):
        program = Program(name, *arguments, env=self.directories() | (env or {}), **how)
        self.addCleanup(program.end)
        return program

    def directories(self):
        """The directories of running jobs and of recordings, removed with the test."""
        return {"TMPDIR": str(self.directory), "XDG_RUNTIME_DIR": str(self.directory),
                "XDG_STATE_HOME": str(self.directory / "state")}

    def elsewhere(self):
        """Directories in which no job is registered, as for another user."""
        place = self.directory / "elsewhere"
        place.mkdir(exist_ok=True)
        return {"TMPDIR": str(place), "XDG_RUNTIME_DIR": str(place)}

    def recordings(self):
        return sorted((self.directory / "state" / "coxswain").glob("*.recording"))

    def run_to_end(self, name, *arguments, **how):
        program = self.start(name, *arguments, **how)
        program.code = program.wait()
        return program

    def serve(self, tasks, *arguments, env=None):
        """A ready coordinator, on any port unless the arguments name one. Its address goes into
        `self.at`, for `coxswain`."""
        if "--listen" not in arguments and "COXSWAIN_LISTEN" not in (env or {}):
            arguments = ("--listen", "127.0.0.1:0", *arguments)
        program = self.start("coxswain", "serve", "-n", tasks, *arguments, env=env)
        program.ready = json.loads(program.line('"event"'))
        program.addresses = program.ready["addresses"]
        self.at = {"COXSWAIN_ADDRESS": program.addresses[0]}
        return program

    def relay(self, coordinator, *arguments, name="relay", env=None):
        """A ready relay, on a Unix socket of this name."""
        relay = self.start("coxswain", "relay", "--upstream", ",".join(coordinator.addresses), "--listen",
                           f"unix:{self.directory / name}.sock", *arguments, env=env)
        relay.address = json.loads(relay.line('"event":"ready"'))["addresses"][0]
        return relay

    def coxswain(self, *arguments, env=None, input=None):
        """Runs a subcommand against the coordinator of `serve` to its end; returns also its code."""
        done = subprocess.run(
            [str(BIN / "coxswain"), *map(str, arguments)], env=clean_environment(self.directories() | self.at | (env or {})),
            input=input, stdin=subprocess.DEVNULL if input is None else None, capture_output=True,
            timeout=LIMIT)
        done.code, done.out, done.err = done.returncode, done.stdout.decode(
            errors="replace"), done.stderr.decode()
        return done

    def succeed(self, *arguments, **how):
        """The same, but it must exit with 0."""
        done = self.coxswain(*arguments, **how)
        self.assertEqual(done.code, 0, done.err)
        return done

    def assert_ended(self, done, code, *words):
        """Checks that it exited with this code, with all these words on its standard error."""
        self.assertEqual(done.code, code, done.err)
        for word in words:
            self.assertIn(word, done.err)

    def stop(self, coordinator):
        """Stops it as an operator does."""
        coordinator.signal(signal.SIGTERM)
        self.assertEqual(coordinator.wait(), 0, coordinator.output())

    def status(self):
        return json.loads(self.succeed("status", "--json").out)

    def wait_for_status(self, what, condition):
        """Polls until the condition holds, and returns the status."""
        deadline = time.monotonic() + LIMIT
        while True:
            status = self.status()
            if condition(status):
                return status
            self.assertLess(time.monotonic(), deadline, f"{what} does not come: {status}")

    def task(self, task, tasks, *actions, env=None):
        """A task that performs the actions: see clients/task.cpp."""
        environment = self.at | {"COXSWAIN_TASK_ID": str(task), "COXSWAIN_NUM_TASKS": str(tasks)}
        return self.start("coxswain-e2e-task", *actions, env=environment | (env or {}))

    def worker(self, task, tasks, *arguments, env=None):
        environment = self.at | {"COXSWAIN_TASK_ID": str(task), "COXSWAIN_NUM_TASKS": str(tasks)}
        return self.start("coxswain-example-worker", *arguments, env=environment | (env or {}))


def fetch(url, data=None, **fields):
    """The code and the text of a response; a proxy named by the environment is ignored."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(urllib.request.Request(url, data, fields), timeout=LIMIT) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()


def wait_for_file(path):
    """Waits until the file exists, and returns its content."""
    deadline = time.monotonic() + LIMIT
    while time.monotonic() < deadline:
        try:
            return path.read_text()
        except FileNotFoundError:
            continue
    raise AssertionError(f"there is no {path}")


def free_ports(count):
    """The first of consecutive free ports; another process could take them first. They are below those
    of outgoing connections (ip_local_port_range), which other tests open meanwhile."""
    while True:
        first = random.randrange(10_000, 32_000)
        try:
            for port in range(first, first + count):
                with socket.create_server(("127.0.0.1", port)):
                    pass
            return first
        except OSError:
            continue


def free_port():
    return free_ports(1)
