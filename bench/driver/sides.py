"""The things that are compared: servers and the loads on them, beside each other."""

import dataclasses
import os
import resource
import tempfile
import time

from driver import machine
from driver.figures import Histogram
from driver.machine import BenchError, cpu_time_of, memory_of
from driver.processes import (
    OF_JOBS, OURS, RIVALS, ClientProcesses, Load, Roles, files_parent_of, free_address, start_rival,
    start_relay, start_server, start_with_engine)

DESCRIPTORS_BESIDES = 128  # and what the server keeps for itself


@dataclasses.dataclass
class Sample:
    """What a load found in some steps in a row, and what the operating system knows of them. Times are
    in nanoseconds."""
    operations: int
    elapsed: int
    busy: int  # the load's own CPU time while the clock ran
    latencies: list[Histogram]
    parts: list[dict]  # "elapsed" and "server_cpu" of each
    server_cpu: int | None  # None: a server whose process is not known
    first_bytes: int  # of the server's process, before it was one; zero: not known
    before: machine.Memory | None  # the server's
    after: machine.Memory | None
    load_cpu: int  # preparations included


class Side:
    """A server and the load on it, each in a process of its own."""

    def __init__(self, stage, plan, kind):
        self.stage, self.plan, self.kind = stage, plan, kind
        self.server = self.load = self.bytes_connected = None
        self.relays = []
        self.first_bytes = 0
        if kind in ("coxswain", "xla") and stage.address:
            self.at, self.server_pid = stage.address, stage.server_pid
        else:
            self._start()
            self.server_pid = self.server.pid

    def _start(self):
        stage = self.stage
        self.at = stage.new_address(self.kind)
        if self.kind in RIVALS:
            self.at = free_address() if self.at.endswith(":0") else self.at
            self.server = start_rival(stage, self.kind, self.at, self.plan.job["num_tasks"])
            return
        if self.kind == "coxswain" and stage.engine:
            self.server, self.at = start_with_engine(stage, self.at, self.plan.job["num_tasks"])
            return
        options = {"listen": self.at, "together": self.plan.answers_together,
                   "is_together": True, "is_quiet": self.plan.fails,
                   **self.plan.job, **self._of_ours(), **self._journal()}
        self.server, self.at, self.first_bytes = start_server(stage.roles, self.kind, options,
                                                              stage.cpus.server)
        if self.kind == "coxswain":
            self.relays = [start_relay(stage, self.at, f"{stage.directory}/{stage.added}.relay{i}")
                           for i in range(self.plan.relays)]

    def _of_ours(self):
        if self.kind not in OURS:
            return {}
        tls = {"tls": self.stage.certificates} if self.stage.certificates else {}
        return {"spin_us": self.stage.spin, **tls}

    def _journal(self):
        stage = self.stage
        if self.kind != "coxswain" or not stage.durability:
            return {}
        return {"journal": f"{stage.directory}/{stage.added}.journal", "durability": stage.durability}

    def connect(self, progress):
        """Starts the load. ``progress`` is told how many connections there are."""
        before = memory_of(self.server_pid) if self.server_pid else None
        stage, extent = self.stage, self.plan.extent(self.kind)
        if self.kind == "processes":
            self.load = ClientProcesses(stage.roles, self.at, extent.tasks, stage.cpus.load)
        else:
            plan = self.plan
            load = plan.load if self.kind in OF_JOBS else plan.others_load or plan.load
            options = {"workload": load, "kind": self.kind, "address": self.at,
                       "connections": extent.connections, "tasks": extent.tasks,
                       **plan.options, **self._of_ours()}
            if self.kind == "coxswain":
                options |= {"trunks": self.plan.trunks, "relays": [one.at for one in self.relays]}
            if self.server_pid:
                options["server_pid"] = self.server_pid
            self.load = Load(stage.roles, self.kind, options, stage.cpus.load)
        self._asked(lambda: self.load.connect(progress))
        if before:
            self._await_rest()
            self.bytes_connected = memory_of(self.server_pid).now - before.now

    def measure(self, steps):
        if self.server:
            machine.forget_peak(self.server_pid)
        before = memory_of(self.server_pid) if self.server_pid else None
        server_before, load_before = self._server_cpu(), self._load_cpu()
        told = self._asked(lambda: self.load.measure(steps))
        server_cpu = after = None
        if self.server_pid:
            self._await_rest()
            server_cpu = self._server_cpu() - server_before
            after = memory_of(self.server_pid)
        latencies = [Histogram(one) for one in told.pop("latencies")]
        return Sample(**told, latencies=latencies, server_cpu=server_cpu, before=before, after=after,
                      first_bytes=self.first_bytes, load_cpu=self._load_cpu() - load_before)

    def turn_to(self, act):
        self.load.turn_to(act)

    def conclude(self):
        return self._asked(self.load.conclude)

    def finish(self):
        self._asked(self.load.finish)

    def recording(self, path):
        """Writes what the coordinator was told, once the load has left."""
        self.server.ask(path)
        return path

    def cpu_time(self):
        return (self._server_cpu() or 0) + self._load_cpu()

    def wait_time(self):
        """How long its processes were ready, but had no CPU."""
        pids = self.load.pids if self.load and self.load.waits else []
        return sum(map(machine.wait_time_of, [*pids, *filter(None, [self.server_pid])]))

    def kill(self):
        """The server first: it need not see its clients vanish."""
        for one in (*self.relays, self.server, self.load):
            if one:
                one.kill()

    def _server_cpu(self):
        if not self.server_pid:
            return None
        return sum(map(cpu_time_of, [self.server_pid, *(one.pid for one in self.relays)]))

    def _load_cpu(self):
        return sum(map(cpu_time_of, self.load.pids)) if self.load else 0

    def _await_rest(self):
        """What a server does after its last answer is work, too: a coordinator gives memory back."""
        for _ in range(50):
            used = self._server_cpu()
            time.sleep(0.001)
            if self._server_cpu() == used:
                return

    def _asked(self, question):
        """When the load fails, the server may know better why. A rival has no channel to say so."""
        try:
            return question()
        except BenchError as problem:
            if not self.server:
                raise
            if self.kind in RIVALS:
                cause = self.server.ending() and BenchError(f"{self.kind} {self.server.ending()}")
            else:
                cause = self.server.last_words()
            if not cause:
                raise
            raise BenchError(f"{cause}; {problem}", cause.code) from None


class Stage:
    """Sides that work beside each other, one at a time. Everything ends with it."""

    def __init__(self, program, transport, address="", server_pid=None, baseline_on_tcp=False,
                 parent="/tmp", spin=0, durability=None, engine=None):
        self.roles = Roles(program)
        self.transport, self.address, self.server_pid = transport, address, server_pid
        self.baseline_on_tcp, self.parent, self.spin = baseline_on_tcp, parent, spin
        self.durability, self.engine = durability, engine
        self.cpus = machine.plan_cpus()
        self.sides, self.added, self.waited = [], 0, 0

    def __enter__(self):
        self._files = tempfile.TemporaryDirectory(prefix="coxswain-bench-", dir=self.parent)
        self.directory = self._files.name
        self._authority, self.certificates = None, None
        if self.transport == "tls":
            self._authority = self.roles.start("certificates", "certificates", {})
            self.certificates = self._authority.receive()
        return self

    def __exit__(self, *_):
        machine.show("")
        for side in self.sides:
            side.kill()
        if self._authority:
            self._authority.kill()
        self._files.cleanup()

    def is_unix(self, kind="coxswain"):
        return self.transport == "unix" and not (self.baseline_on_tcp and kind == "baseline")

    def new_address(self, kind):
        self.added += 1
        return f"unix:{self.directory}/{self.added}" if self.is_unix(kind) else "127.0.0.1:0"

    def add(self, plan, kind, name=None):
        """Starts a server, unless it runs already, and its load, and lets that connect."""
        connections = plan.trunks if plan.trunks and kind == "coxswain" else plan.extent(kind).connections
        machine.need_descriptors(connections + DESCRIPTORS_BESIDES)
        self.sides.append(side := Side(self, plan, kind))
        side.connect(lambda n: machine.show(f"{name or kind}: {n} of {connections} connections"))
        return side

    def remove(self, side):
        self.waited += side.wait_time()
        self.sides.remove(side)
        side.kill()

    def watch(self):
        """Disturbances count from here on."""
        self._before = (machine.machine_time(), *self._used())

    def disturbance(self):
        return machine.Disturbance.between(*self._before, machine.machine_time(), *self._used())

    def _used(self):
        """What the benchmark's processes have used, and how long they were ready but had no CPU."""
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = int((ended.ru_utime + ended.ru_stime) * 1e9) + cpu_time_of(os.getpid())
        return (used + sum(side.cpu_time() for side in self.sides),
                self.waited + sum(side.wait_time() for side in self.sides))

    def over(self):
        return {"unix": "Unix sockets", "tls": "TLS"}.get(self.transport, "TCP")

    def origin(self):
        """Where figures come from: nobody can make much of them without."""
        return {"machine": machine.machine(), "program": self.roles.ask("program", {})["program"],
                "day": machine.today()}
