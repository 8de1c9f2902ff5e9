"""The benchmark's servers and loads, and the commands sent to them. Not here: when (experiment)."""

import functools
import json
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

from driver.machine import UNAVAILABLE, BenchError, memory_of

HERE = Path(__file__).resolve().parent

# XLA's own service, in the place of a coordinator that is spoken to in its protocol.
XLA_SERVICE = "xla_service"

# The servers of others.
RIVALS = ("redis", XLA_SERVICE)

# The coordinator, spoken to in its own protocol or in that of XLA's service. `native` is the former
# beside the latter, or the one without a journal beside the one that has it.
OURS = ("coxswain", "native", "xla")

# Servers that know of tasks: their loads are the same.
OF_JOBS = (*OURS, XLA_SERVICE)


class Child:
    """A process that is sent lines, and answers with JSON. It never outlives this one."""

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

    def receive(self):
        """BenchError: it failed, or has ended."""
        if not (line := self.process.stdout.readline()):
            self.process.wait()
            raise BenchError(f"{self.name} {self.ending()}")
        answer = json.loads(line)
        if "error" in answer:
            raise BenchError(f"{self.name}: {answer['error']}", answer["code"])
        return answer

    def ask(self, line):
        try:
            print(line, file=self.process.stdin, flush=True)
        except BrokenPipeError:
            pass  # `receive` says why
        return self.receive()

    def ending(self):
        """How it ended; None while it runs."""
        code = self.process.poll()
        return None if code is None else f"has ended: {code} (a negative number is that of a signal)"

    def kill(self):
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream:
                stream.close()


def start_server(stage, kind, options):
    """A baseline or a coordinator, with its address and its bytes before it serves."""
    child = stage.start(f"the server process ({kind})", "coordinator" if kind in OURS else "baseline",
                        options, stage.server_cpu)
    child.receive()
    child.first_bytes = memory_of(child.pid).now
    child.at = child.ask("serve")["listening"]
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


def need_rival(kind):
    if kind == XLA_SERVICE:
        jax_python()
    elif not shutil.which("redis-server"):
        raise BenchError("--vs redis: the program redis-server is not installed. On Debian: apt-get install "
                         "redis-server", UNAVAILABLE)


def free_address():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"127.0.0.1:{listener.getsockname()[1]}"


def _command_of(kind, at, stage, tasks):
    if kind == XLA_SERVICE:
        return [jax_python(), "-B", HERE.parent / "servers/xla_service.py", at, str(tasks)]
    where = (["--port", "0", "--unixsocket", at.removeprefix("unix:")] if at.startswith("unix:") else
             ["--bind", "127.0.0.1", "--port", at.rsplit(":", 1)[1]])
    return ["redis-server", "--save", "", "--appendonly", "no", "--dir", stage.directory,
            "--loglevel", "warning", "--maxclients", "1000000",
            "--client-output-buffer-limit", "pubsub 0 0 0", *where]


def _can_connect(at):
    is_unix = at.startswith("unix:")
    with socket.socket(socket.AF_UNIX if is_unix else socket.AF_INET) as tried:
        return tried.connect_ex(at[5:] if is_unix else ("127.0.0.1", int(at.rpartition(":")[2]))) == 0


def start_rival(stage, kind, at, tasks):
    """Its process, for so many tasks, which can be connected to."""
    at = free_address() if at.endswith(":0") else at
    log = Path(at.removeprefix("unix:") + ".log" if at.startswith("unix:") else f"{stage.directory}/{at}.log")
    with log.open("w") as out:
        child = stage.keep(Child(f"the server process ({kind})",
                                 ["setpriv", "--pdeathsig", "KILL", *_command_of(kind, at, stage, tasks)],
                                 stage.server_cpu, out))
    child.at, child.first_bytes = at, 0
    until = time.monotonic() + 20
    while not _can_connect(at):
        if child.ending() or time.monotonic() > until:
            raise BenchError(f"{kind} cannot be reached at {at}; its process {child.ending() or 'runs'}. Its "
                             f"log: {log.read_text()[-2000:]}", UNAVAILABLE)
        time.sleep(0.01)
    return child
