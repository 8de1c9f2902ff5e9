"""Jobs of real JAX and torch programs, started in each of the ways in which Coxswain serves them. Not here:
tests.

The programs run in the environment that `environment NAME` has made; where it cannot be made the tests are
skipped, with the reason.
"""

import contextlib
import importlib.machinery
import importlib.util
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))

from programs import BIN, LIMIT, SLOWNESS, EndToEnd, Program, free_port  # noqa: E402

# How a job is started: `run`; `run --relay`; `task --host-if-task-0`, without and with --relay; `serve`;
# a relay for each of two hosts.
WAYS = "run", "relay", "host0", "host0_relay", "serve", "two_hosts"

TASKS = 4


def environment_module():
    loader = importlib.machinery.SourceFileLoader("environment", str(HERE / "environment"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("environment", loader))
    loader.exec_module(module)
    return module


def python_of(name):
    """The Python of an environment; ends this program as skipped if it is not there."""
    python = environment_module().python_of(name)
    if not python:
        print(f"skipped: there is no build/real-env-{name}; tests/real/environment {name} makes it or says why not")
        sys.exit(77)
    return python


class Line(str):
    """A line of a program's output, and when it came."""

    def __new__(cls, text):
        line = super().__new__(cls, text)
        line.at = time.monotonic()
        return line


class Process(Program):

    make_line = Line


class Job:
    """The processes of a job, and the coordinator and relays if they are processes of their own."""

    def __init__(self, way, tasks, programs, services):
        self.way, self.tasks, self.programs, self.services = way, tasks, programs, services

    @property
    def lines(self):
        """All output so far, in the order of time."""
        return sorted((line for program in self.programs for lines in program.lines.values() for line in lines),
                      key=lambda line: line.at)

    def lines_of(self, task):
        """The output of one process and of its wrapper."""
        if len(self.programs) > 1:
            return [line for lines in self.programs[task].lines.values() for line in lines]
        return [line for line in self.lines if line.startswith(f"[{task}] ")]

    def tasks_with(self, *words):
        """The processes with a line that has all these words."""
        return [task for task in range(self.tasks)
                if any(all(word in line for word in words) for line in self.lines_of(task))]

    def wait_for(self, count, text, limit=LIMIT):
        """Waits for as many lines with this text, and returns them."""
        deadline = time.monotonic() + limit
        while True:
            is_over = time.monotonic() > deadline or all(one.process.poll() is not None for one in self.programs)
            found = [line for line in self.lines if text in line]
            if len(found) >= count:
                return found
            if is_over:
                raise AssertionError(f"{len(found)} lines of {count} with {text!r}\n{self.output()}")
            time.sleep(0.01)

    def wait(self, limit=LIMIT):
        """The exit codes of its programs: `run` is one, all others have one for each process."""
        deadline = time.monotonic() + limit
        return [program.wait(max(deadline - time.monotonic(), 0.1)) for program in self.programs]

    def output(self):
        """All output, without C++ stack traces."""
        return "\n".join([*(line for line in self.lines if "     @ " not in line), *(service.output() for service in self.services)])

    def end(self):
        for program in (*self.programs, *self.services):
            with contextlib.suppress(ProcessLookupError):
                program.end()


class WithRealJobs(EndToEnd):

    def spawn(self, *command, env=None):
        """A program of ours by its name, or another one by its path."""
        process = Process(*command, env=self.directories() | (env or {}))
        self.addCleanup(process.end)
        return process

    def slurm_task(self, task, tasks=TASKS):
        """By which jax.distributed.initialize() without arguments finds its place."""
        return {"SLURM_PROCID": str(task), "SLURM_LOCALID": str(task), "SLURM_NTASKS": str(tasks),
                "SLURM_STEP_NUM_TASKS": str(tasks), "SLURM_JOB_ID": "77", "SLURM_STEP_NODELIST": "localhost"}

    def jax_task(self, address, task, command, env, tasks=TASKS):
        """A JAX process without a wrapper."""
        return self.spawn(*command, env={
            **env, **self.slurm_task(task, tasks), "JAX_COORDINATOR_ADDRESS": address,
            "JAX_COORDINATOR_BIND_ADDRESS": "127.0.0.1:0"})

    def job(self, way, command, *, env=None, tasks=TASKS, serve=()):
        """Starts the command, a list, as a job of so many processes; `serve` has more options of the
        coordinator where that is a process of its own."""
        env = {"JAX_PLATFORMS": "cpu", "PYTHONUNBUFFERED": "1", **(env or {})}
        services = []
        if way in ("run", "relay"):
            relay = ("--relay",) if way == "relay" else ()
            programs = [self.spawn("coxswain", "run", "-n", tasks, *relay, "--", *command, env=env)]
        elif way in ("host0", "host0_relay"):
            relay = ("--relay",) if way == "host0_relay" else ()
            address = {"COXSWAIN_ADDRESS": f"127.0.0.1:{free_port()}"}
            programs = [self.spawn("coxswain", "task", "--host-if-task-0", "--insecure", *relay, "--jax", "--",
                                   *command, env=env | self.slurm_task(task, tasks) | address)
                        for task in range(tasks)]
        else:
            services.append(self.serve(tasks, *serve))
            addresses = services[0].addresses[:1]
            if way == "two_hosts":
                services += [self.relay(services[0], name=name) for name in ("host0", "host1")]
                addresses = [relay.address for relay in services[1:]]
            programs = [self.jax_task(addresses[task * len(addresses) // tasks], task, command, env, tasks)
                        for task in range(tasks)]
        job = Job(way, tasks, programs, services)
        self.addCleanup(job.end)
        return job


__all__ = ["BIN", "LIMIT", "SLOWNESS", "TASKS", "WAYS", "Job", "Process", "WithRealJobs", "free_port", "python_of"]
