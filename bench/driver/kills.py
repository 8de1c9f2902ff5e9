"""Kills a process of a real JAX job: how soon the others learn of it, and how soon its next process, which is
started at once, takes part; with XLA's own service in process 0, and with a coordinator or a relay of it in its place."""

import collections
import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from driver.figures import median, ratio_of, time_text
from driver.machine import BenchError, show
from driver.processes import Child, free_address, jax_python, start_relay
from driver.sides import Stage
from driver.workloads import add_number

LIMIT = 120  # seconds, which only a broken job reaches

WAYS = {"xla": "XLA's service", "serve": "coxswain serve", "relay": "coxswain relay"}
FIGURES = {"told": "kill to the last survivor told",
           "gone": "kill to the last survivor without it (recoverable)",
           "back": "kill, and its next process takes part",
           "rejoin": "of which after the import of JAX"}


class Process:
    """One of a JAX job. What it says is collected with the times of the monotonic clock."""

    def __init__(self, command):
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("COXSWAIN", "JAX", "SLURM", "OMPI"))}
        self.changed = threading.Condition()
        self.said, self.ended = [], None
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *map(str, command)], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=self.errors, text=True, start_new_session=True,
            env=kept | {"JAX_PLATFORMS": "cpu"})
        self.threads = [threading.Thread(target=what) for what in (self._listen, self._wait)]
        for thread in self.threads:
            thread.start()

    def _listen(self):
        for line in self.process.stdout:
            with self.changed:
                self.said.append(json.loads(line))
                self.changed.notify_all()

    def _wait(self):
        self.process.wait()
        with self.changed:
            self.ended = time.monotonic_ns()
            self.changed.notify_all()

    def await_word(self, is_it, since=0):
        """When it said something such, after that time."""
        def found():
            return next((one for one in self.said if one["at"] > since and is_it(one)), None)
        with self.changed:
            self.changed.wait_for(lambda: found() or self.ended, LIMIT)
            if not (word := found()):
                self.errors.seek(0)
                raise BenchError(f"a process of the JAX job {'ended' if self.ended else 'is silent'}: "
                                 f"{self.errors.read()[-2000:]}")
            return word["at"]

    def await_end(self):
        with self.changed:
            if not self.changed.wait_for(lambda: self.ended, LIMIT):
                raise BenchError("a process of the JAX job was not told of the death of another one")
            return self.ended

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        for thread in self.threads:
            thread.join()
        self.process.stdout.close()
        self.errors.close()


class Job:
    """The joined processes of a job; the last one is the one to kill."""

    def __init__(self, stage, given, way, is_recoverable):
        self.stage, self.given, self.way, self.is_recoverable = stage, given, way, is_recoverable
        self.processes, self.servers = [], []
        self.address = self.bind = free_address()

    def __enter__(self):
        if self.way != "xla":
            self.bind = "127.0.0.1:0"  # process 0 starts a service in any case
            self.servers.append(self._coordinator())
        if self.way == "relay":
            self.stage.added += 1
            self.servers.append(start_relay(self.stage, self.address,
                                            f"{self.stage.directory}/{self.stage.added}.relay"))
            self.address = self.servers[-1].at
        self.processes = [self.start(process) for process in range(self.given.tasks)]
        for process in self.processes:
            process.await_word(self._is_complete)
        return self

    def __exit__(self, *_):
        for process in (*self.processes, *self.servers):
            process.kill()

    def _coordinator(self):
        command = [Path(self.given.program).with_name("coxswain"), "serve", "--num-tasks",
                   str(self.given.tasks), "--listen", self.address, "--log-level", "off",
                   "--heartbeat-timeout", f"{self.given.heartbeat_timeout}s"]
        child = Child("the coordinator", command + ["--recoverable"] * self.is_recoverable)
        child.receive()
        return child

    def _is_complete(self, word):
        return word.get("live") == list(range(self.given.tasks)) if self.is_recoverable else "joined" in word

    def start(self, process):
        program = Path(__file__).resolve().parent.parent / "servers/jax_process.py"
        return Process([jax_python(), "-B", program, self.address, self.given.tasks,
                        process, self.given.heartbeat_timeout, self.bind,
                        *["live"] * self.is_recoverable])

    def kill(self):
        """Kills the last process, and returns when."""
        at = time.monotonic_ns()
        self.processes.pop().kill()
        return at

    def start_again(self):
        """Starts it again. Returns when it had imported JAX, and when it lived with all."""
        self.processes.append(again := self.start(len(self.processes)))
        return again.await_word(lambda word: "imported" in word), again.await_word(self._is_complete)


class Kills:
    name = "kills"
    help = ("A process of a real JAX job is killed: how soon the others are told, and how soon its next "
            "process takes part, beside XLA's own service. Needs JAX (PyPI)")

    def add_options(self, parser):
        add_number(parser, "--tasks", 4, 2, 64, "Processes of the job")
        add_number(parser, "--heartbeat-timeout", 10, 2, 1_000, "Seconds; JAX has 100 by default")
        add_number(parser, "--rounds", 7, 1, 1_000, "Kills of each kind")

    def run(self, given):
        found = {figure: collections.defaultdict(list) for figure in FIGURES}
        with Stage(given.program, "tcp") as stage:
            jax_python()
            stage.watch()
            for turn in range(given.rounds):
                for way, name in WAYS.items():
                    show(f"kill {turn + 1} of {given.rounds}: {name}")
                    self._kill_one(stage, given, way, found)
            disturbance = stage.disturbance()
            told = {"workload": self.name, **stage.origin(), "tasks": given.tasks,
                    "heartbeat_timeout_s": given.heartbeat_timeout, "rounds": given.rounds}
            for figure, times in found.items():
                told[figure] = {way: {"p50_ns": median(each), "max_ns": max(each),
                                      "by_xla": median(map(ratio_of, each, times["xla"]))}
                                for way, each in times.items()}
            return self._table(given, told) + disturbance.warning(), \
                {**told, "disturbed": disturbance.to_json()}, True

    @staticmethod
    def _kill_one(stage, given, way, found):
        with Job(stage, given, way, False) as job:
            killed = job.kill()
            found["told"][way].append(max(one.await_end() for one in job.processes) - killed)
        with Job(stage, given, way, True) as job:
            killed = job.kill()
            survivors = list(range(given.tasks - 1))
            found["gone"][way].append(max(
                one.await_word(lambda word: word.get("live") == survivors, killed)
                for one in job.processes) - killed)
            job.start_again()
            # At once: a service that must first learn of the death may not be waited for.
            killed = job.kill()
            imported, lives = job.start_again()
            found["back"][way].append(lives - killed)
            found["rejoin"][way].append(lives - imported)

    @staticmethod
    def _table(given, told):
        text = (f"kills: one of {given.tasks} JAX processes, heartbeat timeout {given.heartbeat_timeout} s, "
                f"{given.rounds} of each kind; median (max), median ratio of neighbours\n\n{'':<52}")
        text += "".join(f"{name:>30}" for name in WAYS.values()) + "\n"
        for figure, title in FIGURES.items():
            text += f"{title:<52}"
            for way in WAYS:
                times = told[figure][way]
                shown = f"{time_text(times['p50_ns'])} ({time_text(times['max_ns'])}) {times['by_xla']:.3f}"
                text += f"{shown:>30}"
            text += "\n"
        return text + "\n"
