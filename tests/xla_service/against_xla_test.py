"""Barriers of `--xla-strict` and of XLA's own service, out of jaxlib: the same calls have the same outcomes, in
the same order. The environment variable COXSWAIN_JAX_PYTHON names an interpreter with JAX 0.8.2 or newer; where there
is none, it is skipped.
"""

import concurrent.futures
import contextlib
import os
import shutil
import subprocess
import sys
import time
import unittest

from harness import LIMIT, SLOWNESS, Agent, Failure, WithAgents
from messages import one, signed

PYTHON = shutil.which(os.environ.get("COXSWAIN_JAX_PYTHON", ""))

SERVICE = """
import socket, sys
from jax._src.lib import _jax
import jaxlib
with socket.socket() as s:
    s.bind(("127.0.0.1", 0))
    port = s.getsockname()[1]
how = {"heartbeat_timeout": 1000}
try:
    service = _jax.get_distributed_runtime_service(f"[::]:{port}", int(sys.argv[1]), recoverable=sys.argv[2] == "True",
                                                   **how)
except TypeError:  # 0.8: each task states it
    service = _jax.get_distributed_runtime_service(f"[::]:{port}", int(sys.argv[1]), **how)
print(port, jaxlib.__version__, flush=True)
sys.stdin.read()
"""

# Between two calls: XLA's service shows nothing of a call that waits.
PAUSE = 0.06 * SLOWNESS


def b(task, counter=0, tasks=(), timeout=60):
    return "Barrier", task, counter, tasks, timeout


def cancel(task):
    return "CancelBarrier", task


def restart(task):
    return "restart", task


PASSES = "passes"  # time, until a barrier with a time limit of one second is over
PAIR, ODD, LAST = (0, 1), (0, 2), (1, 2)

# Of two tasks.
OF_ALL = {
    "rounds": [b(0), b(1), b(0, 1), b(1, 1)],
    "the same after success": [b(0), b(1), b(0), b(0, 1), b(1, 1), b(1, 2)],
    "the last round while the next is open": [b(0), b(1), b(0, 1), b(1, 0), b(1, 1), b(0, 2), b(1, 2)],
    "late": [b(0, timeout=1), PASSES, b(1), b(1, 1), b(0, 1)],
    "late twice": [b(0, timeout=1), PASSES, b(1), b(1), b(0), b(1, 1)],
    "late when the next is open": [b(0, timeout=1), PASSES, b(0, 1), b(1, 0), b(1, 1), b(0, 2)],
    "too early": [b(0), b(1, 1), b(1, 0), b(0, 1), b(1, 1)],
    "far too early": [b(0), b(1), b(0, 5), b(1, 1), b(0, 1), b(0, 6), b(1, 6), b(1, 2)],
    "unknown, with a counter": [b(0, 1), b(1, 0), b(0, 0), b(0, 1), b(1, 1)],
    "unknown, with a counter, then a list": [b(0, 1), b(1, 0, PAIR), b(0, 1), b(1, 1)],
    "unknown, with higher counters": [b(0, 3), b(0, 4), b(1, 1)],
    "again while waiting": [b(0), b(0), b(1), b(0), b(0, 1), b(0, 1), b(1, 1)],
    "again while waiting, another counter": [b(0), b(0, 1), b(1), b(1, 1)],
    "cancelled": [b(0), cancel(1), b(1), b(0, 1), b(1, 1)],
    "cancelled twice": [b(0), cancel(1), cancel(0), b(1), b(1, 1)],
    "cancelled when over": [b(0), b(1), cancel(1), b(0, 1), b(1, 1)],
    "cancelled in the second round": [b(0), b(1), b(0, 1), cancel(1), b(1, 1)],
    "cancelled unknown": [cancel(0), b(0), b(1), b(0, 1), b(1, 1)],
    "unknown task": [b(0, 0, (0, 7)), b(1, 0, (0, 7)), b(0, 1), b(1, 1)],
    "unknown task, then not": [b(0, 0, (0, 7)), b(1, 0, PAIR), b(0, 1, PAIR), b(1, 1, PAIR)],
    "unknown task in the second round": [b(0), b(1), b(0, 1, (0, 7)), b(1, 1), b(0, 2), b(1, 2)],
}
# Of three tasks.
OF_SOME = {
    "no participant, last": [b(0, 0, PAIR), b(2, 0, PAIR), b(1, 0, PAIR)],
    "no participant, first": [b(2, 0, PAIR), b(0, 0, PAIR), b(1, 0, PAIR), b(0, 1, PAIR), b(1, 1, PAIR), b(2, 1, PAIR)],
    "no participant, twice": [b(0, 0, PAIR), b(2, 0, PAIR), b(2, 0, PAIR), b(2, 1, PAIR), b(1, 0, PAIR), b(1, 1, PAIR),
                              b(1, 2, PAIR), b(0, 2, PAIR)],
    "no participant, when over": [b(0, 0, PAIR), b(1, 0, PAIR), b(2, 0, PAIR), b(0, 0, PAIR), b(1, 0, PAIR),
                                  b(0, 1, PAIR), b(1, 1, PAIR)],
    "no participant, when timed out": [b(0, 0, PAIR, 1), PASSES, b(2, 0, PAIR), b(1, 0, PAIR), b(1, 1, PAIR)],
    "no participant opens the next": [b(0, 0, PAIR), b(1, 0, PAIR), b(2, 1, PAIR), b(0, 1, PAIR), b(1, 1, PAIR),
                                      b(0, 2, PAIR), b(1, 2, PAIR)],
    "no participant in the second round": [b(0, 0, PAIR), b(1, 0, PAIR), b(0, 1, PAIR), b(2, 1, PAIR), b(1, 1, PAIR),
                                           b(2, 0, PAIR)],
    "no participant, wrong counter": [b(0, 0, PAIR), b(1, 0, PAIR), b(0, 1, PAIR), b(2, 0, PAIR), b(1, 1, PAIR)],
    "lists differ": [b(0, 0, PAIR), b(1, 0, LAST), b(2, 0, LAST), b(0, 1, PAIR), b(1, 1, PAIR)],
    "lists in another order": [b(0, 0, PAIR), b(1, 0, (1, 0))],
    "another list in the second round": [b(0, 0, PAIR), b(1, 0, PAIR), b(0, 1, ODD), b(2, 1, ODD), b(2, 0, ODD)],
    "another list when over": [b(0, 0, PAIR), b(1, 0, PAIR), b(1, 0, LAST), b(0, 0, PAIR), b(0, 1, PAIR),
                               b(1, 1, PAIR)],
    "another list when timed out": [b(0, 0, PAIR, 1), PASSES, b(1, 0, LAST), b(1, 0, PAIR), b(0, 0, PAIR)],
    "a list without its caller": [b(0, 0, PAIR), b(1, 0, PAIR), b(0, 1, LAST), b(1, 1, PAIR)],
    "all and some": [b(0), b(1, 0, PAIR), b(2), b(1, 1), b(0, 1), b(2, 1)],
    "some and all": [b(0, 0, PAIR), b(2), b(1, 0, PAIR), b(1, 1, PAIR), b(0, 1, PAIR)],
    "some, then all": [b(0, 0, PAIR), b(1, 0, PAIR), b(1), b(0, 0, PAIR)],
    "all by name": [b(0), b(1, 0, (0, 1, 2)), b(2)],
    "cancelled by no participant": [b(0, 0, PAIR), cancel(2), b(1, 0, PAIR)],
    "failed, then cancelled": [b(0, 0, PAIR), b(2, 0, PAIR), cancel(0), b(1, 0, PAIR)],
}
# Of two recoverable tasks, each with a job of its own.
RESTARTED = {
    "others wait": [b(0), b(1), b(0, 1), restart(1), b(1), b(1, 2), b(0, 2)],
    "it waited": [b(0), b(1), b(1, 1), restart(1), b(1), b(0, 1)],
    "it begins": [b(0), b(1), restart(1), b(1), b(0, 1), b(1, 1), b(0, 2)],
}


class Player:
    """The tasks of one job, with either service."""

    def __init__(self, test, address, tasks, generation, recoverable):
        self.how = {"generation": generation, "recoverable": recoverable, "address": address}
        self.test = test
        self.agents = [test.agent(task, **self.how) for task in range(tasks)]
        test.all_succeed(self.agents, Agent.connect)

    def play(self, barrier, steps):
        """The outcome of each call, and during which step it ended."""
        calls = []
        ended = {}
        for step in steps:
            if step == PASSES:
                time.sleep(2.2)  # XLA's service looks once a second
                continue
            what, task, *rest = step
            agent = self.agents[task]
            if what == "restart":
                agent.close()
                self.agents[task] = self.test.agent(task, **self.how).connect()
                continue
            if what == "Barrier":
                counter, tasks, timeout = rest
                request = agent.requests.barrier(barrier, timeout * 1000, list(tasks), counter)
            else:
                request = agent.requests.cancel_barrier(barrier)
            call = agent.start(what, request)
            calls.append(call)
            time.sleep(PAUSE)
            for number, earlier in enumerate(calls):
                if earlier.done():
                    ended.setdefault(number, len(calls) - 1)
        outcomes = [f"{self.outcome(call)} at {ended.get(number)}" for number, call in enumerate(calls)]
        for call in calls:
            call.cancel()
        return outcomes

    @staticmethod
    def outcome(call):
        if not call.done():
            return "waits"
        try:
            return f"OK {signed(one(Agent.result_of(None, call), 1))}"
        except Failure as problem:
            return f"{problem.code} {problem.barrier} {'' if problem.is_by_service else 'no service error'}"


class AgainstXla(WithAgents):

    def services(self, tasks, recoverable=False):
        """The two players."""
        service = subprocess.Popen([PYTHON, "-c", SERVICE, str(tasks), str(recoverable)], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(service.wait)
        self.addCleanup(service.kill)
        self.addCleanup(service.stdin.close)
        self.addCleanup(service.stdout.close)
        port, version = service.stdout.readline().split()
        generation = 3 if tuple(map(int, version.split(".")[:2])) >= (0, 10) else 2
        coordinator = self.serve(tasks, "--xla-strict", *["--recoverable"] * recoverable)
        return [Player(self, address, tasks, generation, recoverable)
                for address in (f"127.0.0.1:{port}", coordinator.addresses[0])]

    def compare(self, name, steps, players, pool):
        theirs, ours = [pool.submit(player.play, name, steps) for player in players]
        with self.subTest(name):
            for step, their, our in zip([s for s in steps if s != PASSES and s[0] != "restart"],
                                        theirs.result(LIMIT), ours.result(LIMIT)):
                self.assertEqual(our, their, step)

    def compare_all(self, table, tasks):
        players = self.services(tasks)
        with concurrent.futures.ThreadPoolExecutor(64) as pool, concurrent.futures.ThreadPoolExecutor(8) as rows:
            for row in [rows.submit(self.compare, name, steps, players, pool) for name, steps in table.items()]:
                row.result(LIMIT)

    def test_barriers_of_all_tasks(self):
        self.compare_all(OF_ALL, 2)

    def test_barriers_of_some_tasks(self):
        self.compare_all(OF_SOME, 3)

    def after_a_second_process(self, player):
        """The outcomes of calls of both processes of a task, the second of which has failed the job."""
        first, _ = player.agents
        second = self.agent(0, **player.how)
        second.requests.service_incarnation = first.requests.service_incarnation
        calls = [second.start("RegisterTask", second.requests.register(), 8)]
        with contextlib.suppress(Failure):
            second.result_of(calls[0])
        for agent in player.agents:
            self.assertTrue(agent.poll_ended.wait(LIMIT))
        for agent in first, second:
            for method, request in (("Heartbeat", agent.requests.heartbeat()),
                                    ("PollForError", agent.requests.poll()),
                                    ("Barrier", agent.requests.barrier("b", 3000, [], 0)),
                                    ("RegisterTask", agent.requests.register()),
                                    ("ShutdownTask", agent.requests.shutdown())):
                calls.append(agent.start(method, request, 8))
                with contextlib.suppress(Failure):
                    agent.result_of(calls[-1])
        polls = [agent.poll_outcome.code for agent in player.agents]
        return polls + [player.outcome(call) for call in calls]

    def test_a_second_process_of_a_task_fails_the_job(self):
        theirs, ours = map(self.after_a_second_process, self.services(2))
        self.assertEqual(ours, theirs)

    def test_a_recoverable_task_is_restarted(self):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for name, steps in RESTARTED.items():
                self.compare(name, steps, self.services(2, recoverable=True), pool)


if __name__ == "__main__":
    if not PYTHON:
        print("skipped: COXSWAIN_JAX_PYTHON names no interpreter with JAX")
        sys.exit(77)
    unittest.main()
