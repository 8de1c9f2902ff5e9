"""One program, every launcher: each of our clients, started in each way, with a kill in between; and
guests of `coxswain task`, in sequence and concurrently.
"""

import json
import os
import pathlib
import signal
import socket
import sys
import threading
import time
import unittest

from programs import BIN, LIMIT, PATH, EndToEnd, free_port

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


class HoldingProxy:
    """Forwards connections to a coordinator; its replies can be paused."""

    def __init__(self, address):
        self.target = address
        self.flows = threading.Event()
        self.flows.set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        host, port = self.target.rsplit(":", 1)
        while True:
            try:
                near = self.listener.accept()[0]
            except OSError:
                return
            far = socket.create_connection((host, int(port)))
            for ends in ((near, far, False), (far, near, True)):
                threading.Thread(target=self.carry, args=ends, daemon=True).start()

    def carry(self, source, to, is_held):
        try:
            while data := source.recv(1 << 16):
                if is_held:
                    self.flows.wait()
                to.sendall(data)
        except OSError:
            pass
        for end in (source, to):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class BetweenEffectAndReply(GuestsTest):
    """A guest, or its `coxswain task`, is killed after its call was executed and before its reply
    arrived."""

    # The call, the check that it was executed, and the state required after it was repeated.
    def executed(self, call):
        status = self.status()
        if call == "increment:n":
            return self.coxswain("get", "n").out == "1"
        if call == "pop:q":
            return status["queued_items"] == 0
        return any(r["name"] == "b" for r in status["rounds"])

    def check_effect(self, call, out):
        if call == "increment:n":
            self.assertEqual(self.coxswain("get", "n").out, "2")
        elif call == "pop:q":
            self.assertIn("popped item", out)
            self.assertEqual(self.status()["queued_items"], 0)
        else:
            rounds = [r["round"] for r in self.status()["rounds"] if r["name"] == "b"]
            self.assertEqual(rounds, [1, 2])

    def cut(self, call, kill_task):
        self.serve(1, "--recoverable")
        self.assertEqual(self.coxswain("push", "q", "item").code, 0)
        proxy = HoldingProxy(self.at["COXSWAIN_ADDRESS"])
        self.addCleanup(proxy.listener.close)
        self.addCleanup(proxy.flows.set)
        go_on = self.directory / f"go-on-{call}"
        os.mkfifo(go_on)
        program = f"{BIN}/coxswain-e2e-task"

        def task(script):
            return self.start("coxswain", "task", "--task-id", 0, "--address", proxy.address, "--",
                              "sh", "-c", script, env=self.environment())

        again = "" if kill_task else f"; {program} {call}"
        wrapper = task(f"{program} await:{go_on} {call} & echo pid $!; wait $!{again}")
        child = int(wrapper.line("pid").split()[1])
        wrapper.line("joined")
        proxy.flows.clear()
        go_on.write_text("x")
        deadline = time.monotonic() + LIMIT
        while not self.executed(call):
            self.assertLess(time.monotonic(), deadline)

        if kill_task:
            wrapper.signal(signal.SIGKILL)
            wrapper.wait()
            proxy.flows.set()
            wrapper = task(f"{program} {call}")
        else:
            os.kill(child, signal.SIGKILL)
            proxy.flows.set()

        self.assertEqual(wrapper.wait(), 0, wrapper.output())
        self.check_effect(call, wrapper.out)

    def check(self, kill_task):
        for call in ("increment:n", "pop:q", "barrier:b"):
            with self.subTest(call=call):
                self.cut(call, kill_task)

    def test_the_program_is_killed(self):
        self.check(kill_task=False)

    def test_the_task_is_killed(self):
        self.check(kill_task=True)


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

    def test_killing_the_task_command_ends_its_guests(self):
        """Also those that have left the process group of its command, and are not killed with it."""
        self.serve(2, "--no-join-barrier")
        task = self.task(0, f"setsid {BIN}/coxswain-e2e-task barrier:never; echo $?")
        self.wait_for_status("the barrier", lambda s: s["barriers"])

        task.signal(signal.SIGKILL)

        task.line("for which this program acts has ended", "err")
        self.wait_for_status("the failure", lambda s: s["error"])

    def test_a_guest_with_a_wrong_secret_is_refused(self):
        self.serve(1)
        task = self.task(0, f"COXSWAIN_TASK_SECRET=0123456789abcdef {BIN}/coxswain-e2e-task; echo $?")

        task.line("1")
        task.line("the client's secret does not let it act for task 0", "err")
        self.assertEqual(task.wait(), 0, task.output())

    def test_a_deadlock_over_keys_and_queues_is_named(self):
        self.serve(2)
        tasks = [self.task(task, f"coxswain {waits}")
                 for task, waits in ((0, "get b --wait 1h"), (1, "pop q --wait 1h"))]

        self.wait_for_status("the deadlock", lambda s: s["stuck_tasks"] == 2)
        why = self.coxswain("why").out

        self.assertIn("task 0 waits for key 'b'", why)
        self.assertIn("task 1 waits for queue 'q'", why)
        self.assertEqual(self.coxswain("put", "b", "1").code, 0)
        self.assertEqual(self.coxswain("push", "q", "1").code, 0)
        self.assertEqual([one.wait() for one in tasks], [0, 0])

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
