"""coxswain serve --journal: the coordinator is killed and started again."""

import random
import resource
import signal
import time
import unittest

from programs import BIN, EndToEnd


class Restart(EndToEnd):

    def setUp(self):
        super().setUp()
        self.journal = self.directory / "journal"
        self.port = None

    def serve_journal(self, tasks, *arguments):
        listen = f"127.0.0.1:{self.port or 0}"
        coordinator = self.serve(tasks, "--listen", listen, "--journal", self.journal, *arguments)
        self.port = coordinator.addresses[0].rpartition(":")[2]
        return coordinator

    def task(self, number, script):
        return self.start("coxswain", "task", "--task-id", number, "--", "sh", "-c", script,
                          env=self.at)

    def kill(self, coordinator):
        coordinator.signal(signal.SIGKILL)
        coordinator.wait()

    def test_a_killed_coordinator_continues_its_job(self):
        tasks, kills, rounds = 4, 4, 3
        coordinator = self.serve_journal(tasks)
        program = BIN / "coxswain"
        script = (f"for kill in $(seq {kills + 1}); do "
                  f"{program} get --wait 300s go/$kill || exit 1; "
                  f"for round in $(seq {rounds}); do {program} incr count || exit 1; "
                  f"{program} barrier step || exit 1; done; done")
        running = [self.task(number, script) for number in range(tasks)]

        for number in range(1, kills + 1):
            self.succeed("put", f"go/{number}", "1")
            time.sleep(random.uniform(0, 0.3))
            self.kill(coordinator)
            coordinator = self.serve_journal(tasks)
            coordinator.line("the coordinator was restarted after", "err")
        self.succeed("put", f"go/{kills + 1}", "1")

        for one in running:
            self.assertEqual(one.wait(), 0, one.said())
        self.assertEqual(self.succeed("get", "count").out, str(tasks * (kills + 1) * rounds))
        self.stop(coordinator)

    def test_keep_suspends_the_job(self):
        coordinator = self.serve_journal(1, "--keep")
        self.succeed("put", "a", "1")
        waiting = self.start("coxswain", "get", "later", "--wait", "60s", env=self.at)
        self.wait_for_status("a get", lambda now: now["waiting_gets"] == 1)

        self.stop(coordinator)
        self.assertEqual(len(list(self.journal.glob("*.snap"))), 1)
        coordinator = self.serve_journal(1, "--keep")

        self.assertEqual(self.succeed("get", "a").out, "1")
        self.succeed("put", "later", "came")
        self.assertEqual(waiting.wait(), 0, waiting.said())
        self.assertEqual(waiting.out, "came")

    def test_an_ended_job_is_set_aside(self):
        coordinator = self.serve_journal(1)
        self.succeed("put", "a", "1")
        self.stop(coordinator)

        coordinator = self.serve_journal(1)
        coordinator.line("the job in the journal was stopped: its files are now in", "err")
        self.assertNotEqual(self.coxswain("get", "a").code, 0)

    def test_a_second_coordinator_is_refused(self):
        coordinator = self.serve_journal(1)

        second = self.run_to_end("coxswain", "serve", "-n", 1, "--listen", "127.0.0.1:0",
                                 "--journal", self.journal)

        self.assert_ended(second, 69, f"is in use by the process {coordinator.pid}")

    def test_a_journal_that_cannot_be_written_ends_the_coordinator(self):
        coordinator = self.serve_journal(1)
        self.succeed("put", "a", "1")
        resource.prlimit(coordinator.pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))

        writing = self.start("coxswain", "put", "b", "x" * 8192, env=self.at)

        self.assertEqual(coordinator.wait(), 74, coordinator.said())
        self.assertIn("cannot be written: File too large", coordinator.err)
        self.serve_journal(1)
        self.assertEqual(self.succeed("get", "a").out, "1")
        self.assertEqual(writing.wait(), 0, writing.said())
        self.assertEqual(self.succeed("get", "b").out, "x" * 8192)


if __name__ == "__main__":
    unittest.main()
