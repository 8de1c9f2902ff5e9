"""Epochs: jobs whose number of tasks changes."""

import os
import signal
import sys
import unittest

from programs import EndToEnd, PATH, wait_for_file

EXAMPLES = os.path.join(os.path.dirname(__file__), "..", "..", "tools", "examples")
TRAIN = os.path.join(EXAMPLES, "train_elastic.py")
SCRIPT = os.path.join(EXAMPLES, "elastic.sh")


# Steps until one member sees the key `end`; then all leave.
UNTIL_END = """
while :; do
  until coxswain epoch wanted > /dev/null; do
    end=$(coxswain get end 2> /dev/null || echo 0)
    end=$(coxswain reduce step "$end" --how max) || break
    if [ "$end" = 1 ] && coxswain leave; then echo finished; exit; fi
  done
  epoch=$(coxswain epoch next) || exit
  [ "$epoch" ] || exit 0
  echo "epoch $epoch"
done
"""


class WithEpochs(EndToEnd):

    def wait_for_epoch(self, number, size):
        return self.wait_for_status(f"epoch {number} of {size}", lambda s: (
            s["elastic"]["epoch"] == number and s["num_tasks"] == size))


class Epochs(WithEpochs):

    def member(self, name, script):
        return self.start("coxswain", "task", "--member", name, "--", "sh", "-c", script,
                          env=self.at | PATH)

    def serve_elastic(self, tasks=4, *options):
        return self.serve(tasks, "--elastic", "--min-tasks", 2, "--last-call", "300ms",
                   "--reconnect-grace", "100ms", *options)

    def test_three_join_a_fourth_comes_and_the_job_shrinks_again(self):
        self.serve_elastic()
        def member(number):
            return self.member(f"m{number}",
                               f"while coxswain pop next-{number} --wait 60s >/dev/null; "
                               "do coxswain epoch next; done")

        def next_epoch():
            for number in range(len(tasks)):
                self.succeed("push", f"next-{number}", "x")

        tasks = [member(number) for number in range(3)]
        self.wait_for_epoch(1, 3)
        members = self.coxswain("epoch", "members").out.splitlines()
        self.assertEqual([one.split()[1] for one in members], ["m0", "m1", "m2"])
        self.assertEqual(self.coxswain("epoch", "wanted").code, 1)

        fourth = member(3)
        self.wait_for_status("a joiner", lambda s: s["spares_waiting"] == 1)
        self.assertIn("waiting to join", self.coxswain("epoch", "wanted").out)
        next_epoch()
        for number, task in enumerate(tasks):
            self.assertEqual(task.line("2 "), f"2 4 {number}")
        self.wait_for_epoch(2, 4)
        tasks.append(fourth)

        self.assertEqual(self.coxswain("resize", "1").code, 64)
        self.assertEqual(self.coxswain("resize", "2").code, 0)
        self.assertIn("asks for 2 tasks", self.coxswain("status").out)
        next_epoch()
        self.assertEqual(tasks[1].line("3 "), "3 2 1")
        self.wait_for_epoch(3, 2)

    def test_training_goes_on_through_two_kills_with_the_right_sum(self):
        self.serve_elastic()
        env = self.at | PATH
        def train(name):
            return self.start(sys.executable, TRAIN, "--steps", "60", "--pause", "0.03",
                              env=env | {"COXSWAIN_MEMBER": name, "PYTHONPATH":
                                         os.environ.get("COXSWAIN_PYTHON", "")})
        tasks = [train(f"m{number}") for number in range(4)]
        self.wait_for_epoch(1, 4)
        for killed in (3, 0):
            tasks[killed].line("step 5" if killed == 3 else "epoch 2")
            tasks[killed].process.send_signal(signal.SIGKILL)
        for task in (tasks[1], tasks[2]):
            self.assertEqual(task.wait(), 0, task.err)
            self.assertIn("sum 1770", task.out)

    def test_a_shell_job_goes_on_after_a_loss_and_takes_in_a_member(self):
        self.serve_elastic()
        def shell(number):
            return self.start("coxswain", "task", "--member", f"m{number}", "--", "sh", SCRIPT, 40,
                              env=self.at | PATH)
        tasks = [shell(number) for number in range(3)]
        self.wait_for_epoch(1, 3)
        tasks[0].line("step 3 ")

        tasks[0].signal(signal.SIGKILL)

        tasks[2].line("of epoch 2")  # as another task
        tasks.append(shell(3))
        for task in tasks[1:]:
            self.assertEqual(task.wait(), 0, task.output())
            self.assertIn("sum 780", task.out)

    def test_a_task_whose_command_has_ended_leaves_alone_if_its_epoch_ends(self):
        self.serve_elastic(3)
        works = "coxswain pop go --wait 60s; coxswain epoch next"
        tasks = [self.member("m0", "true"), self.member("m1", works), self.member("m2", works)]
        self.wait_for_status("a leave", lambda _: "shutdown barrier" in self.coxswain("why").out)

        tasks[2].signal(signal.SIGKILL)

        self.assertEqual(tasks[0].wait(), 0, tasks[0].output())

    def test_a_task_that_is_not_in_the_next_epoch_ends_well(self):
        self.serve_elastic(3)
        tasks = [self.member(f"m{number}", f"""coxswain pop go-{number} --wait 60s
            epoch=$(coxswain epoch next) || exit
            [ ! "$epoch" ] || coxswain pop end --wait 60s""") for number in range(3)]
        self.wait_for_epoch(1, 3)
        self.succeed("resize", 2)
        for number in range(3):
            self.succeed("push", f"go-{number}", "x")

        self.assertEqual(tasks[2].wait(), 0, tasks[2].output())
        self.wait_for_epoch(2, 2)
        for _ in range(2):
            self.succeed("push", "end", "x")
        for task in tasks[:2]:
            self.assertEqual(task.wait(), 0, task.output())


class WithRun(WithEpochs):
    """coxswain run, whose processes are the members."""

    def run_elastic(self, *options, least=2, script=UNTIL_END):
        ports = self.directory / "ports"
        job = self.start("coxswain", "run", "-n", 3, "--min-tasks", least, "--port-file", ports,
                         *options, "--", "coxswain", "task", "--", "sh", "-c", script, env=PATH)
        self.at = {"COXSWAIN_ADDRESS": wait_for_file(ports).split()[0]}
        return job

    def kill_task(self, status, task):
        os.kill(int(status["tasks"][task]["process"].rpartition(":")[2]), signal.SIGKILL)

    def test_a_process_that_is_killed_is_started_again_and_joins_the_next_epoch(self):
        job = self.run_elastic("--max-restarts", 1)

        self.kill_task(self.wait_for_epoch(1, 3), 1)

        self.assertIn("killed by signal 9 (SIGKILL)", job.line(") failed: ", "err"))
        self.assertIn("will be started again in 1.00 s (restart 1 of 1)", job.line("process m", "err"))
        self.wait_for_epoch(2, 2)
        self.wait_for_epoch(3, 3)
        self.succeed("put", "end", "1")
        self.assertEqual(job.wait(), 0, job.output())
        finished = [line for line in job.lines["out"] if line.endswith(" finished")]
        self.assertEqual(sorted(finished), [f"[m{number}] finished" for number in range(3)])

    def test_training_goes_on_through_a_kill_with_the_right_sum(self):
        ports = self.directory / "ports"
        job = self.start("coxswain", "run", "-n", 3, "--min-tasks", 2, "--port-file", ports, "--",
                         sys.executable, TRAIN, "--steps", 60, "--pause", "0.03",
                         env={"PYTHONPATH": os.environ.get("COXSWAIN_PYTHON", "")})
        self.at = {"COXSWAIN_ADDRESS": wait_for_file(ports).split()[0]}
        status = self.wait_for_epoch(1, 3)
        job.line("step 5")

        self.kill_task(status, 0)

        self.assertEqual(job.wait(), 0, job.output())
        self.assertIn("; the job continues with 2 processes", job.err)
        self.assertEqual(job.out.count("sum 1770"), 2)

    def test_it_ends_with_the_cause_when_too_few_processes_are_left(self):
        fails = 'if [ "$COXSWAIN_TASK_ID" = 1 ]; then exit 3; fi' + UNTIL_END  # always of one member
        job = self.run_elastic("--max-restarts", 1, least=3, script=fails)

        self.assertEqual(job.wait(), 3, job.output())
        self.assertRegex(job.lines["err"][-1], r"^coxswain run: process m\d exited with status 3 after 1 "
                         r"restart; 2 processes are left, and the job needs 3 \(--min-tasks\)$")

    def test_it_has_failed_when_no_process_is_left(self):
        job = self.run_elastic(least=1, script="kill -9 $$")

        self.assertEqual(job.wait(), 128 + signal.SIGKILL, job.output())
        self.assertRegex(job.lines["err"][-1], r"process m\d exited with status 137 \(128 \+ SIGKILL\); no process "
                         r"is left, and the job needs 1 \(--min-tasks\) \(out of memory\? dmesg")

    def test_resize_lets_processes_go_and_starts_others(self):
        job = self.run_elastic()
        self.wait_for_epoch(1, 3)

        self.succeed("resize", 2)
        self.wait_for_epoch(2, 2)
        self.succeed("resize", 3)
        status = self.wait_for_epoch(3, 3)
        self.kill_task(status, 2)
        self.wait_for_epoch(4, 2)
        self.succeed("resize", 3)
        self.wait_for_epoch(5, 3)

        self.succeed("put", "end", "1")
        self.assertEqual(job.wait(), 0, job.output())


if __name__ == "__main__":
    unittest.main()
