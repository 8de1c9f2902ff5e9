"""coxswain stop and drain: the end of a job on request."""

import json
import signal
import unittest

from programs import EndToEnd, PATH, REFUSED, fetch, free_port, wait_for_file

BY = r"by \S+@\S+ \(process \d+, coxswain {}\)"


class Ends(EndToEnd):

    def task(self, number, script):
        return self.start("coxswain", "task", "--task-id", number, "--", "sh", "-c", script,
                          env=self.at | PATH)

    def two_tasks(self, script="coxswain get go --wait 300s"):
        tasks = [self.task(number, script) for number in range(2)]
        self.wait_for_status("both", lambda s: all(t["state"] == "connected" for t in s["tasks"]))
        return tasks

    def test_a_stop_ends_everything_with_its_reason(self):
        coordinator = self.serve(2)
        tasks = self.two_tasks()
        waiting = self.start("coxswain", "get", "k", "--wait", "300s", env=self.at)
        self.wait_for_status("the gets", lambda s: s["waiting_gets"] == 3)

        self.succeed("stop", "wrong", "learning rate")

        self.assertEqual(coordinator.wait(), 0, coordinator.output())
        self.assertRegex(coordinator.err, "stopping: " + BY.format("stop") + ": wrong learning rate")
        for one in (waiting, *tasks):
            self.assertNotEqual(one.wait(), 0, one.output())
            self.assertRegex(one.err, "the job was stopped: " + BY.format("stop") + ": wrong learning rate")
        self.assertRegex(self.coxswain("jobs").out, BY.format("stop"))

    def test_a_job_that_drains_takes_nobody_and_ends_when_all_have_left(self):
        coordinator = self.serve(2)
        tasks = self.two_tasks()

        self.succeed("drain", "upgrade")

        self.assertRegex(self.succeed("status").out.splitlines()[0],
                         r"^Draining since [0-9:]+: 2 tasks are still in it; " + BY.format("drain") + ": upgrade$")
        late = self.task(1, "true")
        self.assertNotEqual(late.wait(), 0, late.output())
        self.assertRegex(late.err, "draining since [0-9:.]+, " + BY.format("drain") + ": upgrade: nobody may join")
        self.succeed("put", "go", "1")
        for one in tasks:
            self.assertEqual(one.wait(), 0, one.output())
        self.assertEqual(coordinator.wait(), 0, coordinator.output())

    def test_a_job_drains_over_http(self):
        coordinator = self.serve(2, "--http", "127.0.0.1:0")
        tasks = self.two_tasks()
        path = coordinator.ready["page"] + "api/v1/drain"

        code, body = fetch(path, b'{"reason":"upgrade"}', **{"Content-Type": "application/json"})

        self.assertEqual((code, json.loads(body)), (200, {"draining": True}))
        self.assertIn("by 127.0.0.1, over HTTP: upgrade", self.succeed("status").out)
        self.succeed("put", "go", "1")
        self.assertEqual(coordinator.wait(), 0, coordinator.output())
        for one in tasks:
            self.assertEqual(one.wait(), 0, one.output())

    def test_a_coordinator_that_was_killed_goes_on_draining(self):
        arguments = ("--listen", f"127.0.0.1:{free_port()}", "--journal", self.directory / "journal")
        coordinator = self.serve(2, *arguments)
        tasks = self.two_tasks()
        self.succeed("drain", "upgrade")
        coordinator.signal(signal.SIGKILL)
        coordinator.wait()

        coordinator = self.serve(2, *arguments)

        self.wait_for_status("a drain", lambda s: s["state"] == "draining")
        self.succeed("put", "go", "1")
        self.assertEqual(coordinator.wait(), 0, coordinator.output())
        for one in tasks:
            self.assertEqual(one.wait(), 0, one.output())

    def test_a_run_that_drains_ends_with_its_tasks(self):
        ports = self.directory / "ports"
        job = self.start("coxswain", "run", "-n", 2, "--port-file", ports, "--", "coxswain", "task", "--", "sh", "-c",
                         "coxswain get go --wait 300s", env=PATH)
        self.at = {"COXSWAIN_ADDRESS": wait_for_file(ports).split()[0]}
        self.wait_for_status("both", lambda s: all(t["state"] == "connected" for t in s["tasks"]))

        self.succeed("drain")
        self.succeed("put", "go", "1")

        self.assertEqual(job.wait(), 0, job.output())

    def test_only_an_operator_may_end_a_job(self):
        tokens = self.directory / "tokens"
        tokens.write_text("reader look\nworker work\n")
        self.serve(1, "--token-file", tokens)

        for command in ("stop", "drain"):
            with self.subTest(command):
                self.assert_ended(self.coxswain(command, env={"COXSWAIN_TOKEN": "look"}), REFUSED,
                                  "role 'reader' may not end the job; that needs a token of role 'operator'")
        self.succeed("status", env={"COXSWAIN_TOKEN": "look"})

    def test_words_of_other_programs_lead_to_stop(self):
        self.at = {}
        for word in ("kill", "end", "shutdown"):
            self.assertIn("did you mean coxswain stop?", self.coxswain(word).err)


if __name__ == "__main__":
    unittest.main()
