"""Epochs: jobs whose number of tasks changes."""

import os
import signal
import sys
import unittest

from programs import EndToEnd, PATH

EXAMPLES = os.path.join(os.path.dirname(__file__), "..", "..", "tools", "examples")
TRAIN = os.path.join(EXAMPLES, "train_elastic.py")
SCRIPT = os.path.join(EXAMPLES, "elastic.sh")


class Epochs(EndToEnd):

    def member(self, name, script):
        return self.start("coxswain", "task", "--member", name, "--", "sh", "-c", script,
                          env=self.at | PATH)

    def wait_for_epoch(self, number, size):
        return self.wait_for_status(f"epoch {number} of {size}", lambda s: (
            s["elastic"]["epoch"] == number and s["num_tasks"] == size))

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


if __name__ == "__main__":
    unittest.main()
