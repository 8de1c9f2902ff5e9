"""What missing tasks do: `coxswain why`, `coxswain why --stacks` and the page, without py-spy."""

import json
import os
import pathlib
import shutil
import sys
import time
import unittest

from programs import BIN, EndToEnd, LIMIT, PATH, REFUSED, fetch

PROGRAM = pathlib.Path(__file__).resolve().parents[1] / "real/programs/stuck.py"
PYTHON = {"PYTHONPATH": os.environ["COXSWAIN_PYTHON"]}

# Neither py-spy nor a debugger.
NOTHING = {"PATH": str(BIN)}


@unittest.skipUnless(os.environ["COXSWAIN_PYTHON"], "the Python module is not built")
class Stacks(EndToEnd):

    at = {}

    def run_job(self, *ways, wrapper=(), options=(), env=None):
        """As many tasks as ways, and one that arrives."""
        return self.start("coxswain", "run", "-n", len(ways) + 1, *options, "--", *wrapper, sys.executable, PROGRAM,
                          *ways, env=PYTHON | NOTHING | (env or {}))

    def why(self, found, *arguments, env=None):
        """Its answer, once it has what is looked for."""
        end = time.monotonic() + LIMIT
        while True:
            said = self.coxswain("why", "--json", *arguments, env=env)
            answer = json.loads(said.out) if said.code == 0 else {}
            if answer and found(answer):
                return answer
            self.assertLess(time.monotonic(), end, f"not found in {said.out or said.err}")
            time.sleep(0.2)

    def stacks(self, count, **how):
        """When all of them were asked for, by task."""
        answer = self.why(lambda answer: answer["stacks"]["wanted"] == count, "--stacks", **how)
        self.assertTrue(answer["stacks"]["complete"])
        return {group["tasks"]: group for group in answer["stacks"]["groups"]}

    def known(self, answer):
        return {one["task"]: one for wait in answer["waits"] for one in wait.get("known", [])}

    def test_why_says_whether_missing_tasks_answer_and_what_they_did_last(self):
        self.run_job("sleeps", "stops")

        known = self.known(self.why(
            lambda answer: [one["answers"] for one in self.known(answer).values()] == [True, False]))

        self.assertEqual([one["last_call"] for one in known.values()],
                         ["put of key 'address/0'", "put of key 'address/1'"])
        self.assertGreaterEqual(known[1]["unanswered_ms"], 1000)
        text = self.succeed("why").out
        self.assertRegex(text, r"task 0: connected, .*, answers, last call: put of key 'address/0' at \d\d:\d\d:\d\d\n")
        self.assertRegex(text, r"task 1: .*, has not answered for .* \(frozen, or its machine is gone\), last call: put")
        self.assertRegex(self.succeed("status").out, r"\nmissing\ntask 0: .* answers,.*\ntask 1: .* has not answered for")

    def test_why_says_it_within_two_seconds_of_looking(self):
        self.run_job("sleeps", "stops")
        self.why(lambda answer: len(self.known(answer)) == 2 and
                 any(wait["age_ms"] > 3000 for wait in answer["waits"]))
        time.sleep(3)  # what was found out then is no longer valid for the task that answers

        begin = time.monotonic()
        known = self.known(json.loads(self.succeed("why", "--json").out))

        self.assertEqual([one["answers"] for one in known.values()], [True, False])
        self.assertLess(time.monotonic() - begin, 2 + LIMIT / 10)

    def test_without_other_programs_the_stacks_are_what_the_kernel_says(self):
        self.run_job("sleeps", "stops")

        groups = self.stacks(2)

        self.assertRegex(groups["0"]["stack"], r"^sleeping")
        self.assertEqual(groups["1"]["stack"], "stopped (SIGSTOP or Ctrl-Z)")
        self.assertIn("py-spy is not installed", groups["0"]["rest"])
        self.assertGreaterEqual(groups["0"]["missing_for_ms"], 10_000)

    @unittest.skipUnless(shutil.which("eu-stack") or shutil.which("gdb"), "there is neither eu-stack nor gdb")
    def test_with_a_debugger_they_are_c_frames(self):
        self.run_job("sleeps", env=PATH)

        groups = self.stacks(1)

        self.assertIn("nanosleep", groups["0"]["stack"] + groups["0"]["rest"])

    def test_equal_stacks_are_one_group(self):
        self.run_job("stops", "stops", "stops", "sleeps")

        groups = self.stacks(4)

        self.assertEqual(list(groups), ["3", "0-2"])
        text = self.succeed("why", "--stacks").out
        self.assertRegex(text, r"\n3 tasks, 0-2, missing for .* s, in stopped \(SIGSTOP or Ctrl-Z\)\n")

    def test_coxswain_task_looks_at_its_command(self):
        self.run_job("stops", wrapper=(BIN / "coxswain", "task", "--"))

        groups = self.stacks(1)

        self.assertEqual(groups["0"]["stack"], "stopped (SIGSTOP or Ctrl-Z)")
        self.assertIn("(python", groups["0"]["rest"])

    def test_a_relay_looks_at_its_clients(self):
        served = self.serve(2)
        relay = self.relay(served, env=NOTHING)
        tasks = [self.start_task(task, relay.address) for task in range(2)]

        groups = self.stacks(1)

        self.assertEqual(groups["0"]["stack"], "stopped (SIGSTOP or Ctrl-Z)")
        self.assertIn(f"process {tasks[0].pid} (", groups["0"]["rest"])

    def start_task(self, task, address):
        return self.start(sys.executable, PROGRAM, "stops", env=PYTHON | {
            "COXSWAIN_ADDRESS": address, "COXSWAIN_TASK_ID": str(task), "COXSWAIN_NUM_TASKS": "2"})

    def test_a_process_that_was_started_otherwise_is_named(self):
        served = self.serve(2)
        tasks = [self.start_task(task, served.addresses[0]) for task in range(2)]

        groups = self.stacks(1)

        self.assertFalse(groups["0"]["is_taken"])
        self.assertRegex(groups["0"]["stack"], f"^not started by .*: look at .*:{tasks[0].pid} there$")

    def test_only_operators_may_take_stacks_over_http_too(self):
        tokens = self.directory / "tokens"
        tokens.write_text("reader r\noperator o\nworker w\n")
        tokens.chmod(0o600)
        ports = self.directory / "ports"
        self.run_job("stops", options=("--token-file", tokens, "--http", "127.0.0.1:0", "--port-file", ports))

        self.stacks(1, env={"COXSWAIN_TOKEN": "o"})
        refused = self.coxswain("why", "--stacks", env={"COXSWAIN_TOKEN": "r"})
        self.assert_ended(refused, REFUSED, "PERMISSION_DENIED")

        page = json.loads(self.coxswain("jobs", "--json").out)[0]["page"].rstrip("/")
        fields = {"Content-Type": "application/json"}
        code, _ = fetch(f"{page}/api/v1/stacks", b"{}", **fields, Authorization="Bearer r")
        self.assertEqual(code, 403)
        code, text = fetch(f"{page}/api/v1/stacks", b"{}", **fields, Authorization="Bearer o")
        self.assertEqual(code, 200)
        number = json.loads(text)["number"]
        end = time.monotonic() + LIMIT
        while not (answer := json.loads(text))["complete"]:
            self.assertLess(time.monotonic(), end)
            _, text = fetch(f"{page}/api/v1/stacks", json.dumps({"number": number}).encode(), **fields,
                            Authorization="Bearer o")
        self.assertEqual([group["stack"] for group in answer["groups"]], ["stopped (SIGSTOP or Ctrl-Z)"])

    def test_coxswain_stack_shows_one_process(self):
        shown = self.succeed("stack", os.getpid(), env=NOTHING)

        self.assertIn(f"process {os.getpid()} (", shown.out)
        self.assert_ended(self.coxswain("stack", 2**22 + 1), 1)


if __name__ == "__main__":
    unittest.main()
