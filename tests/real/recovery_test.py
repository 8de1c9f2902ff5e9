"""Recoverable jobs of real JAX programs: any process, process 0 too, is killed and started again, any number of times,
and the others go on. A relay, too, with which the processes behind it end, and the coordinator behind it.
recovery_test.py jax-VERSION [unittest's arguments]
"""

import json
import os
import pathlib
import signal
import sys
import time
import unittest

from harness import LIMIT, SLOWNESS, TASKS, WithRealJobs, python_of
from jax_case import ALL, ENDED_BY_JAXLIB
from restart_test import WithJournal

# Seconds from the end of a relay to that of a JAX process behind it.
ENDED_MAX = 3

PROGRAM = pathlib.Path(__file__).resolve().parent / "programs" / "recover.py"


class Recovery(WithJournal, WithRealJobs):

    def setUp(self):
        super().setUp()
        self.reports = self.directory / "reports"
        self.reports.mkdir()
        self.environment = {"JAX_PLATFORMS": "cpu", "REPORTS": str(self.reports)}

    def start_process(self, task):
        address = self.addresses[task * len(self.addresses) // TASKS]
        self.processes[task] = self.jax_task(address, task, [PYTHON, "-B", PROGRAM], self.environment)

    def start_wrapped_process(self, task):
        address = {"COXSWAIN_ADDRESS": self.addresses[task * len(self.addresses) // TASKS]}
        self.processes[task] = self.spawn("coxswain", "task", "--jax", "--", PYTHON, "-B", PROGRAM,
                                          env=self.environment | address | self.slurm_task(task))

    def lines(self, task):
        file = self.reports / str(task)
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def wait_for(self, what, is_so):
        end = time.monotonic() + LIMIT
        while not is_so():
            self.assertLess(time.monotonic(), end, f"{what}: {[self.lines(task)[-3:] for task in ALL]}")
            time.sleep(0.02)

    def wait_for_live(self, processes):
        """All of these say so, in the last step that changed the live processes."""

        def is_so(task):
            seen = [line for line in self.lines(task) if line["what"] != "again"]
            return bool(seen) and seen[-1]["what"] == "live" and seen[-1]["processes"] == processes

        self.wait_for(f"live {processes}", lambda: all(map(is_so, processes)))

    def pid(self, task):
        return self.lines(task)[-1]["pid"]

    def kill_and_return(self, victims, start):
        """`start(task)` starts the next process of a task, unless that happens by itself."""
        before = {task: self.pid(task) for task in victims}
        killed = time.monotonic()
        for pid in before.values():
            os.kill(pid, signal.SIGKILL)
        if start:
            self.wait_for_live([task for task in ALL if task not in victims])
            known = time.monotonic()
            for task in victims:
                start(task)
        self.wait_for("the next processes", lambda: all(self.pid(task) != pid for task, pid in before.items()))
        began = time.monotonic()
        self.wait_for_live(ALL)
        times = f"all live {time.monotonic() - began:.2f} s after they have initialized"
        print(f"killed {victims}: " + (f"known after {known - killed:.2f} s, " if start else "") + times, flush=True)

    def check_job(self, rounds, start=None):
        self.wait_for_live(ALL)
        for victims in rounds:
            self.kill_and_return(victims, start)
        self.finish_job()

    def finish_job(self):
        (self.reports / "stop").touch()
        self.wait_for("the end", lambda: all(self.lines(task)[-1]["what"] == "end" for task in ALL))
        ends = [self.lines(task)[-1] for task in ALL]
        self.assertEqual([(end["step"], end["weights"]) for end in ends],
                         [(ends[0]["step"], ends[0]["weights"])] * TASKS)
        devices = [line["devices"] for task in ALL for line in self.lines(task)]
        self.assertTrue(all(one == devices[0] for one in devices), devices)
        self.assertEqual([process for _, process in devices[0]], ALL)

    def check_served(self, rounds, by_relay=False):
        coordinator = self.serve(TASKS, "--insecure", "--recoverable")
        self.addresses = [self.relay(coordinator).address if by_relay else coordinator.addresses[0]]
        self.processes = {}
        for task in ALL:
            self.start_process(task)
        self.check_job(rounds, self.start_process)
        self.assert_ended_well()

    def assert_ended_well(self):
        for process in self.processes.values():
            self.assertEqual(process.wait(), 0, process.output())

    def test_every_process_returns(self):
        self.check_served([[0], [0], [3], [0]])

    def test_every_process_returns_behind_a_relay(self):
        self.check_served([[0], [0], [3], [0]], by_relay=True)

    def test_every_process_returns_after_the_coordinator(self):
        options = "--insecure", "--recoverable"
        coordinator = self.serve_journal(TASKS, *options)
        self.addresses, self.processes = [self.relay(coordinator).address], {}
        for task in ALL:
            self.start_process(task)
        self.wait_for_live(ALL)
        for victims in [0], [2, 3]:
            self.kill(coordinator)
            coordinator = self.serve_journal(TASKS, *options)
            self.kill_and_return(victims, self.start_process)
        self.finish_job()
        self.assert_ended_well()

    def test_the_processes_of_a_killed_relay_return(self):
        coordinator = self.serve(TASKS, "--insecure", "--recoverable", "--relay-grace", "1s")
        relays = [self.relay(coordinator, name=name) for name in ("host0", "host1")]
        self.addresses = [relay.address for relay in relays]
        self.processes = {}
        for task in ALL[:-1]:
            self.start_process(task)
        self.start_wrapped_process(ALL[-1])
        self.wait_for_live(ALL)

        killed = time.monotonic()
        relays[1].signal(signal.SIGKILL)
        self.assertIn(self.processes[2].wait(), ENDED_BY_JAXLIB)
        ended = time.monotonic()
        self.assertLess(ended - killed, ENDED_MAX * SLOWNESS)
        self.processes[3].line(f"at {relays[1].address} has ended: jaxlib ends its process", "err")
        relays[1] = self.relay(coordinator, name="host1")
        self.wait_for_live([0, 1])
        known = time.monotonic()
        print(f"killed a relay: its processes ended after {ended - killed:.2f} s, known after {known - killed:.2f} s")
        for task in (2, 3):
            self.assertIn(f"the relay of task {task} ", self.status()["tasks"][task]["error"]["message"])
        self.assertEqual(self.processes[3].wait(), 128 + signal.SIGABRT, self.processes[3].output())

        self.start_process(2)
        self.start_wrapped_process(3)
        self.wait_for_live(ALL)
        self.finish_job()
        self.assert_ended_well()

    def test_several_processes_return(self):
        self.check_served([[0, 3], [1, 2, 3]])

    def test_run_starts_every_process_again(self):
        job = self.spawn("coxswain", "run", "-n", TASKS, "--recoverable", "--max-restarts", "9", "--", PYTHON, "-B",
                         PROGRAM, env=self.environment)
        self.check_job([[0], [0], [3], [0]])
        self.assertEqual(job.wait(), 0, job.output())


if __name__ == "__main__":
    PYTHON = python_of(sys.argv.pop(1))
    unittest.main()
