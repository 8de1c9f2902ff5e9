"""coxswain serve --journal: the coordinator is killed and started again."""

import json
import random
import resource
import select
import signal
import socket
import subprocess
import time
import unittest

from programs import BIN, EndToEnd, LIMIT, UNAVAILABLE, USAGE, free_port


class WithJournal(EndToEnd):

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


class Restart(WithJournal):

    def test_a_task_that_waits_to_leave_outlasts_a_restart(self):
        grace = "1s"
        coordinator = self.serve_journal(2, "--restart-grace", grace)
        leaving = self.task(0, "true")
        working = self.task(1, f"{BIN / 'coxswain'} get --wait 300s go")
        leaving.line("leave has waited for", "err")
        self.kill(coordinator)
        time.sleep(0.5)

        coordinator = self.serve_journal(2, "--restart-grace", grace)
        self.assertRegex(coordinator.line("sessions resumed", "err"), r"(\d) of \1 sessions")
        self.succeed("put", "go", "1")

        self.assertEqual(working.wait(), 0, working.output())
        self.assertEqual(leaving.wait(), 0, leaving.output())
        coordinator.line("all tasks have left", "err")

    def test_a_job_moves_between_the_addresses_of_its_clients(self):
        tasks, moves, rounds = 3, 4, 3
        coordinator = self.serve_journal(tasks, "--keep")
        addresses = [coordinator.addresses[0], f"127.0.0.1:{free_port()}"]
        self.at = {"COXSWAIN_ADDRESS": ",".join(addresses)}
        both = self.at
        program = BIN / "coxswain"
        script = (f"for move in $(seq {moves + 1}); do "
                  f"{program} get --wait 300s go/$move || exit 1; "
                  f"for round in $(seq {rounds}); do {program} incr count || exit 1; "
                  f"{program} barrier step || exit 1; done; done")
        running = [self.task(number, script) for number in range(tasks)]
        waiting = self.start("coxswain", "get", "end", "--wait", "300s", env=both)
        self.wait_for_status("the get", lambda now: now["waiting_gets"] > 0)

        for move in range(1, moves + 1):
            self.succeed("put", f"go/{move}", "1", env=both)
            time.sleep(random.uniform(0, 0.3))
            if move <= moves // 2:
                self.stop(coordinator)
                self.assertTrue(list(self.journal.glob("*.snap")))
            else:
                self.kill(coordinator)
            self.port = addresses[move % 2].rpartition(":")[2]
            coordinator = self.serve_journal(tasks, "--keep")
            coordinator.line("the coordinator was restarted after", "err")
        self.succeed("put", f"go/{moves + 1}", "1", env=both)

        for one in running:
            self.assertEqual(one.wait(), 0, one.output())
        self.assertEqual(self.succeed("get", "count").out, str(tasks * (moves + 1) * rounds))
        self.succeed("put", "end", "here")
        self.assertEqual(waiting.wait(), 0, waiting.output())
        self.assertEqual(waiting.out, "here")
        self.stop(coordinator)

    def test_a_full_disk_refuses_what_would_be_stored(self):
        small = self.directory / "small"
        small.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=80m", "none", small],
                                 capture_output=True, text=True)
        if mounted.returncode != 0:
            self.skipTest(f"no small disk to fill: {mounted.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", "-l", small], check=True)
        (small / "ballast").write_bytes(b"x" * (8 << 20))
        self.journal = small / "journal"
        self.serve_journal(1)
        task = self.task(0, f"{BIN}/coxswain get --wait 60s end")

        value = b"v" * (1 << 20)
        refused = None
        for number in range(20):
            stored = self.coxswain("put", f"k{number}", "-", input=value)
            if stored.code != 0:
                refused = stored
                break
        self.assertIn("RESOURCE_EXHAUSTED: the journal's disk is full", refused.err)
        self.assertEqual(self.succeed("get", "k0", "--wait", "1s").out, value.decode())

        (small / "ballast").unlink()
        limit = time.monotonic() + 30
        while self.coxswain("put", "end", "1").code != 0:
            self.assertLess(time.monotonic(), limit)
            time.sleep(0.2)
        self.assertEqual(task.wait(), 0, task.output())

    def test_a_journal_that_cannot_be_written_ends_the_coordinator(self):
        coordinator = self.serve_journal(1)
        self.succeed("put", "a", "1")
        resource.prlimit(coordinator.pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))

        writing = self.start("coxswain", "put", "b", "x" * 8192, env=self.at)

        self.assertEqual(coordinator.wait(), 74, coordinator.output())
        self.assertIn("cannot be written: File too large", coordinator.err)
        self.serve_journal(1)
        self.assertEqual(self.succeed("get", "a").out, "1")
        self.assertEqual(writing.wait(), 0, writing.output())
        self.assertEqual(self.succeed("get", "b").out, "x" * 8192)

    def test_clients_of_an_inherited_listener_wait_for_the_restart(self):
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        how = ("serve", "-n", 1, "--listen", f"fd://{listener.fileno()}", "--journal", self.journal)
        first = self.start("coxswain", *how, pass_fds=(listener.fileno(),))
        self.at = {"COXSWAIN_ADDRESS": json.loads(first.line('"event"'))["addresses"][0]}
        self.succeed("put", "a", "1")
        self.kill(first)

        waiting = self.start("coxswain", "get", "a", env=self.at)
        self.assertEqual(select.select([listener], [], [], LIMIT)[0], [listener])  # it has connected
        again = self.start("coxswain", *how, pass_fds=(listener.fileno(),))

        self.assertEqual(waiting.wait(), 0, waiting.output())
        self.assertEqual(waiting.out, "1")
        self.stop(again)

    def test_a_start_with_a_journal_asks_the_service_manager_for_time(self):
        self.kill(self.serve_journal(1))
        manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(manager.close)
        manager.bind(str(self.directory / "notify"))
        manager.settimeout(LIMIT)

        self.serve(1, "--journal", self.journal, env={"NOTIFY_SOCKET": str(self.directory / "notify")})

        self.assertRegex(manager.recv(4096).decode(),
                         "^EXTEND_TIMEOUT_USEC=30000000\nSTATUS=replaying the journal: 0 B of .*B$")
        self.assertIn("READY=1", manager.recv(4096).decode())

    def test_a_restarted_host_task_continues_its_job(self):
        self.at = {"COXSWAIN_ADDRESS": f"127.0.0.1:{free_port()}", "COXSWAIN_NUM_TASKS": "2"}
        program = BIN / "coxswain"
        rest = f"{program} get go --wait 300s && {program} barrier end"
        scripts = (f"test $({program} incr starts) != 2 || exit 7; {rest}",
                   f"{program} incr count; echo; {rest} && {program} incr count")

        def task(number):
            return self.start("coxswain", "task", "--host-if-task-0", "--journal", self.journal,
                              "--recoverable", "--task-id", number, "--", "sh", "-c",
                              scripts[number], env=self.at)

        def await_tasks():
            self.wait_for_status("the tasks", lambda now: now["waiting_gets"] == 2)

        host, other = task(0), task(1)
        await_tasks()
        self.kill(host)
        failed = task(0)
        self.assertEqual(failed.wait(), 7, failed.output())
        host = task(0)
        await_tasks()
        self.succeed("put", "go", "1")

        self.assertEqual(other.wait(), 0, other.output())
        self.assertEqual(host.wait(), 0, host.output())
        self.assertEqual([line for line in other.lines["out"] if line.isdigit()], ["1", "2"])

    def test_a_host_task_ends_if_its_journal_cannot_be_written(self):
        self.at = {"COXSWAIN_ADDRESS": f"127.0.0.1:{free_port()}", "COXSWAIN_NUM_TASKS": "1"}
        program = BIN / "coxswain"
        host = self.start("coxswain", "task", "--host-if-task-0", "--journal", self.journal, "--task-id",
                          0, "--", "sh", "-c", f"{program} get go --wait 300s; {program} put b $0; sleep 300",
                          "x" * 8192, env=self.at)
        self.wait_for_status("a get", lambda now: now["waiting_gets"] == 1)
        resource.prlimit(host.pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))

        self.start("coxswain", "put", "go", "1", env=self.at)

        self.assertEqual(host.wait(), 74, host.output())
        self.assertIn("cannot be written: File too large", host.err)


class Journal(WithJournal):
    """coxswain journal, and coxswain replay of a journal."""

    def write_journal(self):
        """The journal of a killed coordinator with several batches; returns its segment."""
        coordinator = self.serve_journal(1, "--job", "night")
        for number in range(4):
            self.succeed("put", f"key/{number}", "poppy")
        self.kill(coordinator)
        segment, = self.journal.glob("*.seg")
        return segment

    def tool(self, *arguments):
        return self.run_to_end("coxswain", *arguments, self.journal)

    def damage(self, segment):
        content = bytearray(segment.read_bytes())
        content[len(content) // 2] ^= 1
        segment.write_bytes(content)

    def test_a_whole_journal_is_verified_and_shown_without_values(self):
        self.write_journal()

        whole = self.tool("journal", "verify")
        shown = self.tool("journal", "show")
        as_json = self.tool("journal", "show", "--json", "--batches")
        replayed = self.tool("replay")

        self.assertEqual((whole.code, whole.lines["out"][-1]), (0, "whole"), whole.output())
        self.assertIn("job 'night' of 1 task\n", shown.out)
        self.assertRegex(shown.out, r"request put +4\b")
        self.assertEqual(json.loads(as_json.out)["requests"]["put"], 4)
        self.assertGreater(len(json.loads(as_json.out)["batches"]), 4)
        self.assertEqual(replayed.code, 0, replayed.output())
        self.assertIn("4 keys", replayed.out)
        for one in (whole, shown, as_json, replayed):
            self.assertNotIn("poppy", one.output())

    def test_a_damaged_journal_is_repaired(self):
        segment = self.write_journal()
        self.damage(segment)
        refused = self.run_to_end("coxswain", "serve", "-n", 1, "--job", "night", "--listen",
                                  "127.0.0.1:0", "--journal", self.journal)
        found = self.tool("journal", "verify")
        shown = self.tool("journal", "show")

        repaired = self.tool("journal", "repair")

        self.assert_ended(refused, 74, "the journal is damaged after batch",
                          f"coxswain journal repair {self.journal}")
        self.assert_ended(found, 1, "the journal is damaged after batch", segment.name)
        self.assertIn("the journal is damaged after batch", shown.out)
        self.assertEqual(repaired.code, 0, repaired.output())
        self.assertRegex(repaired.out, r"gave up at least \d+ inputs? in \d+ batch(es)?, over \d\.\d+ s")
        self.assertEqual(len(list(self.journal.glob("cut-*"))), 1)
        self.assertEqual(self.tool("journal", "verify").code, 0)
        self.assertIn("nothing to repair", self.tool("journal", "repair").out)
        self.serve_journal(1, "--job", "night")
        self.assertEqual(self.succeed("get", "key/0").out, "poppy")

    def test_a_journal_in_use_is_left_alone(self):
        coordinator = self.serve_journal(1)

        for done in (self.tool("journal", "verify"), self.tool("journal", "repair"),
                     self.tool("replay")):
            self.assert_ended(done, UNAVAILABLE, f"is in use by the process {coordinator.pid}")

    def test_what_is_no_journal_is_reported(self):
        missing = self.tool("journal", "verify")
        self.journal.mkdir()
        empty = self.tool("journal", "show")
        compared = self.tool("replay", "--compare")

        self.assert_ended(missing, USAGE, "is not a directory")
        self.assertEqual((empty.code, empty.out), (0, f"there is no job in '{self.journal}'"))
        self.assert_ended(compared, USAGE, "is a journal, which has no digests to compare")


if __name__ == "__main__":
    unittest.main()
