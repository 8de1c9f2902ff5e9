"""The rendezvous handler of coxswain.torch_elastic, and the stores that it gives to torch."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import socket
import sys
import threading
import time

import torch.distributed
from torch.distributed.elastic.rendezvous import api

import coxswain
from coxswain._rendezvous_settings import Settings
from coxswain._torch import StoreTimeout, TorchStore
from coxswain.store import Store

_log = logging.getLogger("coxswain")

_READ_TIMEOUT = 300.0

# Between two questions of a node that waits, whether an epoch has begun without it.
_LOOK_INTERVAL = 0.5

# The events that are searched for the end of an epoch, and how long they are waited for.
_EVENTS = 64
_EVENTS_TIMEOUT = 5.0

# A member that has failed for good, with on_failure=close.
_FAILURE_KEY = "torch/failure"

# In the agents' store: a node's workers have ended.
END_KEY = "ends"


def _show_log():
    """On torchrun's terminal, unless its program has set up logging."""
    if not _log.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("coxswain: %(message)s"))
        _log.addHandler(handler)
        _log.setLevel(logging.INFO)


def host_of(address):
    """Of a member as the coordinator sees it: HOST:PORT, which with a relay has more words behind
    it; none for a Unix socket."""
    found = re.match(r"(\[.+\]|[^\s:\[]+):\d+(\s|$)", address)
    return found and found[1].strip("[]")


class AgentsStore(TorchStore):
    """What the agents of one epoch exchange.

    Torch's agent ends with an error if its exchange of ranks fails, and waits in it if a member is
    lost. So once the epoch is over that exchange gets made-up values: the workers that are started
    with these reach nobody, and are stopped at the agent's next look at `num_nodes_waiting`.
    """

    _EXCHANGED = re.compile(
        r"torchelastic/(role_info|assigned_ranks)/?(\d+)(\.FIN)?|MASTER_(ADDR|PORT)")
    _MADE_UP = {"MASTER_ADDR": b"127.0.0.1", "MASTER_PORT": b"9"}

    def __init__(self, store, epoch, local_addr):
        super().__init__(store)
        self._epoch = epoch
        self._local_addr = local_addr
        self._own_role = {"role": "default", "rank": epoch.rank, "local_world_size": 1}

    def set(self, key, value):
        if "torchelastic/role_info" in key and not key.endswith(".FIN"):
            self._own_role = json.loads(value)
        if key == "MASTER_ADDR" and self._local_addr:
            value = self._local_addr  # torch's is a host name, which may not resolve
        self._note_end(key)
        with contextlib.suppress(coxswain.Aborted):
            super().set(key, value)

    def add(self, key, amount):
        self._note_end(key)
        return super().add(key, amount)

    def _note_end(self, key):
        """The workers of this node have ended, and it waits for the others: see `_wanted`."""
        if "terminal_state" in key:
            with contextlib.suppress(coxswain.Aborted):
                super().set(END_KEY, b"")

    def get(self, key):
        try:
            return super().get(key)
        except coxswain.Aborted as problem:
            return self._made_up(key, problem)

    def multi_get(self, keys):
        try:
            return super().multi_get(keys)
        except coxswain.Aborted as problem:
            return [self._made_up(key, problem) for key in keys]

    def multi_set(self, keys, values):
        with contextlib.suppress(coxswain.Aborted):
            super().multi_set(keys, values)

    def wait(self, keys, /, *timeout):
        try:
            super().wait(keys, *timeout)
        except coxswain.Aborted as problem:
            for key in keys:
                self._made_up(key, problem)

    def _made_up(self, key, problem):
        found = self._EXCHANGED.fullmatch(key)
        if not found:
            raise StoreTimeout(f"wait for {key} ended: {problem}") from problem
        if key in self._MADE_UP:
            return self._MADE_UP[key]
        kind, rank, is_end = found[1], int(found[2]), found[3]
        if is_end:
            return b"FIN"
        if kind == "role_info":
            return json.dumps({**self._own_role, "rank": rank}).encode()
        workers = self._epoch.size * self._own_role["local_world_size"]
        return json.dumps([0, workers, 0, workers]).encode()


class Rendezvous(api.RendezvousHandler):
    """One node of the job, for torchrun's agent. See coxswain.torch_elastic."""

    def __init__(self, parameters):
        _show_log()
        self._settings = Settings(parameters)
        self._job = None
        self._epoch = None       # the last one that this node was given
        self._store = None       # of its agents
        self._began_at = 0.0
        self._waiting = 0        # the last answer of num_nodes_waiting
        self._workers_stores = []  # of this epoch and the one before, whose workers may end later

    def get_backend(self):
        return "coxswain"

    def get_run_id(self):
        return self._settings.job

    @property
    def use_agent_store(self):
        return os.environ.get("TORCH_DISABLE_SHARE_RDZV_TCP_STORE", "0") != "1"

    def next_rendezvous(self):
        give_up_at = time.monotonic() + self._settings.join_timeout
        while True:
            with self._reporting():
                epoch = self._next_epoch(give_up_at)
            keys = Store(self._job, f"epoch/{epoch.number}/agents", _READ_TIMEOUT)
            store = AgentsStore(keys, epoch, self._settings.local_addr)
            # From here on torch cannot be notified that a member is lost before all have the epoch.
            try:
                self._job.barrier("torch/epoch", self._settings.join_timeout)
            except (coxswain.Aborted, coxswain.Internal):
                continue
            except coxswain.Error as problem:
                raise self._as_torch_error(problem) from problem
            self._store = store
            self._began_at = time.monotonic()
            self._waiting = 0
            os.environ.update(
                COXSWAIN_ADDRESS=self._settings.address, COXSWAIN_JOB=self._settings.job,
                COXSWAIN_MEMBER=self._settings.member, COXSWAIN_EPOCH=str(epoch.number))
            _log.info("%sepoch %d begins with %d of %d nodes (lost: %d, joined: %d); "
                      "this is node %d", self._reason_of(epoch), epoch.number, epoch.size,
                      self._settings.max_nodes, epoch.lost, epoch.joined, epoch.rank)
            return self._as_torch_wants_it(epoch, store)

    def _next_epoch(self, give_up_at):
        """The next epoch in which this node is a member."""
        while True:
            left = max(give_up_at - time.monotonic(), 0)
            try:
                if self._job is None:
                    self._connect(left)
                self._check_failure()
                if self._epoch is None:
                    self._job.join(left)
                    self._epoch = self._job.present_epoch()
                    self._check_elastic()
                else:
                    self._epoch = self._job.next_epoch(left)
                return self._epoch
            except coxswain.Aborted as problem:
                self._check_failure()
                if self._job.failure(0) is not None:
                    raise api.RendezvousClosedError(str(problem)) from problem
                _log.warning("this node joins anew: %s", problem)
                self._forget_job()
            except coxswain.Unavailable as problem:
                if self._epoch is None:
                    raise self._as_torch_error(problem) from problem
                # The coordinator has ended the session, as after a suspension of this process.
                _log.warning("this node joins anew: %s", problem)
                self._forget_job()
            except coxswain.Cancelled as problem:
                self._forget_job()
                if self._epoch is None:
                    _log.info("this node was not needed: %s", problem)
                    raise SystemExit(0) from None
                raise api.RendezvousClosedError(str(problem)) from problem
            except coxswain.ResourceExhausted as problem:
                _log.warning("this node is not needed: %s", problem)
                self._forget_job()
                raise SystemExit(0) from None
            except coxswain.Error as problem:
                is_late = isinstance(problem, coxswain.DeadlineExceeded)
                if is_late and self._job is not None and self._is_spare():
                    give_up_at = float("inf")
                    continue
                raise self._as_torch_error(problem) from problem

    def _reason_of(self, epoch):
        """Why the one before has ended, if members were lost. This node may have been waiting when
        that happened."""
        if epoch.lost == 0:
            return ""
        over = f"epoch {epoch.number - 1} is over: "
        with contextlib.suppress(coxswain.Error):
            events, _ = self._job.events(severity="warning", timeout=_EVENTS_TIMEOUT, last=_EVENTS)
            for one in reversed(events):
                if one.text.startswith(over):
                    return one.text.removeprefix(over) + ": "
        return ""

    @contextlib.contextmanager
    def _reporting(self):
        """Until this node is a member, reports what it waits for."""
        is_over = threading.Event()
        if self._epoch is None:
            threading.Thread(target=self._report_waiting, args=(is_over,), daemon=True).start()
        try:
            yield
        finally:
            is_over.set()

    def _report_waiting(self, is_over):
        while not is_over.wait(_LOOK_INTERVAL):
            job = self._job
            if job is None:
                continue
            with contextlib.suppress(coxswain.Error):  # no epoch has begun, or the job has ended
                members = len(job.epoch_members())
                if not is_over.is_set():
                    _log.info("%s", self._why_not_yet(members))
                return

    def _why_not_yet(self, members):
        most = self._settings.max_nodes
        if members < most:
            return f"{members} of {most} nodes are in the present epoch: this one joins the next"
        return (f"this node is a spare: the present epoch has all {most} nodes; it takes the place "
                "of the next one that is lost, and ends when the job does")

    def _as_torch_error(self, problem):
        if isinstance(problem, coxswain.DeadlineExceeded):
            one = self._settings
            return api.RendezvousTimeoutError(
                f"{problem}; --nnodes={one.min_nodes}:{one.max_nodes}")
        if isinstance(problem, coxswain.Unavailable):
            return api.RendezvousConnectionError(str(problem))
        return api.RendezvousStateError(str(problem))

    def _connect(self, timeout):
        one = self._settings
        self._epoch = None
        self._job = coxswain.Client(one.address, member=one.member, placement=one.placement,
                                    label=one.label, job=one.job, connect_timeout=timeout,
                                    **one.security)
        if self._job.num_tasks != one.max_nodes:
            raise api.RendezvousStateError(
                f"--nnodes={one.min_nodes}:{one.max_nodes}, but the coordinator of job "
                f"{one.job!r} has --num-tasks {self._job.num_tasks}")

    def _check_elastic(self):
        if self._epoch is not None:
            return
        one = self._settings
        raise api.RendezvousStateError(
            f"the coordinator of job {one.job!r} has a fixed number of tasks: start it with "
            f"--elastic --min-tasks {one.min_nodes} --num-tasks {one.max_nodes}")

    def _check_failure(self):
        found = self._job.try_get(_FAILURE_KEY)
        if found is not None:
            raise api.RendezvousClosedError(found.decode("utf-8", "replace"))

    def _is_spare(self):
        try:
            return self._epoch is None and bool(self._job.epoch_members())
        except coxswain.FailedPrecondition:  # none has begun
            return False

    def _forget_job(self):
        self._job.close()
        self._job = None

    def _as_torch_wants_it(self, epoch, store):
        info = getattr(api, "RendezvousInfo", None)
        if info is None:  # before torch 2.4
            return store, epoch.rank, epoch.size
        address, port = self._workers_store(epoch, store)
        return info(store, epoch.rank, epoch.size, api.RendezvousStoreInfo(address, port))

    def _workers_store(self, epoch, store):
        """The address of a store for the workers, which is new in each epoch: they find no keys of
        earlier ones."""
        if epoch.rank == 0:
            host = self._settings.local_addr or host_of(epoch.address) or socket.getfqdn()
            if self.use_agent_store:
                made = torch.distributed.TCPStore(host, 0, is_master=True, wait_for_workers=False,
                                                  multi_tenant=True)
                self._workers_stores = [*self._workers_stores[-1:], made]
                port = made.port
            else:
                with socket.socket() as free:
                    free.bind(("", 0))
                    port = free.getsockname()[1]
            store.set("workers", f"{host} {port}")
        try:
            host, port = store.get("workers").split()
        except StoreTimeout:  # the epoch is over
            host, port = b"127.0.0.1", b"9"
        return host.decode(), int(port)

    def num_nodes_waiting(self):
        """Torch asks while its workers run: above zero, it restarts them in the next epoch."""
        with contextlib.suppress(coxswain.Error):  # an exception would end the agent
            if self._job is not None:
                self._waiting = self._wanted()
        return self._waiting

    def _wanted(self):
        ending = self._job.epoch_wanted()
        if ending is None:
            return 0
        if ending.why == "joiners":
            is_early = time.monotonic() - self._began_at < self._settings.min_epoch
            is_unwanted = is_early or not self._settings.grows_now or ending.joiners == 0
            if is_unwanted or self._store.check([END_KEY]):
                return 0
        if self._waiting == 0:
            _log.info("the workers of this node are stopped: %s", ending.text)
        return max(ending.joiners, 1)

    def is_closed(self):
        return self._job is None and self._epoch is not None

    def set_closed(self):
        self._leave(None)

    def shutdown(self):
        return self._leave(sys.exc_info()[1])

    def _leave(self, why):
        """`why`: none, the workers have ended well."""
        if self._job is None:
            return True
        try:
            if why is None and self._epoch is not None:
                self._job.leave(self._settings.close_timeout)
            elif type(why).__name__ == "ChildFailedError" and self._settings.closes:
                text = f"node {self._settings.member} has failed: {why}"
                self._job.put(_FAILURE_KEY, text[:4096], overwrite=True)
                self._job.report_error(coxswain.Code.ABORTED, text[:4096])
            elif self._epoch is not None:
                self._job.leave(0)
        except coxswain.Error as problem:
            _log.warning("this node ends without the others: %s", problem)
        finally:
            self._forget_job()
        return True
