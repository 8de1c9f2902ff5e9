"""The state of the job: the same sentence in every place that shows the job (§12.8)."""

import datetime
import json
import re
import signal
import time
import unittest

from programs import BIN, EndToEnd, LIMIT, fetch

PATH = {"PATH": f"{BIN}:/usr/bin:/bin"}


class Headline(EndToEnd):

    def serve(self, tasks, *arguments):
        self.coordinator = super().serve(tasks, "--http", "127.0.0.1:0", *arguments)

    def loop(self, task, *commands):
        script = f"while :; do {'; '.join(commands)}; done"
        environment = self.at | PATH | {"COXSWAIN_TASK_ID": str(task), "COXSWAIN_NUM_TASKS": "2"}
        self.start("coxswain", "task", "--", "sh", "-c", script, env=environment)

    def nothing(self):
        self.serve(2)

    def one_of_two(self):
        self.serve(2)
        self.task(0, 2, "get:k")

    def one_of_an_epoch(self):
        self.serve(4, "--elastic", "--min-tasks", "2")
        self.start("coxswain", "task", "--", "tail", "-f", "/dev/null",
                   env=self.at | PATH | {"COXSWAIN_MEMBER": "b0"})

    def all_at_work(self):
        self.serve(2)
        self.worker(0, 2, "--rounds", 10**9)
        self.worker(1, 2, "--rounds", 10**9)

    def a_slow_task(self):
        self.serve(2)
        self.loop(0, "coxswain barrier step")
        self.loop(1, "sleep 0.3", "coxswain barrier step")

    def a_missing_task(self):
        self.serve(2)
        self.task(0, 2, "barrier:step")
        self.loop(1, "sleep 1")

    def a_lost_connection(self):
        self.serve(2, "--reconnect-grace", "1min")
        self.task(0, 2, "get:k")
        lost = self.task(1, 2, "get:k")
        self.wait_for_status("both", lambda s: s["waiting_gets"] == 2)
        lost.signal(signal.SIGKILL)

    def a_circle(self):
        self.serve(2)
        self.task(0, 2, "barrier:a")
        self.task(1, 2, "barrier:b")

    def a_killed_task(self):
        self.serve(2, "--reconnect-grace", "0")
        self.task(0, 2, "get:k")
        victim = self.task(1, 2, "get:k")
        self.wait_for_status("both", lambda s: s["waiting_gets"] == 2)
        victim.signal(signal.SIGKILL)

    # What the job does, its state, the tasks that are missing or to blame, and the sentence.
    STATES = [
        (nothing, "not_started", "0-1", r"Nothing has joined \d+ s after the start"),
        (one_of_two, "gathering", "1",
         r"Gathering: 1 of 2 tasks has joined, task 1 is missing \(times out in \d:\d\d\)"),
        (one_of_an_epoch, "gathering", "",
         r"Gathering: the first epoch needs 2 processes, 1 waits \(b0\)"),
        (all_at_work, "running", "", r"Running \(\d+ steps per minute\)"),
        (a_slow_task, "slow", "1", r"Slow: waits for task 1 0\.\d s of each 0\.\d s step"),
        (a_missing_task, "waiting", "1",
         r"Waiting for task 1: 1 of 2 has been at barrier 'step' for \d+ s \(times out in \d:\d\d\)"),
        (a_lost_connection, "waiting", "1",
         r"Waiting for task 1: its connection is lost, last heard \d+ s ago"),
        (a_circle, "deadlock", "0-1",
         r"Deadlock: tasks 0-1 are blocked on each other: task 0 waits at barrier 'a' for task 1, .*"),
        (a_killed_task, "failed", "1", r"Failed at \d\d:\d\d:\d\d: task 1 failed: .*"),
    ]

    def places(self):
        """Each place that shows the job, and its sentence."""
        page = f"http://{self.coordinator.ready['http']}"
        health = fetch(f"{page}/healthz?verbose")[1]
        return {
            "status": self.succeed("status").out.splitlines()[0],
            "why": self.succeed("why").out.splitlines()[0],
            "why --json": json.loads(self.succeed("why", "--json").out)["headline"],
            "top": self.succeed("top", "--once", env={"COLUMNS": "1000"}).out.splitlines()[0],
            "the page's state": json.loads(fetch(f"{page}/api/v1/state")[1])["headline"],
            "healthz": re.search(r"^\[.\]job 'default' (.*)$", health, re.MULTILINE)[1],
        }

    def test_every_place_says_the_same(self):
        for begin, state, tasks, sentence in self.STATES:
            with self.subTest(begin.__name__):
                begin(self)
                status = self.wait_for_status(sentence, lambda s: re.fullmatch(sentence, s["headline"]))

                self.assertEqual((status["state"], status["state_tasks"]), (state, tasks))
                if status["since"]:
                    since = datetime.datetime.fromisoformat(status["since"])
                    self.assertLess(abs(since.timestamp() - time.time()), LIMIT)
                for place, text in self.places().items():
                    self.assertRegex(text, f"^{sentence}$", place)
                metrics = fetch(f"http://{self.coordinator.ready['http']}/metrics")[1]
                self.assertEqual(re.findall(r'^coxswain_job_state\{state="(\w+)"\} 1$', metrics, re.MULTILINE), [state])
                self.doCleanups()
                self.setUp()

    def test_the_log_has_the_states_that_last_and_the_end(self):
        self.a_killed_task()

        self.coordinator.line("Failed at ", "err")


if __name__ == "__main__":
    unittest.main()
