#!/usr/bin/env python3
"""The rendezvous handler under agents that do what torch's do, without torch and its workers."""

import json
import os
import threading
import time
import unittest

import torch_stubs
from support import LIMIT, PythonTest, eventually, main
from torch_stubs import Parameters, Version

from coxswain.torch_elastic import SETTINGS, get_handler_creator

JOB = "train"


class Lost(Exception):
    """The agent is killed."""


class ChildFailedError(Exception):
    """Torch's, by its name."""


class Agent(threading.Thread):
    """Torch's SimpleElasticAgent without its workers, polling them every 5 ms."""

    def __init__(self, address, name, version=Version.INFO, nodes=(2, 4), dies_in_exchange=None, **conf):
        super().__init__(daemon=True)
        conf = {"join_timeout": LIMIT, "close_timeout": LIMIT, "min_epoch": 0, "member": name, **conf}
        self.handler = get_handler_creator()(Parameters(address, JOB, *nodes, **conf))
        self.version = version
        self.dies_in_exchange = dies_in_exchange
        self.seen = []       # (number of the epoch, rank, size, rank of its first worker)
        self.ended = None    # the exception, or "well"
        self.seconds = None  # of the exit barrier
        self.now = threading.Condition()
        self.given = None    # the last order
        self.start()

    def run(self):
        try:
            self.work()
            self.ended = "well"
        except BaseException as problem:  # SystemExit is an outcome, too
            self.ended = problem

    def work(self):
        try:
            while True:
                self.rendezvous()
                if not self.run_workers():
                    break
            begin = time.monotonic()
            try:
                self.exit_barrier()
            except Exception:  # as torch, which logs it
                pass
            self.seconds = time.monotonic() - begin
        except Lost:
            self.handler._forget_job()
            raise
        finally:
            self.handler.shutdown()

    def rendezvous(self):
        made = self.handler.next_rendezvous()
        if self.version is Version.TUPLE:
            self.store, self.rank, self.size = made
        else:
            self.store, self.rank, self.size = made.store, made.rank, made.world_size
            self.master = made.bootstrap_store_info.master_port
        base = self.exchange_as_1_13() if self.version is Version.TUPLE else self.exchange_as_2_4()
        self.seen.append((int(os.environ["COXSWAIN_EPOCH"]), self.rank, self.size, base))

    def step(self, number):
        if self.dies_in_exchange == number:
            raise Lost

    def synchronize(self, prefix, data):
        self.store.set(f"{prefix}{self.rank}", data)
        self.step(1)
        found = [self.store.get(f"{prefix}{i}") for i in range(self.size)]
        self.step(2)
        self.store.set(f"{prefix}{self.rank}.FIN", b"FIN")
        if self.rank == 0:
            for i in range(self.size):
                self.store.get(f"{prefix}{i}.FIN")
        return found

    def role(self):
        return json.dumps({"role": "trainer", "rank": self.rank, "local_world_size": 2}).encode()

    def exchange_as_1_13(self):
        infos = [json.loads(one) for one in self.synchronize("torchelastic/role_info", self.role())]
        if self.rank == 0:
            self.store.set("MASTER_ADDR", b"no.such.host")
            self.store.set("MASTER_PORT", b"1234")
        self.step(3)
        self.master = (self.store.get("MASTER_ADDR"), self.store.get("MASTER_PORT"))
        return sum(one["local_world_size"] for one in infos if one["rank"] < self.rank)

    def exchange_as_2_4(self):
        self.store.set(f"torchelastic/role_info/{self.rank}", self.role())
        self.step(1)
        if self.rank == 0:
            infos = self.store.multi_get([f"torchelastic/role_info/{i}" for i in range(self.size)])
            self.step(2)
            sizes = [json.loads(one)["local_world_size"] for one in infos]
            assigned = [json.dumps([sum(sizes[:i]), sum(sizes), sum(sizes[:i]), sum(sizes)])
                        for i in range(self.size)]
            self.store.multi_set([f"torchelastic/assigned_ranks/{i}" for i in range(self.size)], assigned)
        self.step(3)
        return json.loads(self.store.get(f"torchelastic/assigned_ranks/{self.rank}"))[0]

    def run_workers(self):
        """False: they have ended well."""
        while True:
            with self.now:
                self.now.wait(0.005)
                order = self.given
            if order == "end":
                return False
            if order is not None:
                raise order
            if self.handler.num_nodes_waiting() > 0:
                return True

    def exit_barrier(self):
        if self.version is Version.TUPLE:
            self.synchronize("torchelastic/agent/terminal_state", b"")
            return
        prefix = "torchelastic/agent/terminal_state"
        if self.store.add(f"{prefix}/num_members", 1) == self.size:
            self.store.set(f"{prefix}/last_member", b"")
        self.store.get(f"{prefix}/last_member")

    def order(self, order):
        with self.now:
            self.given = order
            self.now.notify()

    def joined(self, size, after):
        eventually(lambda: self.ended or (self.seen and self.seen[-1][0] > after and self.seen[-1][2] == size))
        assert self.ended is None, self.ended
        return self.seen[-1]

    def outcome(self):
        self.join(LIMIT)
        assert not self.is_alive()
        return self.ended


class TorchElastic(PythonTest):
    version = Version.INFO

    def setUp(self):
        super().setUp()
        self.api = torch_stubs.install(self.version)

    def serve(self, **settings):
        settings = {"min_tasks": 2, "last_call": 0.3, "come_back": 0, **settings}
        self.job = self.coordinator(4, job=JOB, elastic=True, **settings)

    def agent(self, name, **conf):
        made = Agent(self.job.address, name, self.version, **conf)
        self.addCleanup(made.order, Lost())
        return made

    def agents(self, count, **conf):
        return [self.agent(f"n{i}", **conf) for i in range(count)]

    def assert_one_epoch(self, agents, size, after=0):
        """Of the epoch after that one; returns its number."""
        seen = [one.joined(size, after) for one in agents]
        self.assertEqual(len({number for number, *_ in seen}), 1, seen)
        self.assertEqual(sorted(rank for _, rank, *_ in seen), list(range(size)))
        for _, rank, _, base in seen:
            self.assertEqual(base, 2 * rank)
        self.assertEqual(len({one.master for one in agents}), 1)
        return seen[0][0]

    def end_well(self, agents):
        for one in agents:
            one.order("end")
        for one in agents:
            self.assertEqual(one.outcome(), "well")

    def test_all_nodes_are_one_epoch_without_a_last_call(self):
        self.serve(last_call=10 * LIMIT)
        all_four = self.agents(4)

        self.assert_one_epoch(all_four, 4)
        self.end_well(all_four)

    def test_one_joins_later_and_the_others_keep_their_ranks(self):
        self.serve()
        three = self.agents(3)
        first = self.assert_one_epoch(three, 3)
        ranks = [one.rank for one in three]

        fourth = self.agent("n3")

        self.assertEqual(self.assert_one_epoch([*three, fourth], 4), first + 1)
        self.assertEqual([one.rank for one in three], ranks)
        self.end_well([*three, fourth])

    def test_a_loss_stops_the_others_at_once(self):
        self.serve()
        four = self.agents(4)
        self.assert_one_epoch(four, 4)

        four[0].order(Lost())
        self.assertIsInstance(four[0].outcome(), Lost)
        self.assert_one_epoch(four[1:], 3)
        again = self.agent("n0")
        self.assert_one_epoch([again, *four[1:]], 4)
        self.end_well([again, *four[1:]])

    def test_a_node_that_is_taken_away_closes_nothing(self):
        self.serve()
        four = self.agents(4)
        self.assert_one_epoch(four, 4)

        four[2].order(KeyboardInterrupt())

        self.assertIsInstance(four[2].outcome(), KeyboardInterrupt)
        rest = [four[0], four[1], four[3]]
        self.assert_one_epoch(rest, 3)
        self.end_well(rest)

    def test_a_loss_in_the_exchange_of_ranks_ends_no_agent(self):
        for step in (1, 2, 3):
            self.serve()
            others = self.agents(3)
            dying = self.agent("n3", dies_in_exchange=step)
            eventually(lambda: dying.ended is not None or dying.seen)
            if dying.ended is None:  # it has not the rank that takes this step
                dying.order(Lost())
            dying.outcome()
            self.assert_one_epoch(others, 3)
            self.end_well(others)

    def test_a_node_without_restarts_left_ends_the_job(self):
        self.serve()
        three = self.agents(3)
        self.assert_one_epoch(three, 3)

        three[1].order(ChildFailedError("train.py: exit code 3"))

        for one in (three[0], three[2]):
            ended = one.outcome()
            self.assertIsInstance(ended, self.api.RendezvousClosedError)
            self.assertIn("node n1 has failed: train.py: exit code 3", str(ended))
        late = self.agent("n7").outcome()
        self.assertIsInstance(late, self.api.RendezvousClosedError)

    def test_a_node_without_restarts_left_may_be_lost(self):
        self.serve()
        three = self.agents(3, on_failure="shrink")
        self.assert_one_epoch(three, 3)

        three[1].order(ChildFailedError("train.py: exit code 3"))

        rest = [three[0], three[2]]
        self.assert_one_epoch(rest, 2)
        self.end_well(rest)

    def test_one_node_too_many_is_a_spare_and_says_so(self):
        self.serve(spares=1)
        four = self.agents(4)
        first = self.assert_one_epoch(four, 4)
        spare = self.spare("s0")

        four[1].order(Lost())
        rest = [four[0], four[2], four[3], spare]
        self.assert_one_epoch(rest, 4, first)
        unneeded = self.spare("s1", join_timeout=0.1)  # no limit for a spare
        self.end_well(rest)
        ended = unneeded.outcome()
        self.assertIsInstance(ended, SystemExit)
        self.assertEqual(ended.code, 0)

    def spare(self, name, **conf):
        with self.assertLogs("coxswain", "INFO") as terminal:
            made = self.agent(name, **conf)
            eventually(lambda: "this node is a spare" in "".join(terminal.output))
        return made

    def test_a_survivor_says_why_its_workers_are_stopped(self):
        self.serve()
        with self.assertLogs("coxswain", "INFO") as terminal:
            two = self.agents(2)
            self.assert_one_epoch(two, 2)
            third = self.agent("n2")
            self.assert_one_epoch([*two, third], 3)
            third.order(Lost())
            self.assert_one_epoch(two, 2, 2)
            self.end_well(two)

        text = "\n".join(terminal.output)
        why = r"task 2 \(n2\) failed: .* destroyed without leaving"
        self.assertRegex(text, f"workers of this node are stopped: {why}")
        self.assertRegex(text, f"{why}: epoch 3 begins with 2 of 4 nodes .lost: 1, joined: 0.; this is node 1")

    def test_too_few_nodes_are_a_timeout_that_names_them(self):
        self.serve()
        ended = self.agent("n0", join_timeout=0.2).outcome()
        self.assertIsInstance(ended, self.api.RendezvousTimeoutError)
        self.assertIn("1 of at least 2 processes are there", str(ended))
        self.assertIn("--nnodes=2:4", str(ended))
        two = self.agents(2)
        self.assert_one_epoch(two, 2)
        self.end_well(two)

    def test_the_exit_does_not_wait_for_a_lost_node(self):
        self.serve()
        two = self.agents(2)
        self.assert_one_epoch(two, 2)
        two[0].order("end")
        time.sleep(0.1)
        two[1].order(Lost())

        two[0].outcome()
        self.assertLess(two[0].seconds, LIMIT / 2)

    def test_what_cannot_work_is_refused(self):
        self.serve()
        for conf, words in (({"mebmer": "x"}, "is member meant?"), ({"grow": "maybe"}, "now or boundary")):
            with self.assertRaisesRegex(ValueError, words):
                get_handler_creator()(Parameters(self.job.address, JOB, 2, 4, **conf))
        for run_id in ("none", "a b"):
            with self.assertRaisesRegex(ValueError, "coxswain serve --job NAME"):
                get_handler_creator()(Parameters(self.job.address, run_id, 2, 4))
        other = self.agent("n0", nodes=(1, 8)).outcome()
        self.assertIsInstance(other, self.api.RendezvousStateError)
        self.assertIn("--num-tasks 4", str(other))

    def test_the_host_of_an_address_is_known_but_for_unix_sockets(self):
        from coxswain._rendezvous import host_of
        for address, host in (("10.0.0.7:43640", "10.0.0.7"), ("[2001:db8::7]:43640", "2001:db8::7"),
                              ("10.0.0.7:43640 via relay, unix: process 277 of user 0", "10.0.0.7"),
                              ("[::1]:5 via relay, unix: process 277 of user 0", "::1"),
                              ("unix: process 277 of user 0", None), ("", None)):
            self.assertEqual(host_of(address), host)

    def test_every_setting_is_described(self):
        for name, text in SETTINGS.items():
            self.assertGreater(len(text), 10, name)


class TorchElasticBefore24(TorchElastic):
    version = Version.TUPLE

    def test_a_local_address_replaces_a_host_name(self):
        self.serve()
        two = self.agents(2, local_addr="127.0.0.1")
        self.assert_one_epoch(two, 2)
        self.assertEqual(two[0].master, (b"127.0.0.1", b"1234"))
        self.end_well(two)


class EntryPoint(PythonTest):
    def test_torchrun_finds_it_and_it_imports_no_torch(self):
        code = ("import importlib.metadata, sys\n"
                "found, = {one.value for one in importlib.metadata.entry_points(group='torchrun.handlers')}\n"
                "module, _, function = found.partition(':')\n"
                "creator = getattr(importlib.import_module(module), function)()\n"
                "assert callable(creator) and 'torch' not in sys.modules")
        self.out_of(self.python(code))


if __name__ == "__main__":
    main()
