"""Spares: processes without a number, and coxswain run, which starts them and those that fail again."""

import signal
import unittest

from programs import EndToEnd, PATH

WAITS = "coxswain barrier begun && echo begun && exec tail -f /dev/null"


class WithServe(EndToEnd):

    def member(self, name, *options, script=WAITS):
        return self.start("coxswain", "task", "--member", name, *options, "--", "sh", "-c",
                          "echo task $COXSWAIN_TASK_ID; " + script, env=self.at | PATH)

    def wait_for_spares(self, *names):
        return self.wait_for_status(f"spares {names}", lambda s: (
            [one["member"] for one in s["spares"]] == list(names)))

    def test_a_spare_replaces_a_killed_task_and_others_end_with_the_job(self):
        self.serve(4, "--recoverable", "--spares", 2, "--last-call", "100ms", "--come-back", "500ms",
                   "--reconnect-grace", "100ms")
        tasks = [self.member(f"m{number}") for number in range(4)]
        for number, task in enumerate(tasks):
            self.assertEqual(task.line("task"), f"task {number}")
            task.line("begun")
        spares = [self.member("s0")]
        self.wait_for_spares("s0")
        spares.append(self.member("s1"))
        self.wait_for_spares("s0", "s1")
        self.assertIn("s0", self.coxswain("status").out)
        self.assertIn("2 spares", self.coxswain("top", "--once").out)

        refused = self.member("s2")
        self.assertNotEqual(refused.wait(), 0)
        self.assertIn("RESOURCE_EXHAUSTED", refused.err)
        self.wait_for_spares("s0", "s1")

        tasks[3].process.send_signal(signal.SIGKILL)

        self.assertEqual(spares[0].line("task"), "task 3")
        self.wait_for_spares("s1")
        self.assertIsNone(self.status()["error"])


class WithRun(EndToEnd):

    def run_job(self, options, script):
        return self.run_to_end("coxswain", "run", "-n", 3, "--recoverable", *options, "--", "coxswain", "task",
                               "--", "sh", "-c", script, env=PATH)

    def test_a_spare_of_run_takes_over_at_once_and_the_job_ends_well(self):
        script = """coxswain put first-$COXSWAIN_TASK_ID x 2> /dev/null; first=$?
            [ $COXSWAIN_TASK_ID = 1 ] && [ $first = 0 ] && kill -9 $$
            coxswain barrier end"""
        job = self.run_job(["--spares", 2], script)

        self.assertEqual(job.code, 0, job.output())
        self.assertRegex(job.out, r"\[spare-[01]\] round 1 of 'end' is complete")

    def test_a_recoverable_task_that_fails_is_started_again(self):
        logs = self.directory / "logs"
        script = """echo run $COXSWAIN_RESTARTS
            [ $COXSWAIN_TASK_ID = 1 ] && [ $COXSWAIN_RESTARTS = 0 ] && exit 3
            coxswain barrier end"""
        job = self.run_job(["--max-restarts", 2, "--log-dir", logs], script)

        self.assertEqual(job.code, 0, job.output())
        self.assertIn("process 1 will be started again in 1.00 s (restart 1 of 2)", job.err)
        self.assertEqual((logs / "1.log").read_text().splitlines()[:2], ["run 0", "run 1"])
        self.assertEqual((logs / "0.log").read_text().splitlines()[0], "run 0")

    def test_a_task_that_always_fails_is_started_again_only_so_often(self):
        job = self.run_job(["--max-restarts", 1, "--failure-grace", "100ms"],
                           "[ $COXSWAIN_TASK_ID = 1 ] && echo tried && exit 3; exit 0")

        self.assertEqual(job.code, 3, job.output())
        self.assertEqual(job.out.count("tried"), 2)


if __name__ == "__main__":
    unittest.main()
