"""`coxswain top` on a pseudo terminal, and in a pipe."""

import os
import signal
import socket
import unittest

from programs import BIN, EndToEnd, UNAVAILABLE, USAGE, wait_for_file
from screen import Screen


class Top(EndToEnd):

    def top(self, *arguments, **how):
        screen = Screen("top", *arguments, env=self.directories() | self.at | how.pop("env", {}), **how)
        self.addCleanup(screen.end)
        return screen

    def test_a_death_is_shown_with_its_cause_and_q_restores_the_terminal(self):
        run = self.start("coxswain", "run", "-n", 4, "--port-file", self.directory / "port", "--",
                         BIN / "coxswain-example-worker", "--rounds", 10**9)
        self.at = {"COXSWAIN_ADDRESS": wait_for_file(self.directory / "port").strip()}
        status = self.wait_for_status("the tasks", lambda s: s["rounds"])
        screen = self.top()
        shown = screen.wait_for("job 'default'", "4 tasks: 4 connected", "STRAGGLERS", "all 4 tasks have joined")
        self.assertNotIn("Failed at", shown)

        os.kill(int(status["tasks"][2]["process"].split(":")[1]), signal.SIGKILL)

        screen.wait_for(": task 2 was killed by signal 9 (SIGKILL)", "No answer since")
        run.wait()
        self.assertEqual((screen.is_alternate, screen.has_echo), (True, False))
        screen.press("q")
        self.assertEqual(screen.wait(), 0)
        self.assertEqual((screen.is_alternate, screen.has_echo), (False, True))

    def test_the_end_of_a_job_is_shown_however_seldom_top_asks(self):
        coordinator = self.serve(1)
        screen = self.top("--interval", "1h")
        screen.wait_for("1 never connected")

        self.stop(coordinator)

        screen.wait_for("No answer since", "Stopped: the coordinator was ended by SIGTERM")
        screen.press("q")
        self.assertEqual(screen.wait(), 0)

    def test_a_missing_task_is_named_on_a_small_screen_too(self):
        self.serve(3, "--no-join-barrier")
        self.task(0, 3, "barrier:b", env=self.at)
        self.task(2, 3, "barrier:b", env=self.at)
        screen = self.top()

        shown = screen.wait_for("barrier 'b' round 1", "2/3", "missing 1: 1", "task 1: never connected",
                                "1 never connected: 1")
        self.assertLessEqual(max(screen.rows), 24)

        screen.resize(8, 40)
        shown = screen.wait_for("barrier 'b' round 1", "missing 1: 1", without=("peer",))
        self.assertLessEqual(max(map(len, shown.split("\n"))), 40)
        self.assertEqual(max(screen.rows), 8)

    def test_a_returning_coordinator_is_shown_again(self):
        first = self.serve(1)
        screen = self.top()
        screen.wait_for("1 never connected")

        first.end()
        screen.wait_for("No answer since")
        second = self.serve(2, "--listen", first.addresses[0])

        screen.wait_for("2 tasks: 2 never connected", without=("No answer since",))
        screen.signal(signal.SIGTERM)
        self.assertEqual(screen.wait(), 128 + signal.SIGTERM)
        self.assertEqual((screen.is_alternate, screen.has_echo), (False, True))
        second.end()

    def test_once_prints_plain_text_without_a_terminal(self):
        self.serve(2)

        done = self.coxswain("top", "--once")

        self.assertEqual((done.code, done.err), (0, ""))
        self.assertNotIn("\x1b", done.out)
        for words in ("job 'default' at", "2 tasks: 2 never connected", "MISSING  no call is waiting"):
            self.assertIn(words, done.out)
        self.assertTrue(all(len(line) <= 60 for line in self.coxswain(
            "top", "--once", env={"COLUMNS": "60"}).out.splitlines()))

    def test_an_unusable_terminal_is_wrong_usage(self):
        self.serve(1)

        self.assert_ended(self.coxswain("top"), USAGE, "--once")

    def test_a_missing_coordinator_is_reported_without_the_alternate_screen(self):
        with socket.create_server(("127.0.0.1", 0)) as gone:
            self.at = {"COXSWAIN_ADDRESS": f"127.0.0.1:{gone.getsockname()[1]}"}

        screen = self.top("--connect-timeout", "100ms")

        self.assertEqual(screen.wait(), UNAVAILABLE)
        self.assertFalse(screen.is_alternate)


if __name__ == "__main__":
    unittest.main()
