"""The benchmark's processes: servers and loads, and what is said to them. Not here: when (experiment).
"""

import functools
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

from driver.machine import UNAVAILABLE, BenchError, cpu_time_of, memory_of, refuse

HERE = Path(__file__).resolve().parent

# XLA's own service, in the place of a coordinator that is spoken to in its protocol.
XLA_SERVICE = "xla_service"

# The programs of others, and their Debian packages. That of the last one is in `jax_python`.
RIVALS = {"redis": ("redis-server", "redis-server"), "etcd": ("etcd", "etcd-server"), XLA_SERVICE: ()}

# The coordinator, spoken to in its own protocol or in that of XLA's service. `native` is the former
# beside the latter.
OURS = ("coxswain", "native", "xla")

# Servers that know of tasks: their loads are the same.
OF_JOBS = (*OURS, XLA_SERVICE)


class Child:
    """A process that is told lines, and answers with JSON. It never outlives this one."""

    def __init__(self, name, command, cpu=None, log=None):
        self.name = name
        streams = {"stdin": subprocess.PIPE, "stdout": log or subprocess.PIPE}
        if log:
            streams["stderr"] = subprocess.STDOUT
        # In a session of its own: an interrupt from the terminal is for the driver alone.
        self.process = subprocess.Popen(
            command, text=True, start_new_session=True, **streams,
            preexec_fn=None if cpu is None else lambda: os.sched_setaffinity(0, {cpu}))
        self.pid = self.process.pid

    def say(self, line):
        try:
            print(line, file=self.process.stdin, flush=True)
        except BrokenPipeError:
            pass  # `receive` says why

    def receive(self):
        """BenchError: it failed, or has ended."""
        if not (line := self.process.stdout.readline()):
            self.process.wait()
            raise BenchError(f"{self.name} {self.ending()}")
        told = json.loads(line)
        if "error" in told:
            raise BenchError(f"{self.name}: {told['error']}", told["code"])
        return told

    def ask(self, line):
        self.say(line)
        return self.receive()

    def ending(self):
        """How it ended; None while it runs."""
        code = self.process.poll()
        if code is None:
            return None
        return f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"

    def last_words(self):
        """What it had to say, if it ended or is about to."""
        try:
            self.process.wait(0.2)
            return self.receive() and None
        except subprocess.TimeoutExpired:
            return None
        except BenchError as problem:
            return problem

    def kill(self):
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream:
                stream.close()


class Stoppable(Child):
    """One that removes what it has elsewhere when it is stopped."""

    def kill(self):
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            pass
        super().kill()


class Roles:
    """Starts coxswain-load."""

    def __init__(self, program):
        if not os.access(program, os.X_OK):
            raise BenchError(f"there is no {program}: build it, or give --program", UNAVAILABLE)
        self.program = program

    def start(self, name, role, options, cpu=None):
        return Child(name, [self.program, role, json.dumps(options)], cpu)

    def ask(self, role, options):
        """What a role says that says one thing."""
        child = self.start(role, role, options)
        try:
            return child.receive()
        finally:
            child.kill()


# Servers.


def start_server(roles, kind, options, cpu):
    """A baseline or a coordinator: its process, where it listens, and its bytes before it is one."""
    role = "coordinator" if kind in (*OURS, "processes") else "baseline"
    child = roles.start(f"the server process ({kind})", role, options, cpu)
    try:
        child.receive()
        first_bytes = memory_of(child.pid).now
        return child, child.ask("serve")["listening"], first_bytes
    except BaseException:
        child.kill()
        raise


def start_with_engine(stage, at, tasks):
    """A coordinator whose journal is in etcd: its process, and where it listens."""
    command = [Path(stage.roles.program).with_name("coxswain"), "serve", "--num-tasks", str(tasks),
               "--listen", at, "--engine", stage.engine, "--log-level", "error"]
    child = Stoppable("the server process (coxswain)", command, stage.cpus.server)
    try:
        while (told := child.receive())["event"] != "ready":
            pass
        return child, told["addresses"][0]
    except BaseException:
        child.kill()
        raise


def start_relay(stage, upstream, path):
    """A relay, whose address is its attribute ``at``."""
    at = f"unix:{path}"
    command = [Path(stage.roles.program).with_name("coxswain"), "relay", "--upstream", upstream,
               "--listen", at, "--log-level", "error"]
    child = Child("a relay process", command, stage.cpus.server)
    child.receive()
    child.at = at
    return child


@functools.cache
def jax_python():
    """The Python of a virtual environment with JAX, which is made unless it is there."""
    # Of Debian's Python, as for the tests, whichever is first in PATH: another one would make it anew.
    command = ["/usr/bin/python3", HERE.parent.parent / "tests/real/environment", "jax-0.10.2"]
    made = subprocess.run(command, text=True, stdout=subprocess.PIPE, check=False)
    if made.returncode != 0:
        raise BenchError(f"JAX is not installed: {made.stdout}", UNAVAILABLE)
    return made.stdout.strip()


def need_rival(kind, is_unix):
    if kind == XLA_SERVICE:
        jax_python()
        return
    if kind == "etcd" and is_unix:
        refuse("--vs etcd: only --transport tcp")
    program, package = RIVALS[kind]
    if not shutil.which(program):
        raise BenchError(f"--vs {kind}: the program {program} is not installed. On Debian: apt-get "
                         f"install {package}", UNAVAILABLE)


def files_parent_of(kind):
    """Where its directory is: in memory, if it writes files while it works."""
    return "/dev/shm" if kind == "etcd" and os.access("/dev/shm", os.W_OK) else "/tmp"


def free_address():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"127.0.0.1:{listener.getsockname()[1]}"


def _command_of(kind, at, stage, tasks):
    directory = stage.directory
    if kind == XLA_SERVICE:
        service = HERE.parent / "servers/xla_service.py"
        return [jax_python(), "-B", service, at, str(tasks)]
    if kind == "etcd":
        url = f"http://{at}"
        return ["etcd", "--data-dir", f"{directory}/data", "--unsafe-no-fsync", "--log-level", "error",
                "--listen-client-urls", url, "--advertise-client-urls", url,
                "--listen-peer-urls", f"http://{free_address()}"]
    where = (["--port", "0", "--unixsocket", at.removeprefix("unix:")] if at.startswith("unix:") else
             ["--bind", "127.0.0.1", "--port", at.rsplit(":", 1)[1]])
    return ["redis-server", "--save", "", "--appendonly", "no", "--dir", directory,
            "--loglevel", "warning", "--maxclients", "1000000",
            "--client-output-buffer-limit", "pubsub 0 0 0", *where]


def _can_connect(at):
    family = socket.AF_UNIX if at.startswith("unix:") else socket.AF_INET
    host, _, port = at.rpartition(":")
    with socket.socket(family) as tried:
        return tried.connect_ex(port if family == socket.AF_UNIX else (host, int(port))) == 0


def start_rival(stage, kind, at, tasks):
    """Its process, for so many tasks, which can be connected to at this address."""
    log = Path(stage.directory, f"log-{stage.added}")
    with log.open("w") as out:
        child = Child(f"the server process ({kind})",
                      ["setpriv", "--pdeathsig", "KILL", *_command_of(kind, at, stage, tasks)],
                      stage.cpus.server, out)
    until = time.monotonic() + 20
    while not _can_connect(at):
        if (ended := child.ending()) or time.monotonic() > until:
            child.kill()
            raise BenchError(f"{kind} cannot be reached at {at}; its process {ended or 'runs'}. It "
                             f"said: {log.read_text()[-2000:]}", UNAVAILABLE)
        time.sleep(0.01)
    return child


# Loads.


class Load:
    """That of a workload, in one process. ``progress`` is told how many connections there are."""

    def __init__(self, roles, kind, options, cpu):
        self.child = roles.start(f"the load ({kind})", "load", options, cpu)
        self.pids = [self.child.pid]
        self.waits = True  # the time that it waits for a CPU disturbs the measurement

    def connect(self, progress):
        while "connected" not in (told := self.child.receive()):
            progress(told["connections"])

    def measure(self, steps):
        return self.child.ask(f"measure {steps}")

    def turn_to(self, act):
        self.child.ask(f"act {act}")

    def conclude(self):
        return self.child.ask("conclude")

    def finish(self):
        self.child.ask("finish")

    def kill(self):
        self.child.kill()


class ClientProcesses:
    """A real client for each task, in a process of its own: in the place of a load of barriers."""

    def __init__(self, roles, address, tasks, cpu):
        self.start = lambda task: roles.start(f"the client process of task {task}", "client",
                                              {"address": address, "task": task}, cpu)
        self.tasks = tasks
        self.all = []
        self.waits = False  # they wait for each other

    @property
    def pids(self):
        return [one.pid for one in self.all]

    def connect(self, progress):
        for task in range(self.tasks):
            self.all.append(self.start(task))
            self.all[-1].receive()
            progress(task + 1)
        for one in self.all:
            one.receive()

    def measure(self, steps):
        """Also in form as a load's."""
        cpu_before, begun = sum(map(cpu_time_of, self.pids)), time.monotonic_ns()
        for one in self.all:
            one.say(steps)
        told = [one.receive() for one in self.all]
        rounds = list(zip(zip(*(t["called"] for t in told)), zip(*(t["returned"] for t in told))))
        return {"operations": steps * self.tasks, "elapsed": time.monotonic_ns() - begun,
                "busy": sum(map(cpu_time_of, self.pids)) - cpu_before, "parts": [],
                "latencies": [_histogram(max(returned) - max(called) for called, returned in rounds),
                              _histogram(max(returned) - min(called) for called, returned in rounds)]}

    def finish(self):
        for one in self.all:
            one.say("finish")
        for one in self.all:
            one.receive()

    def kill(self):
        for one in self.all:
            one.kill()


def _histogram(times):
    times = list(times)
    return {"max": max(times, default=0), "times": [n for time in times for n in (time, 1)]}
