"""coxswain task: shell scripts that are the tasks of a job, and the subcommands that act for them."""

import json
import os
import signal
import socket
import struct
import unittest

from programs import BIN, EndToEnd, TIMED_OUT, UNAVAILABLE, USAGE, clean_environment, wait_for_file

# So that scripts find the program.
PATH = {"PATH": f"{BIN}:{os.environ['PATH']}"}


class TaskTest(EndToEnd):

    def script(self, text):
        """The command of a task that is a shell script."""
        return ("sh", "-c", text)

    def run_script(self, tasks, text, *options, env=None):
        """A job on this machine whose tasks are shell scripts, run to its end."""
        return self.run_to_end("coxswain", "run", "-n", tasks, "--", "coxswain", "task", *options,
                               "--", *self.script(text), env=PATH | (env or {}))

    def start_task(self, task, *command, options=()):
        """One task of the job of `serve`."""
        return self.start("coxswain", "task", "--task-id", task, *options, "--", *command,
                          env=self.at | PATH)

    def lines_of(self, job, task):
        prefix = f"[{task}] "
        return [line.removeprefix(prefix) for line in job.lines["out"] if line.startswith(prefix)]

    def wait_for_barrier(self, name, arrived=1):
        return self.wait_for_status(f"barrier {name}", lambda s: any(
            b["name"] == name and b["arrived"] == arrived for b in s["barriers"]))


class Membership(TaskTest):

    def test_a_script_meets_the_others_at_a_barrier(self):
        job = self.run_script(3, "coxswain barrier a && coxswain barrier a && echo met")

        self.assertEqual(job.code, 0, job.said())
        for task in range(3):
            self.assertEqual(self.lines_of(job, task), [
                "round 1 of 'a' is complete", "round 2 of 'a' is complete", "met"])

    def test_the_others_hear_who_died_and_how(self):
        job = self.run_script(3, '[ "$COXSWAIN_TASK_ID" = 1 ] && exit 7; trap "exit 0" TERM; '
                              'coxswain barrier never; echo barrier $?; wait')

        self.assertEqual(job.code, 7, job.said())
        for task in (0, 2):
            self.assertIn(f"[{task}] coxswain task: task 1 failed: ABORTED: 'sh' exited with status 7",
                          job.err)

    def test_a_signal_that_kills_the_command_is_named(self):
        self.serve(2)
        other = self.start_task(0, "tail", "-f", "/dev/null")

        victim = self.start_task(1, *self.script("kill -KILL $$"))

        self.assertEqual(victim.wait(), 128 + signal.SIGKILL)
        self.assertEqual(other.wait(), 128 + signal.SIGTERM, other.said())
        self.assertIn("task 1 failed: ABORTED: 'sh' killed by signal 9 (SIGKILL)", other.err)


if __name__ == "__main__":
    unittest.main()
