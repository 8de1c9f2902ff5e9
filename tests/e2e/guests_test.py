"""One program, every launcher: each of our clients, started in each way, with a kill in between; and
guests of `coxswain task`, in sequence and concurrently.
"""

import json
import os
import pathlib
import sys
import unittest

from programs import BIN, PATH, EndToEnd, free_port

PROGRAM = pathlib.Path(__file__).with_name("guest_program.py")

# The command of each kind of client, without the file that marks its death.
KINDS = {
    "coroutines": [BIN / "coxswain-e2e-task", "--coroutines", "die:{}", "barrier:met", "leave"],
    "blocking": [BIN / "coxswain-e2e-task", "die:{}", "barrier:met", "leave"],
    "c": [BIN / "coxswain-e2e-task-c", "{}", "met"],
}
IN_PYTHON = ("python", "asyncio", "store", "multihost", "jax_compat", "explicit")

PYTHON = os.environ.get("COXSWAIN_PYTHON", "")
if PYTHON:
    KINDS |= {kind: [sys.executable, "-B", PROGRAM, kind, "{}"] for kind in IN_PYTHON}


class GuestsTest(EndToEnd):

    def program(self, kind, file):
        return " ".join(str(word).format(file) for word in KINDS[kind])

    def script(self, kind, file):
        """Task 1 is killed once and started again; task 0 is not killed."""
        lives, dies = self.program(kind, "-" if kind != "coroutines" and kind != "blocking"
                                   else "/dev/null"), self.program(kind, file)
        return f"[ $COXSWAIN_TASK_ID = 0 ] && exec {lives}; {dies} || exec {dies}"

    def environment(self):
        return PATH | {"PYTHONPATH": PYTHON, "TMPDIR": str(self.directory)}

    def shell(self, script, env):
        return self.start("/bin/sh", "-c", script, env=self.environment() | env)


class EveryLauncher(GuestsTest):
    """Each way of starting two tasks returns the programs that must end."""

    def under_run(self, script):
        return [self.start("coxswain", "run", "-n", 2, "--recoverable", "--", "sh", "-c", script,
                           env=self.environment())]

    def under_run_and_task(self, script):
        return [self.start("coxswain", "run", "-n", 2, "--", "coxswain", "task", "--", "sh", "-c",
                           script, env=self.environment())]

    def under_task_that_hosts(self, script):
        port = free_port()
        return [self.start("coxswain", "task", "--host-if-task-0", "--task-id", task, "--num-tasks", 2,
                           "--address", f"127.0.0.1:{port}", "--", "sh", "-c", script,
                           env=self.environment()) for task in range(2)]

    def under_serve(self, script):
        self.serve(2, "--recoverable")
        return [self.shell(script, self.at | {"COXSWAIN_TASK_ID": str(task),
                                              "COXSWAIN_NUM_TASKS": "2"}) for task in range(2)]

    def check(self, way):
        for kind in KINDS:
            with self.subTest(kind=kind):
                file = self.directory / f"died-{kind}"
                programs = way(self.script(kind, file))
                codes = [one.wait() for one in programs]
                self.assertEqual(set(codes), {0}, "\n".join(one.output() for one in programs))
                self.assertTrue(file.exists())

    def test_run(self):
        self.check(self.under_run)

    def test_run_and_task(self):
        self.check(self.under_run_and_task)

    def test_task_that_hosts(self):
        self.check(self.under_task_that_hosts)

    def test_serve(self):
        self.check(self.under_serve)


class Programs(GuestsTest):

    def task(self, task, script, *options):
        return self.start("coxswain", "task", "--task-id", task, *options, "--", "sh", "-c", script,
                          env=self.environment() | self.at)

    def run_script(self, script, tasks=2):
        return self.run_to_end("coxswain", "run", "-n", tasks, "--", "coxswain", "task", "--", "sh", "-c",
                               script, env=self.environment())

    def test_two_programs_in_sequence_are_one_task(self):
        script = "set -e; " + "; ".join(self.program(kind, os.devnull) for kind in ("blocking", "c"))
        job = self.run_script(script)

        self.assertEqual(job.code, 0, job.output())

    def test_two_programs_at_once_are_one_task(self):
        program = f"{BIN}/coxswain-e2e-task"
        job = self.run_script(f"{program} barrier:a leave & {program} barrier:b leave && wait $!")

        self.assertEqual(job.code, 0, job.output())

    def test_a_guests_leave_takes_effect_when_the_command_ends(self):
        self.serve(2)
        program = f"{BIN}/coxswain-e2e-task"
        go_on = self.directory / "go-on"
        os.mkfifo(go_on)
        first = self.task(0, f"{program} leave; echo has left; read x < {go_on}")
        second = self.task(1, f"{program} leave")
        first.line("has left")
        self.assertEqual(second.wait(), 0, second.output())
        self.wait_for_status("task 1 left", lambda s: s["tasks"][1]["state"] == "left")
        self.assertEqual(self.status()["tasks"][0]["state"], "connected")

        go_on.write_text("\n")

        self.assertEqual(first.wait(), 0, first.output())
        self.wait_for_status("task 0 left", lambda s: s["tasks"][0]["state"] == "left")

    def test_a_guest_with_a_wrong_secret_is_refused(self):
        self.serve(1)
        task = self.task(0, f"COXSWAIN_TASK_SECRET=0123456789abcdef {BIN}/coxswain-e2e-task; echo $?")

        task.line("1")
        task.line("the client's secret does not let it act for task 0", "err")
        self.assertEqual(task.wait(), 0, task.output())

    def test_a_get_from_another_coordinator_is_no_wait_of_the_task(self):
        self.serve(1, "--job", "other")
        other = self.at
        self.serve(1, "--job", "mine")
        address = other["COXSWAIN_ADDRESS"]
        task = self.task(0, f"coxswain get b --wait 1h --job other --address {address}",
                         "--job", "mine")

        self.at = other
        self.wait_for_status("the get", lambda s: s["waiting_gets"] == 1)

        waits = json.loads(self.coxswain("why", "--json").out)["waits"]
        self.assertEqual([(w["name"], w["others"]) for w in waits], [("b", 1)])
        self.assertEqual(self.coxswain("put", "b", "1").code, 0)
        self.assertEqual(task.wait(), 0, task.output())

    def test_a_task_below_a_task_is_the_same_task(self):
        job = self.run_script("coxswain task -- sh -c 'coxswain barrier b'")

        self.assertEqual(job.code, 0, job.output())
        self.assertEqual(sorted(job.lines["out"]), [f"[{k}] round 1 of 'b' is complete" for k in range(2)])


if __name__ == "__main__":
    unittest.main()
