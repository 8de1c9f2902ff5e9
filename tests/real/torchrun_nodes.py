"""Nodes of one machine for torchrun: network namespaces at one bridge, which is the coordinator's; without
the permission to make these, plain processes on loopback. Not here: tests.
"""

import contextlib
import os
import pathlib
import signal
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("COXSWAIN_BIN", ROOT / "build/release/bin")) / "coxswain"
PACKAGE = pathlib.Path(os.environ.get("COXSWAIN_PYTHON", ROOT / "build/release/python"))

# Seconds, for whatever only a broken program does not do.
LIMIT = 120 * float(os.environ.get("COXSWAIN_SLOWNESS", "1"))

# Each step is a sum over all; one that rank 0 sees the file `stop` before is the last.
WORKER = """
import datetime, os, pathlib, sys, time
import torch, torch.distributed as dist
directory = pathlib.Path(sys.argv[1])
dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=60))
rank, world = dist.get_rank(), dist.get_world_size()
node, epoch = os.environ["NODE"], os.environ.get("COXSWAIN_EPOCH", "0")
if (directory / f"fails-{node}").exists():
    sys.exit(3)
while True:
    values = torch.tensor([1, int(rank == 0 and (directory / "stop").exists())])
    dist.all_reduce(values)
    total, is_last = values.tolist()
    with open(directory / "log", "a") as log:
        log.write(f"{time.monotonic()} {epoch} {rank} {world} {total} {node} {os.getpid()}\\n")
    if is_last:
        break
    time.sleep(0.02)
dist.destroy_process_group()
"""


class Step:
    """What a worker has logged of a step."""

    def __init__(self, line):
        at, epoch, rank, world, total, self.node, pid = line.split()
        self.at, self.epoch, self.rank, self.world = float(at), int(epoch), int(rank), int(world)
        self.total, self.pid = int(total), int(pid)


class Network:
    """A bridge in a namespace of its own, and a namespace for each node."""

    def __init__(self):
        self.prefix = f"cox{os.getpid()}"
        self.made, self.why_not = [], None
        try:
            self.head = self._namespace("head")
            self._inside(self.head, "link", "add", "bridge", "type", "bridge")
            self._inside(self.head, "address", "add", "10.231.0.1/24", "dev", "bridge")
            self._inside(self.head, "link", "set", "bridge", "up")
            self.address, self.interface = "10.231.0.1", "net"
        except (OSError, subprocess.CalledProcessError) as problem:
            self.why_not = getattr(problem, "stderr", None) or str(problem)
            print(f"no network namespaces, so all nodes are on loopback: {self.why_not}", flush=True)
            self.close()
            self.head, self.address, self.interface = None, "127.0.0.1", "lo"

    @staticmethod
    def _ip(*arguments):
        subprocess.run(["ip", *arguments], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.PIPE, text=True)

    def _inside(self, name, *arguments):
        self._ip("-netns", name, *arguments)

    def _namespace(self, name):
        made = f"{self.prefix}-{name}"
        self._ip("netns", "add", made)
        self.made.append(made)
        self._inside(made, "link", "set", "lo", "up")
        return made

    def add(self, number):
        """The namespace of another node, or none, and its address."""
        if self.head is None:
            return None, self.address
        made = self._namespace(f"node{number}")
        self._inside(self.head, "link", "add", f"port{number}", "type", "veth", "peer", "name", "net",
                     "netns", made)
        self._inside(self.head, "link", "set", f"port{number}", "master", "bridge", "up")
        self._inside(made, "address", "add", f"10.231.0.{10 + number}/24", "dev", "net")
        self._inside(made, "link", "set", "net", "up")
        return made, f"10.231.0.{10 + number}"

    def cut(self, place):
        """No packet of this node passes any more."""
        self._inside(place, "link", "set", "net", "down")

    def close(self):
        for name in self.made:
            subprocess.run(["ip", "netns", "delete", name], stderr=subprocess.DEVNULL)
        self.made = []


class Job:
    """A coordinator or c10d's store, nodes, and what their workers log."""

    def __init__(self, python, backend="coxswain", *, with_relays=False):
        self.python, self.backend, self.with_relays = python, backend, with_relays
        self.network = Network()
        self.made = tempfile.TemporaryDirectory(prefix="coxswain-torchrun-")
        self.directory = pathlib.Path(self.made.name)
        self.log = self.directory / "log"
        self.log.touch()
        (self.directory / "train.py").write_text(WORKER)
        self.nodes, self.places, self.relays = {}, {}, {}
        self.coordinator = None
        self.endpoint = f"{self.network.address}:8476"

    def _start(self, place, command, errors, **environment):
        inside = ["ip", "netns", "exec", place] if place else []
        errors = f"{errors}.err"
        with open(self.directory / errors, "ab") as out:
            return subprocess.Popen([*inside, *map(str, command)], stdout=out, stderr=out,
                                    env={**os.environ, **environment}, start_new_session=True)

    def serve(self, *options):
        """The coordinator, also the next one of the same journal."""
        self.coordinator = self._start(
            self.network.head,
            [PROGRAM, "serve", "--elastic", "--job", "train", "--listen", self.endpoint, "--insecure",
             *options],
            "coordinator")

    def start(self, name, nodes, *options, conf="", workers=1):
        """torchrun on a node; one of the same name runs at the same place."""
        if name not in self.places:
            self.places[name] = self.network.add(len(self.places))
        place, address = self.places[name]
        is_ours = self.backend == "coxswain"
        own = f"member={name}" if is_ours else f"is_host={int(address == self.places['node0'][1])}"
        endpoint = self.endpoint if is_ours else f"{self.places['node0'][1]}:29400"
        if self.with_relays:
            endpoint = f"unix:{self._relay(name, place)}"
        if not is_ours or self.network.head is None:
            options += (f"--local-addr={address}",)
        self.nodes[name] = self._start(
            place,
            [self.python, "-m", "torch.distributed.run", f"--nnodes={nodes}", f"--nproc-per-node={workers}",
             f"--rdzv-backend={self.backend}", f"--rdzv-endpoint={endpoint}", "--rdzv-id=train",
             f"--rdzv-conf={','.join(filter(None, [own, conf]))}", *options,
             self.directory / "train.py", self.directory],
            name, NODE=name, PYTHONPATH=str(PACKAGE), OMP_NUM_THREADS="1",
            GLOO_SOCKET_IFNAME=self.network.interface)
        return self.nodes[name]

    def _relay(self, name, place):
        """The socket of the relay of this node."""
        socket = self.directory / f"{name}.sock"
        if name not in self.relays:
            self.relays[name] = self._start(
                place, [PROGRAM, "relay", "--upstream", self.endpoint, "--listen", f"unix:{socket}"],
                f"{name}-relay")
            deadline = time.monotonic() + LIMIT
            while not socket.exists():
                assert time.monotonic() < deadline, self.texts()
                time.sleep(0.01)
        return socket

    def worker(self, name):
        """The process that has made the last step on this node."""
        return next(one.pid for one in reversed(self.steps()) if one.node == name)

    def kill(self, name, *, with_worker=False):
        """SIGKILL to torchrun, whose workers live on, unless theirs is killed, too; returns when."""
        at = time.monotonic()
        if with_worker:
            os.kill(self.worker(name), signal.SIGKILL)
        node = self.nodes.pop(name)
        node.kill()
        node.wait()
        return at

    def steps(self):
        lines = self.log.read_text().split("\n")[:-1]
        return [Step(one) for one in lines]

    def first_step(self, world, since=0.0, limit=LIMIT):
        """The first one of so many workers that were all started after that time."""
        deadline = time.monotonic() + limit
        while time.monotonic() < deadline:
            steps = self.steps()
            former = {one.pid for one in steps if one.at <= since}
            for one in steps:
                if one.world == world and one.pid not in former:
                    return one
            time.sleep(0.05)
        raise AssertionError(f"no step of {world} workers\n{self.texts()}")

    def await_text(self, name, text):
        deadline = time.monotonic() + LIMIT
        while text not in self.terminal(name):
            if time.monotonic() > deadline:
                raise AssertionError(f"{name} has not said: {text}\n{self.texts()}")
            time.sleep(0.05)

    def terminal(self, name):
        return (self.directory / f"{name}.err").read_text(errors="replace")

    def texts(self):
        return "\n".join(f"--- {one.stem}\n{one.read_text(errors='replace')[-3000:]}"
                         for one in sorted(self.directory.glob("*.err")))

    def stop(self):
        """All workers end after the next step; returns the exit codes of the nodes."""
        (self.directory / "stop").touch()
        return self.ends()

    def ends(self):
        codes = {}
        for name, one in self.nodes.items():
            with contextlib.suppress(subprocess.TimeoutExpired):
                codes[name] = one.wait(LIMIT)
        self.nodes = {}
        return codes

    def close(self):
        coordinator = [self.coordinator] if self.coordinator else []
        for one in [*self.nodes.values(), *self.relays.values(), *coordinator]:
            one.kill()
            one.wait()
        for pid in {one.pid for one in self.steps()}:  # of nodes that were killed
            with contextlib.suppress(OSError):
                if str(self.directory) in pathlib.Path(f"/proc/{pid}/cmdline").read_text():
                    os.kill(pid, signal.SIGKILL)
        self.network.close()
        self.made.cleanup()
