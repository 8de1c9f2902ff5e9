"""The subcommands that use a running coordinator: their output and exit codes."""

import datetime
import json
import signal
import socket
import time
import unittest

from programs import BIN, EndToEnd, LIMIT, SLOWNESS, TIMED_OUT, UNAVAILABLE, USAGE, free_port


class Keys(EndToEnd):

    def setUp(self):
        super().setUp()
        self.coordinator = self.serve(1)

    # Arguments, exit code and standard output, or part of standard error.
    CALLS = [
        ("put config/rate 0.001", 0, ""), ("get config/rate", 0, "0.001"),
        ("put config/rate 2", 1, "ALREADY_EXISTS"), ("put config/rate 2 --overwrite", 0, ""),
        ("get config/rate", 0, "2"), ("get later", 1, "'later'"), ("get later --wait 50ms", TIMED_OUT, "'later'"),
        ("incr n", 0, "1\n"), ("incr n 41", 0, "42\n"), ("incr n -2", 0, "40\n"),
        ("put text hello", 0, ""), ("incr text", 1, "FAILED_PRECONDITION"),
        ("cas leader one --if-absent", 0, "7\n"), ("cas leader two --if-absent", 1, "ALREADY_EXISTS"),
        ("cas leader two --if-version 7", 0, "8\n"), ("cas leader 3 --if-value two", 0, "9\n"),
        ("cas leader 4 --if-value two", 1, "FAILED_PRECONDITION"), ("cas missing v --if-version 1", 1, "NOT_FOUND"),
        ("append log a", 0, "10\n"), ("append log b", 0, "11\n"), ("get log", 0, "ab"),
        ("count", 0, "5\n"), ("count config", 0, "1\n"), ("count c", 0, "0\n"),
        ("push q a", 0, "1\n"), ("push q b", 0, "2\n"), ("pop q", 0, "a"), ("pop q", 0, "b"),
        ("pop q", TIMED_OUT, "'q'"), ("put dash -- -x", 0, ""), ("get dash", 0, "-x"),
        ("barrier b --count 1", 0, "round 1 of 'b' is complete: 1 have arrived\n"),
        ("barrier lonely -n 2 --timeout 50ms", TIMED_OUT, "lonely"), ("preempt 1", USAGE, "there is no task 1")]

    def test_every_call(self):
        for call, code, shown in self.CALLS:
            with self.subTest(call):
                done = self.coxswain(*call.split())
                self.assertEqual(done.code, code, done.err)
                if code == 0:
                    self.assertEqual(done.out, shown)
                else:
                    self.assertEqual(done.out, "")
                    self.assertIn(shown, done.err)
        for command, value in ("get", "k"), ("pop", "q"):
            waiter = self.start("coxswain", command, value, "--wait", "5min", env=self.at)
            self.wait_for_status("it", lambda s: s["waiting_gets"] + s["waiting_pops"] == 1)
            self.succeed("put" if command == "get" else "push", value, "now")
            self.assertEqual((waiter.wait(), waiter.out), (0, "now"))

    def test_any_bytes_pass_through_standard_input_and_output(self):
        value = bytes(range(256)) * 1000

        self.assertEqual(self.coxswain("put", "blob", "-", input=value).code, 0)

        self.assertEqual(self.coxswain("get", "blob").stdout, value)

    def test_an_interrupted_get_is_cancelled(self):
        for command, counted in ((("get", "never", "--wait", "forever"), "waiting_gets"),
                                 (("watch", "/"), "waiting_key_watches")):
            waiter = self.start("coxswain", *command, env=self.at)
            self.wait_for_status("the wait", lambda s: s[counted] == 1)

            waiter.signal(signal.SIGINT)

            self.assertEqual(waiter.wait(), 128 + signal.SIGINT)
            self.wait_for_status("its end", lambda s: s[counted] == 0)

    def test_ls_lists_and_rm_removes_keys_and_trees(self):
        for key in ("a/1", "a/2/x", "b"):
            self.coxswain("put", key, "1")
        self.assertEqual(self.coxswain("ls").out.split(), ["a/1", "a/2/x", "b"])
        self.assertEqual(self.coxswain("ls", "a").out.split(), ["a/1", "a/2/x"])
        self.assertIn("version", self.coxswain("ls", "-l").out)
        self.coxswain("put", "c", "x" * 100 + "\n")
        shown = [line.split() for line in self.coxswain("ls", "--values").out.splitlines()]
        self.assertEqual(shown[:2], [["key", "value"], ["a/1", "1"]])
        self.assertEqual(shown[-1], ["c", "x" * 60 + "...", "(101", "bytes)"])
        self.assertEqual(self.coxswain("rm", "c").code, 0)

        self.assertEqual(self.coxswain("rm", "a").out, "0 removed\n")
        self.assertEqual(self.coxswain("rm", "a/1").out, "1 removed\n")
        self.coxswain("put", "a", "1")
        self.assertEqual(self.coxswain("rm", "-r", "a").out, "2 removed\n")

        self.assertEqual(self.coxswain("ls").out.split(), ["b"])
        for careless in (["/"], ["-r", "/"], ["/", "--all"]):
            self.assertEqual(self.coxswain("rm", *careless).code, USAGE)
        self.assertEqual(self.coxswain("rm", "-r", "/", "--all").code, 0)
        self.assertEqual(self.coxswain("ls").out, "")

    def test_a_command_runs_while_its_lock_is_held(self):
        token = self.coxswain("lock", "l", "--", "sh", "-c", "echo $COXSWAIN_LOCK_TOKEN")
        self.assertEqual((token.code, token.out), (0, "1\n"))
        self.assertEqual(self.coxswain("lock", "l", "--", "sh", "-c", "exit 7").code, 7)
        killed = self.coxswain("lock", "l", "--", "sh", "-c", "kill -9 $$")
        self.assertEqual(killed.code, 128 + signal.SIGKILL)
        self.assertEqual(self.coxswain("lock", "l").code, USAGE)
        self.assertEqual(self.coxswain("lock", "l", "--", "/no/such/program").code, 127)

    def test_the_lock_owner_is_named_and_the_next_caller_waits(self):
        owner = self.start("coxswain", "lock", "l", "--", BIN / "coxswain", "get", "go", "--wait",
                           "forever", env=self.at)
        self.wait_for_status("the owner's command", lambda s: s["waiting_gets"] == 1)
        refused = self.coxswain("lock", "l", "--wait", "0s", "--", "echo", "not run")
        self.assertEqual((refused.code, refused.out), (TIMED_OUT, ""))
        self.assertIn("lock 'l' is held by client", refused.err)

        waiter = self.start("coxswain", "lock", "l", "--", "echo", "mine", env=self.at)
        waiter.line("lock 'l' is held by client", "err")
        self.assertIn("held by: client", self.coxswain("why").out)
        self.coxswain("put", "go", "now")

        self.assertEqual((owner.wait(), waiter.wait(), waiter.out), (0, 0, "mine"))

    def test_the_command_is_ended_when_its_lock_is_lost(self):
        script = "trap 'echo ended; exit 3' TERM; echo ready; while :; do sleep 0.1; done"
        owner = self.start("coxswain", "lock", "l", "--", "sh", "-c", script, env=self.at)
        owner.line("ready")

        self.stop(self.coordinator)

        self.assertEqual(owner.wait(), UNAVAILABLE)
        self.assertEqual(owner.out, "ready\nended")
        self.assertIn("lock 'l' was lost", owner.err)

    def test_a_taken_item_is_finished_by_success_and_returns_otherwise(self):
        self.coxswain("push", "q", "item")
        show = ("sh", "-c", "echo $COXSWAIN_ITEM $COXSWAIN_ITEM_NUMBER $COXSWAIN_ITEM_REDELIVERIES")
        self.assertEqual(self.coxswain("take", "q", "--", "sh", "-c", "exit 7").code, 7)
        done = self.coxswain("take", "q", "--", *show)
        self.assertEqual((done.code, done.out), (0, "item 1 1\n"))
        late = self.coxswain("take", "q", "--wait", "0s", "--", "echo", "not run")
        self.assertEqual((late.code, late.out), (TIMED_OUT, ""))

    def test_the_holder_of_an_item_and_its_redeliveries_are_shown(self):
        self.coxswain("push", "q", "item")
        self.coxswain("take", "q", "--", "false")
        holder = self.start("coxswain", "take", "q", "--lease", "1h", "--", BIN / "coxswain", "get",
                            "go", "--wait", "forever", env=self.at)
        self.wait_for_status("the holder's command", lambda s: s["waiting_gets"] == 1)
        waiter = self.start("coxswain", "take", "q", "--", "echo", "mine", env=self.at)
        self.wait_for_status("the next one", lambda s: s["waiting_pops"] == 1)

        status = self.coxswain("status").out
        self.assertIn("1 item taken and not finished", status)
        self.assertRegex(status, r"taken item +queue +by +for +expires in +redelivered\n +1 +q +client ")
        (lease,) = json.loads(self.coxswain("status", "--json").out)["leases"]
        self.assertEqual((lease["queue"], lease["item"], lease["redeliveries"]), ("q", 1, 1))
        self.assertLess(lease["at_ms"], lease["expires_ms"])
        self.assertRegex(self.coxswain("why").out, "an item of queue 'q'\n.*\n  leased: 1, to client "
                         ".*, redelivery 1\n")

        self.coxswain("push", "q", "more")
        self.coxswain("put", "go", "now")
        self.assertEqual((holder.wait(), waiter.wait(), waiter.out), (0, 0, "mine"))
        self.assertNotIn("taken", self.coxswain("status").out)

    def test_watch_prints_changes_as_they_happen(self):
        watcher = self.start("coxswain", "watch", "d", "--count", 3, env=self.at)
        self.wait_for_status("the watch", lambda s: s["waiting_key_watches"] == 1)
        self.coxswain("put", "other", "1")
        self.coxswain("put", "d/a", "two\nlines")
        watcher.line("2 d/a = two\\nlines")
        self.coxswain("put", "d/b", "3")
        self.coxswain("rm", "d/a")

        self.assertEqual(watcher.wait(), 0, watcher.output())
        self.assertEqual(watcher.out.splitlines()[1:], ["3 d/b = 3", "4 d/a removed"])

    def test_watch_starts_after_a_version_and_prints_json(self):
        self.coxswain("put", "a", "1")
        self.coxswain("put", "b", "-", input=b"\xff")
        self.coxswain("rm", "a")

        done = self.coxswain("watch", "/", "--after", 0, "--count", 3, "--json")

        lines = [json.loads(line) for line in done.out.splitlines()]
        self.assertEqual(lines, [
            {"version": 1, "key": "a", "value": "1", "removed": False},
            {"version": 2, "key": "b", "value": None, "value_hex": "ff", "removed": False},
            {"version": 3, "key": "a", "value": None, "removed": True}])

    def test_a_watch_that_falls_behind_lists_and_continues(self):
        self.serve(1, "--changes-max", 2)
        for i in range(4):
            self.coxswain("put", "k", i, "--overwrite")

        done = self.coxswain("watch", "/", "--after", 0, "--count", 1)

        self.assertEqual((done.code, done.out), (0, "4 k = 3\n"))
        self.assertIn("all keys follow", done.err)


class Barriers(EndToEnd):


    def test_a_round_of_tasks_can_be_cancelled(self):
        self.serve(2)
        waiting = self.worker(0, 2, "--rounds", 1)
        self.worker(1, 2, "--rounds", 0)
        self.wait_for_status("the round", lambda s: any(b["name"] == "step" for b in s["barriers"]))

        other = self.coxswain("cancel", "step", "--round", 2)
        done = self.coxswain("cancel", "step", "--round", 1)

        self.assertEqual((done.code, done.out, done.err), (0, "", ""))
        self.assertEqual(waiting.wait(), 1, waiting.output())
        self.assertIn("CANCELLED: Barrier 'step' round 1 failed: cancelled by ", waiting.err)
        for refused in (other, self.coxswain("cancel", "step")):
            self.assertEqual(refused.code, 1)
            self.assertIn("FAILED_PRECONDITION", refused.err)


class Status(EndToEnd):

    def test_status_shows_tasks_and_missing_participants(self):
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

        text = self.succeed("status")
        for words in ("job 'train'", "1 connected, 2 never connected", "devices", "1/3", "0,2",
                      task["process"], task["incarnation"]):
            self.assertIn(words, text.out)


class Why(EndToEnd):

    def why(self):
        done = self.succeed("why", "--json")
        return json.loads(done.out)

    def test_why_shows_no_waits_at_first(self):
        self.serve(2)

        self.assertRegex(self.coxswain("why").out, r"^Nothing has joined .*\nno call is waiting\n$")
        why = self.why()
        self.assertEqual((why["stuck"], why["waits"], why["more"]), (None, [], 0))

    def test_a_deadlock_of_two_tasks_is_named(self):
        coordinator = self.serve(2)
        first = self.task(0, 2, "step:7", "barrier:a")
        self.task(1, 2, "barrier:b")

        notice = coordinator.line("deadlock: ", "err")

        for words in ("error", "tasks 0-1 are blocked on each other", "task 0 waits at barrier 'a' for task 1",
                      "task 1 waits at barrier 'b' for task 0", "cancel a round or end a task"):
            self.assertIn(words, notice)
        why = self.why()
        self.assertIn(why["stuck"], notice)
        waits = {w["name"]: w for w in why["waits"]}
        self.assertEqual(sorted(waits), ["a", "b"])
        self.assertTrue(waits["b"]["stuck"])
        self.assertEqual((waits["b"]["kind"], waits["b"]["waiting"], waits["b"]["missing"]),
                         ("barrier", "1", "0"))
        known = waits["b"]["known"][0]
        self.assertEqual((known["task"], known["step"], known["waits_for"]), (0, 7, "barrier 'a'"))
        text = self.coxswain("why").out
        self.assertTrue(text.startswith("Deadlock: tasks 0-1"), text)
        self.assertIn(f"task 0: connected, {socket.gethostname()}:{first.pid}", text)
        self.assertIn("at step 7, waits for barrier 'a'", text)
        events = [json.loads(line)["kind"] for line in self.coxswain("events", "--json").out.splitlines()]
        self.assertEqual(events.count("stuck"), 1)


class Progress(EndToEnd):

    def test_steps_are_shown_after_the_first_report(self):
        self.serve(2)
        self.assertNotIn("step", self.coxswain("status").out)
        task = self.task(0, 2, "step:1200", "get:k")
        self.task(1, 2, "get:k")

        status = self.wait_for_status("the step", lambda s: s["tasks"][0]["step"] == 1200)

        self.assertGreaterEqual(status["tasks"][0]["step_age_ms"], 0)
        self.assertIsNone(status["tasks"][1]["step"])
        self.assertRegex(self.coxswain("status").out, r"task +state .* step +since\n")
        task.end()


class Preempt(EndToEnd):

    def test_a_notice_reaches_the_coordinator(self):
        coordinator = self.serve(2)

        done = self.coxswain("preempt", 1, "--in", "10min")

        self.assertEqual((done.code, done.err), (0, ""))
        coordinator.line("task 1 will be preempted in 10 min", "err")


class Watching(EndToEnd):

    def test_events_are_shown_filtered_and_as_json(self):
        self.serve(1, "--reconnect-grace", "0", "--no-leave-barrier")
        victim = self.worker(0, 1, "--rounds", 10**9)
        self.wait_for_status("the task", lambda s: s["tasks"][0]["state"] == "connected")
        text = self.succeed("events")
        self.assertRegex(text.out, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d +\d+\.\d{3} info    "
                                   r"task 0 ")
        self.assertIn("all 1 tasks have joined", text.out)

        victim.signal(signal.SIGKILL)
        self.wait_for_status("the failure", lambda s: s["error"])

        errors = self.coxswain("events", "--severity", "error", "--json")
        self.assertIn("FAILED: task 0", self.coxswain("status").out)
        events = [json.loads(line) for line in errors.out.splitlines()]
        self.assertEqual([(e["kind"], e["task"]) for e in events],
                         [("failed", 0), ("job_failed", 0)])
        # The wall clock, and a time in the text from the same clock.
        happened = datetime.datetime.fromisoformat(events[0]["time"])
        self.assertLess(abs(happened.timestamp() - time.time()), LIMIT)
        self.assertRegex(events[0]["text"], r"the connection of task \d+ .*was lost at \d\d:\d\d:\d\d\.\d and")
        self.assertEqual(self.coxswain("events", "--severity", "loud").code, USAGE)

    def test_following_ends_with_the_coordinator(self):
        coordinator = self.serve(1)
        follower = self.start("coxswain", "events", "--follow", "--json", env=self.at)
        worker = self.worker(0, 1)
        follower.line("all tasks have left")
        self.assertEqual(worker.wait(), 0, worker.output())

        coordinator.signal(signal.SIGTERM)

        self.assertEqual(follower.wait(), UNAVAILABLE, follower.output())
        events = [json.loads(line) for line in follower.lines["out"]]
        self.assertEqual([e["number"] for e in events], list(range(1, len(events) + 1)))
        self.assertEqual([(e["kind"], e["task"]) for e in events if e["kind"] in ("joined", "left")],
                         [("joined", None), ("left", 0), ("left", None)])

    def test_watch_prints_events_from_now_on(self):
        self.serve(1)
        self.assertEqual(self.worker(0, 1).wait(), 0)
        watcher = self.start("coxswain", "watch", "--json", "--count", 1, env=self.at)
        self.wait_for_status("the watch", lambda s: s["sessions"] == 2)

        while watcher.process.poll() is None:
            self.start("coxswain", "status", "--job", "another", env=self.at).wait()

        self.assertEqual(watcher.wait(), 0, watcher.output())
        self.assertEqual(json.loads(watcher.out)["kind"], "refused")
        self.assertEqual(self.coxswain("watch", "--after", 0).code, USAGE)

    def test_status_is_shown_again_at_each_change(self):
        coordinator = self.serve(1)
        watcher = self.start("coxswain", "status", "--watch", env=self.at)
        watcher.line("1 never connected")

        worker = self.worker(0, 1)

        watcher.line("1 left")
        self.assertEqual(worker.wait(), 0, worker.output())
        coordinator.signal(signal.SIGTERM)
        self.assertEqual(watcher.wait(), UNAVAILABLE, watcher.output())


class Coordinator(EndToEnd):

    def test_a_missing_coordinator_is_unavailable(self):
        self.at = {"COXSWAIN_ADDRESS": f"127.0.0.1:{free_port()}"}

        for command in (("status",), ("top", "--once"), ("why",), ("events",), ("get", "a"), ("put", "a", "1"), ("ls",), ("rm", "a"),
                        ("incr", "a"), ("cas", "a", "1", "--if-absent"), ("append", "a", "1"), ("count",),
                        ("watch",), ("push", "q", "1"), ("pop", "q"), ("barrier", "b", "-n", "1")):
            with self.subTest(command=command):
                self.assert_ended(self.coxswain(*command, "--connect-timeout", "100ms"),
                                  UNAVAILABLE, self.at["COXSWAIN_ADDRESS"])

    def test_a_frozen_coordinator_does_not_extend_timeouts(self):
        coordinator = self.serve(1)
        calls = [self.start("coxswain", *command, "--wait", "2s", env=self.at)
                 for command in (("get", "never"), ("pop", "never"))]
        self.wait_for_status("the calls",
                             lambda s: s["waiting_gets"] == 1 and s["waiting_pops"] == 1)

        coordinator.signal(signal.SIGSTOP)

        for call in calls:
            self.assertEqual(call.wait(limit=30 * SLOWNESS), TIMED_OUT, call.output())
            self.assertIn("no reply from the coordinator", call.err)

    def test_a_restarted_coordinator_is_not_taken_for_the_old_one(self):
        first = self.serve(1)
        waiter = self.start("coxswain", "get", "never", "--wait", "forever", env=self.at)
        self.wait_for_status("the get", lambda s: s["waiting_gets"] == 1)

        first.end()
        self.serve(1, "--listen", first.addresses[0])

        self.assertEqual(waiter.wait(), UNAVAILABLE, waiter.output())
        self.assertIn("was restarted; its keys and barriers are gone", waiter.err)
        self.assertEqual(self.status()["waiting_gets"], 0)

    def test_a_malformed_address_is_wrong_usage(self):
        self.at = {}

        self.assert_ended(self.coxswain("ls", "--address", "nowhere"), USAGE, "nowhere")

    def test_an_unknown_subcommand_is_named(self):
        self.at = {}
        for word, hint in (("nosuch", ""), ("barier", "; did you mean barrier?"),
                           ("ps", "; did you mean coxswain jobs?"),
                           ("tasks", "; did you mean coxswain status?"),
                           ("start", "; did you mean coxswain run -n 4 -- CMD...?")):
            self.assert_ended(self.coxswain(word, "--wait", "1s"), USAGE,
                              f"coxswain: '{word}' is not a subcommand{hint}\n")

    def test_an_unknown_option_is_named_with_similar_ones(self):
        self.at = {}
        for command, words in (
                (("status", "--adress", "h:1"), "unknown option --adress; did you mean --address?"),
                (("get", "k", "--wiat=5s"), "unknown option --wiat; did you mean --wait?"),
                (("cas", "k", "v", "--if-absnt"), "unknown option --if-absnt; did you mean --if-absent?"),
                (("run", "-n", "1", "--lingr", "1s", "--", "true"),
                 "unknown option --lingr; did you mean --linger?"),
                (("run", "--tasks", "4", "--", "true"), "unknown option --tasks; did you mean --num-tasks?"),
                (("status", "--token", "file"), "unknown option --token; did you mean --token-file?"),
                (("status", "--frobnicate"), "unknown option --frobnicate\n")):
            with self.subTest(command=command):
                self.assert_ended(self.coxswain(*command), USAGE, words)

    def test_what_is_wrong_before_a_command_is_named_and_not_the_command(self):
        self.at = {"COXSWAIN_ADDRESS": "bad"}
        for command in (("task", "--", "true"), ("task", "true"), ("task", "--", "sh", "--frobnicate")):
            with self.subTest(command=command):
                self.assert_ended(self.coxswain(*command), USAGE,
                                  "--address (from variable COXSWAIN_ADDRESS): The address 'bad' has no port")

    def test_a_nearly_correct_option_gets_a_suggestion(self):
        self.at = {}
        for command, words in (
                (("get", "k", "--wait", "5"), ("invalid value '5'", "no unit", "5s")),
                (("status", "--address", "http://host:8476/"),
                 ("is a URL", "write 'host:8476' without 'http://'"))):
            with self.subTest(command=command):
                done = self.coxswain(*command)
                self.assertEqual(done.code, USAGE)
                for word in words:
                    self.assertIn(word, done.err)

    def test_a_missing_or_superfluous_value_is_named_with_what_to_write(self):
        self.at = {}
        for command, words in (
                (("run", "-n"), "--num-tasks needs a value: --num-tasks N\n"),
                (("run",), "--num-tasks is required: coxswain run -n N -- CMD...\n"),
                (("put", "a"), "VALUE is required: coxswain put KEY VALUE\n"),
                (("serve", "-n", "1", "--num-tasks", "2"), "--num-tasks is given 2 times; give it once\n"),
                (("serve", "-n", "1", "--insecure=maybe"), "--insecure takes no value\n"),
                (("serve", "-n", "1", "--tls-cert", "/none"), "--tls-cert: cannot read '/none': No such file"),
                (("serve", "-n", "1", "--listen", "0.0.0.0:0"), "openssl rand -hex 16 > token")):
            with self.subTest(command=command):
                self.assert_ended(self.coxswain(*command), USAGE, words)

    def test_a_directory_instead_of_a_file_is_refused(self):
        self.at = {}
        for arguments in (("serve", "-n", "1", "--config", self.directory),
                          ("status", "--token-file", self.directory)):
            self.assert_ended(self.coxswain(*arguments), USAGE,
                              f"cannot read '{self.directory}': Is a directory")

    def test_control_characters_in_keys_are_escaped(self):
        self.serve(1)
        self.assertEqual(self.coxswain("put", "k\033[31m\ny", "v").code, 0)
        done = self.coxswain("watch", "/", "--after", 0, "--count", 1)
        self.assertEqual(done.out, "1 k?[31m y = v\n")

    def test_wrong_usage_exits_64(self):
        self.at = {}
        for command in ((), ("sing",), ("get",), ("put", "a"), ("get", "a", "--wait", "soon"),
                        ("barrier", "b"), ("barrier", "b", "-n", "0"), ("incr", "a", "x"),
                        ("cas", "a", "b"), ("cas", "a", "b", "--if-absent", "--if-version", "1"),
                        ("watch", "--count", "0"), ("pop",), ("ls", "a", "b")):
            with self.subTest(command=command):
                done = self.coxswain(*command)
                self.assertEqual(done.code, USAGE, done.err)
                self.assertIn("--help", done.err)
                self.assertEqual(done.out, "")

    def test_help_lists_variables_exit_codes_and_examples(self):
        self.at = {}
        for command in ("serve", "run", "status", "top", "why", "events", "barrier", "cancel", "put", "get", "ls",
                        "rm", "incr", "cas", "append", "count", "watch", "push", "pop", "preempt",
                        "replay", "task", "all-gather", "reduce", "all-equal", "alive", "topology",
                        "progress", "sync-point", "fail", "reset", "leave"):
            with self.subTest(command=command):
                done = self.succeed(command, "--help-all")
                self.assertIn("EXIT CODES", done.out)
                self.assertIn("COXSWAIN_", done.out)

        overview = self.succeed("--help")
        for words in ("EXAMPLES", "ENVIRONMENT", "EXIT CODES"):
            self.assertIn(words, overview.out)

    def test_version(self):
        self.at = {}

        self.assertRegex(self.coxswain("version").out, r"^coxswain \d+\.\d+\.\d+, protocol \d+\n$")
        self.assertRegex(self.coxswain("--version").out, r"^coxswain \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    unittest.main()
