"""The subcommands that use a running coordinator: what they print and how they end."""

import json
import signal
import socket
import unittest

from programs import EndToEnd, TIMED_OUT, UNAVAILABLE, USAGE


class Keys(EndToEnd):

    def setUp(self):
        super().setUp()
        self.serve(1)

    def test_get_prints_what_put_stored(self):
        self.assertEqual(self.coxswain("put", "config/rate", "0.001").code, 0)

        done = self.coxswain("get", "config/rate")

        self.assertEqual((done.code, done.out), (0, "0.001"))

    def test_any_bytes_pass_through_standard_input_and_output(self):
        value = bytes(range(256)) * 1000

        self.assertEqual(self.coxswain("put", "blob", "-", input=value).code, 0)

        self.assertEqual(self.coxswain("get", "blob").stdout, value)

    def test_put_replaces_a_value_only_with_overwrite(self):
        self.coxswain("put", "a", "first")

        again = self.coxswain("put", "a", "second")

        self.assertEqual(again.code, 1)
        self.assertIn("ALREADY_EXISTS", again.err)
        self.assertEqual(self.coxswain("get", "a").out, "first")
        self.assertEqual(self.coxswain("put", "a", "second", "--overwrite").code, 0)
        self.assertEqual(self.coxswain("get", "a").out, "second")

    def test_a_value_may_begin_with_a_dash(self):
        self.assertEqual(self.coxswain("put", "a", "--", "-x").code, 0)

        self.assertEqual(self.coxswain("get", "a").out, "-x")

    def test_get_of_a_missing_key_fails_or_waits(self):
        missing = self.coxswain("get", "later")
        self.assertEqual(missing.code, 1)
        self.assertIn("'later'", missing.err)

        self.assertEqual(self.coxswain("get", "later", "--wait", "50ms").code, TIMED_OUT)

        waiter = self.start("coxswain", "get", "later", "--wait", "5min", env=self.at)
        self.wait_for_status("the get", lambda s: s["waiting_gets"] == 1)
        self.coxswain("put", "later", "now")
        self.assertEqual((waiter.wait(), waiter.out), (0, "now"))

    def test_an_interrupted_get_is_taken_back(self):
        waiter = self.start("coxswain", "get", "never", "--wait", "forever", env=self.at)
        self.wait_for_status("the get", lambda s: s["waiting_gets"] == 1)

        waiter.signal(signal.SIGINT)

        self.assertEqual(waiter.wait(), 128 + signal.SIGINT)
        self.wait_for_status("its end", lambda s: s["waiting_gets"] == 0)

    def test_ls_lists_and_rm_removes_trees(self):
        for key in ("a/1", "a/2/x", "b"):
            self.coxswain("put", key, "1")
        self.assertEqual(self.coxswain("ls").out.split(), ["a/1", "a/2/x", "b"])
        self.assertEqual(self.coxswain("ls", "a").out.split(), ["a/1", "a/2/x"])
        self.assertIn("version", self.coxswain("ls", "-l").out)

        self.assertEqual(self.coxswain("rm", "a").out, "2 removed\n")

        self.assertEqual(self.coxswain("ls").out.split(), ["b"])
        self.assertEqual(self.coxswain("rm", "/").code, USAGE)
        self.assertEqual(self.coxswain("rm", "/", "--all").code, 0)
        self.assertEqual(self.coxswain("ls").out, "")

    def test_incr_counts(self):
        self.assertEqual(self.coxswain("incr", "n").out, "1\n")
        self.assertEqual(self.coxswain("incr", "n", "41").out, "42\n")
        self.assertEqual(self.coxswain("incr", "n", "-2").out, "40\n")

        self.coxswain("put", "text", "hello")
        refused = self.coxswain("incr", "text")
        self.assertEqual(refused.code, 1)
        self.assertIn("FAILED_PRECONDITION", refused.err)


class Barriers(EndToEnd):

    def test_the_last_caller_releases_all(self):
        self.serve(1)
        arguments = ("barrier", "meet", "--count", 3, "--timeout", "5min")
        first = [self.start("coxswain", *arguments, env=self.at) for _ in range(2)]
        self.wait_for_status("two of three",
                             lambda s: any(b["arrived"] == 2 for b in s["barriers"]))

        last = self.coxswain(*arguments)

        self.assertEqual(last.code, 0, last.err)
        for one in first:
            self.assertEqual(one.wait(), 0, one.said())
            self.assertEqual(one.out, last.out.strip())

    def test_a_timeout_has_its_own_code_and_says_who_is_missing(self):
        self.serve(1)

        done = self.coxswain("barrier", "lonely", "-n", 2, "--timeout", "50ms")

        self.assertEqual(done.code, TIMED_OUT)
        self.assertIn("DEADLINE_EXCEEDED", done.err)
        self.assertIn("lonely", done.err)


class Status(EndToEnd):

    def test_it_shows_tasks_and_who_is_missing(self):
        self.serve(3, "--job", "train", "--no-join-barrier")
        waiter = self.worker(1, 3, env={"COXSWAIN_JOB": "train"})
        self.at["COXSWAIN_JOB"] = "train"

        status = self.wait_for_status("the barrier", lambda s: s["barriers"])

        self.assertEqual(status["job"], "train")
        self.assertEqual([t["state"] for t in status["tasks"]],
                         ["never connected", "connected", "never connected"])
        task = status["tasks"][1]
        self.assertEqual(task["process"], f"{socket.gethostname()}:{waiter.pid}")
        self.assertFalse(task["suspect"])
        self.assertIsNone(status["tasks"][0]["last_heard_ms"])
        barrier = status["barriers"][0]
        self.assertEqual((barrier["name"], barrier["arrived"], barrier["expected"],
                          barrier["missing"]), ("devices", 1, 3, "0,2"))

        text = self.coxswain("status")
        self.assertEqual(text.code, 0)
        for words in ("job 'train'", "1 connected, 2 never connected", "devices", "1/3", "0,2",
                      task["process"], task["incarnation"]):
            self.assertIn(words, text.out)

    def test_it_shows_why_the_job_failed(self):
        self.serve(1, "--reconnect-grace", "0", "--no-leave-barrier")
        victim = self.worker(0, 1, "--rounds", 10**9)
        self.wait_for_status("the task", lambda s: s["tasks"][0]["state"] == "connected")

        victim.signal(signal.SIGKILL)

        status = self.wait_for_status("the failure", lambda s: s["error"])
        self.assertEqual(status["error"]["cause"]["task"], 0)
        self.assertEqual(status["tasks"][0]["state"], "failed")
        self.assertIn("FAILED: task 0", self.coxswain("status").out)


class Watching(EndToEnd):

    def test_events_are_shown_filtered_and_as_json(self):
        self.serve(1, "--reconnect-grace", "0", "--no-leave-barrier")
        victim = self.worker(0, 1, "--rounds", 10**9)
        self.wait_for_status("the task", lambda s: s["tasks"][0]["state"] == "connected")
        text = self.coxswain("events")
        self.assertEqual(text.code, 0, text.err)
        self.assertRegex(text.out, r"^ *\d+\.\d{3} info    task 0 ")
        self.assertIn("all 1 tasks have joined", text.out)

        victim.signal(signal.SIGKILL)
        self.wait_for_status("the failure", lambda s: s["error"])

        errors = self.coxswain("events", "--severity", "error", "--json")
        events = [json.loads(line) for line in errors.out.splitlines()]
        self.assertEqual([(e["kind"], e["task"]) for e in events],
                         [("failed", 0), ("job_failed", 0)])
        self.assertEqual(self.coxswain("events", "--severity", "loud").code, USAGE)

    def test_following_ends_with_the_coordinator(self):
        coordinator = self.serve(1)
        follower = self.start("coxswain", "events", "--follow", env=self.at)
        worker = self.worker(0, 1)
        follower.line("all tasks have left")
        self.assertEqual(worker.wait(), 0, worker.said())

        coordinator.signal(signal.SIGTERM)

        self.assertEqual(follower.wait(), UNAVAILABLE, follower.said())

    def test_status_is_shown_again_at_each_change(self):
        coordinator = self.serve(1)
        watcher = self.start("coxswain", "status", "--watch", env=self.at)
        watcher.line("1 never connected")

        worker = self.worker(0, 1)

        watcher.line("1 left")
        self.assertEqual(worker.wait(), 0, worker.said())
        coordinator.signal(signal.SIGTERM)
        self.assertEqual(watcher.wait(), UNAVAILABLE, watcher.said())


class Coordinator(EndToEnd):

    def test_nobody_there_is_unavailable(self):
        with socket.create_server(("127.0.0.1", 0)) as gone:
            self.at = {"COXSWAIN_ADDRESS": f"127.0.0.1:{gone.getsockname()[1]}"}

        for command in (("status",), ("events",), ("get", "a"), ("put", "a", "1"), ("ls",), ("rm", "a"),
                        ("incr", "a"), ("barrier", "b", "-n", "1")):
            with self.subTest(command=command):
                done = self.coxswain(*command, "--connect-timeout", "100ms")
                self.assertEqual(done.code, UNAVAILABLE, done.err)
                self.assertIn(self.at["COXSWAIN_ADDRESS"], done.err)

    def test_a_malformed_address_is_wrong_usage(self):
        self.at = {}

        done = self.coxswain("ls", "--address", "nowhere")

        self.assertEqual(done.code, USAGE)
        self.assertIn("nowhere", done.err)

    def test_wrong_usage_exits_64(self):
        self.at = {}
        for command in ((), ("sing",), ("get",), ("put", "a"), ("get", "a", "--wait", "soon"),
                        ("barrier", "b"), ("barrier", "b", "-n", "0"), ("incr", "a", "x"),
                        ("ls", "a", "b")):
            with self.subTest(command=command):
                done = self.coxswain(*command)
                self.assertEqual(done.code, USAGE, done.err)
                self.assertIn("--help", done.err)
                self.assertEqual(done.out, "")

    def test_help_teaches(self):
        self.at = {}
        for command in ("serve", "run", "status", "events", "barrier", "put", "get", "ls", "rm", "incr"):
            with self.subTest(command=command):
                done = self.coxswain(command, "--help")
                self.assertEqual(done.code, 0, done.err)
                self.assertIn("EXIT CODES", done.out)
                self.assertIn("COXSWAIN_", done.out)

        overview = self.coxswain("--help")
        self.assertEqual(overview.code, 0)
        for words in ("EXAMPLES", "ENVIRONMENT", "EXIT CODES"):
            self.assertIn(words, overview.out)

    def test_version(self):
        self.at = {}

        self.assertRegex(self.coxswain("version").out, r"^coxswain \d+\.\d+\.\d+, protocol \d+\n$")
        self.assertRegex(self.coxswain("--version").out, r"^coxswain \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    unittest.main()
