"""coxswain run: a job of real processes on this machine."""

import itertools
import os
import pathlib
import re
import select
import signal
import time
import unittest

from programs import BIN, EndToEnd, LIMIT, PATH, SLOWNESS, TIMED_OUT, UNAVAILABLE, USAGE, fetch, wait_for_file

WORKER = BIN / "coxswain-example-worker"


class WithJobs(EndToEnd):

    def job(self, tasks, *command, options=(), env=None):
        """A job whose coordinator can be queried."""
        ports = self.directory / "ports"
        job = self.start("coxswain", "run", "-n", tasks, "--port-file", ports, *options, "--",
                         *command, env=env)
        self.at = {"COXSWAIN_ADDRESS": wait_for_file(ports).split()[0]}
        return job

    def wait_for_round(self, at_least=3):
        return self.wait_for_status("a round", lambda s: any(
            b["name"] == "step" and b["round"] >= at_least for b in s["barriers"]))

    @staticmethod
    def process_of(status, task):
        return int(status["tasks"][task]["process"].rpartition(":")[2])


class Jobs(WithJobs):

    def test_64_workers_work(self):
        job = self.run_to_end("coxswain", "run", "-n", 64, "--log-level", "error", "--", WORKER,
                              "--rounds", 20)

        self.assertEqual(job.code, 0, job.output())
        tasks = sorted(int(re.match(r"\[(\d+)\] 64 devices, from gpu-0 to gpu-63", line)[1])
                       for line in job.lines["out"])
        self.assertEqual(tasks, list(range(64)))
        self.assertEqual(job.err, "")

    def test_a_killed_worker_is_reported_to_all_others_at_once(self):
        logs = self.directory / "logs"
        job = self.job(64, WORKER, "--rounds", 10**9, options=("--log-dir", logs))
        victim = self.process_of(self.wait_for_round(), 17)

        killed_at = time.monotonic()
        os.kill(victim, signal.SIGKILL)
        code = job.wait()
        took = time.monotonic() - killed_at

        self.assertEqual(code, 128 + signal.SIGKILL, job.output())
        self.assertLess(took, 3 * SLOWNESS)
        self.assertIn("task 17 was killed by signal 9 (SIGKILL)", job.err)
        for task in set(range(64)) - {17}:
            with self.subTest(task=task):
                self.assertRegex((logs / f"{task}.log").read_text(), r"task 17\b.*killed by signal 9 \(SIGKILL\)")
        result = self.run_to_end("coxswain", "replay", *self.recordings())
        self.assertRegex(result.out, r"s E .*task 17\b.*killed by signal 9 \(SIGKILL\)")

    def test_a_task_that_ends_before_joining_is_reported_to_the_waiting_ones(self):
        all_wait = self.directory / "all-wait"
        os.mkfifo(all_wait)
        script = f'[ "$COXSWAIN_TASK_ID" = 1 ] && read x < {all_wait} && exit 7; exec "$0"'
        job = self.job(3, "sh", "-c", script, WORKER)
        self.wait_for_status("the others", lambda s: any(
            b["kind"] == "join" and b["missing"] == "1" for b in s["barriers"]))

        all_wait.write_text("go\n")

        self.assertEqual(job.wait(), 7, job.output())
        self.assertIn("coxswain run: task 1 exited with status 7", job.err)
        for task in (0, 2):
            self.assertRegex(job.err, rf"\[{task}\] .*task 1\b.*exited with status 7")

    def test_the_others_continue_when_a_recoverable_task_fails(self):
        until = self.directory / "until"
        os.mkfifo(until)
        script = f'[ "$COXSWAIN_TASK_ID" = 0 ] && exec "$0"; read x < {until}; echo still $x'
        job = self.job(2, "sh", "-c", script, WORKER,
                       options=("--recoverable", "--no-join-barrier", "--failure-grace", "0"))
        status = self.wait_for_status("a barrier", lambda s: s["barriers"])

        os.kill(self.process_of(status, 0), signal.SIGKILL)
        self.wait_for_status("its failure", lambda s: s["tasks"][0]["state"] == "failed")
        until.write_text("here\n")

        self.assertEqual(job.wait(), 128 + signal.SIGKILL, job.output())
        self.assertIn("[1] still here", job.out)
        self.assertIn("task 0 was killed by signal 9 (SIGKILL)", job.err)

    def test_each_task_has_its_variables(self):
        job = self.run_to_end(
            "coxswain", "run", "-n", 2, "--job", "train", "--attempt", 4, "--", "env",
            env={"COXSWAIN_TOKEN": "secret"})

        self.assertEqual(job.code, 0, job.output())
        for task in range(2):
            prefix = f"[{task}] "
            found = dict(line.removeprefix(prefix).split("=", 1) for line in job.lines["out"]
                         if line.startswith(prefix))
            address = found["COXSWAIN_ADDRESS"]
            self.assertRegex(address, r"^127\.0\.0\.1:\d+$")
            self.assertRegex(found["JAX_COORDINATOR_ADDRESS"], rf"^unix:{self.directory}/.*/jax$")
            expected = {
                "COXSWAIN_TASK_ID": str(task), "COXSWAIN_NUM_TASKS": "2", "COXSWAIN_JOB": "train",
                "COXSWAIN_ATTEMPT": "4", "COXSWAIN_TOKEN": "secret",
                "JAX_COORDINATOR_BIND_ADDRESS": "127.0.0.1:0", "SLURM_NTASKS": "2",
                "SLURM_PROCID": str(task), "SLURM_LOCALID": str(task), "SLURM_JOB_ID": "0",
                "SLURM_STEP_NODELIST": "localhost", "JAXOPERATOR_COORDINATOR_ADDRESS": address,
                "JAXOPERATOR_COORDINATOR_HOST": "127.0.0.1", "JAXOPERATOR_NUM_PROCESSES": "2",
                "JAXOPERATOR_PROCESS_ID": str(task), "MASTER_ADDR": "127.0.0.1",
                "RANK": str(task), "WORLD_SIZE": "2", "LOCAL_RANK": str(task),
                "TORCHELASTIC_USE_AGENT_STORE": "True", "TORCHELASTIC_RESTART_COUNT": "0"}
            self.assertEqual({name: found.get(name) for name in expected}, expected)
            self.assertNotEqual(found["MASTER_PORT"], address.rsplit(":", 1)[1])

    def test_an_address_of_torch_that_is_set_stays(self):
        job = self.run_to_end("coxswain", "run", "-n", 1, "--", "sh", "-c",
                              "echo $MASTER_ADDR $MASTER_PORT $RANK $TORCHELASTIC_USE_AGENT_STORE",
                              env={"MASTER_ADDR": "b12", "MASTER_PORT": "29500"})

        self.assertEqual(job.lines["out"], ["[0] b12 29500 0"])

    def test_each_run_draws_a_token_for_its_tasks(self):
        tokens = [self.run_to_end("coxswain", "run", "-n", 1, "--", "sh", "-c",
                                  "echo $COXSWAIN_TOKEN").lines["out"] for _ in range(2)]

        for lines in tokens:
            self.assertRegex(lines[0], r"^\[0\] [0-9a-f]{32}$")
        self.assertNotEqual(tokens[0], tokens[1])

    def test_a_reported_failure_with_exit_code_0_fails_the_job(self):
        end = self.directory / "end"
        os.mkfifo(end)
        script = f'"$0" --rounds 1000000000; [ $COXSWAIN_TASK_ID = 1 ] && read x < {end}; exit 0'
        job = self.job(2, "sh", "-c", script, WORKER, options=("--reconnect-grace", "0"))
        victim = self.process_of(self.wait_for_round(), 1)

        os.kill(victim, signal.SIGKILL)  # the coordinator notices, but the shell exits with 0
        self.wait_for_status("the failure", lambda s: s["error"])
        end.write_text("\n")

        self.assertEqual(job.wait(), 1, job.output())
        self.assertRegex(job.err, "coxswain run: Failed at [0-9:]+: task 1 failed: ")

    def test_exit_code_0_without_leaving_means_that_the_task_has_finished(self):
        """Tries both destroying the client and just ending the process."""
        for options, wrapper, end in itertools.product(
                ((), ("--recoverable",)), ("", "coxswain task -- "), ("", "exit")):
            with self.subTest(options=options, wrapper=wrapper, end=end):
                script = (f'[ "$COXSWAIN_TASK_ID" = 0 ] && exec {wrapper}"$0" get:go leave; '
                          f'exec {wrapper}"$0" {end}')
                job = self.job(2, "sh", "-c", script, BIN / "coxswain-e2e-task", options=options,
                               env=PATH)
                # `coxswain task` waits for the others where tasks leave together.
                self.wait_for_status("the end", lambda s: s["tasks"][1]["state"] == "left" or any(
                    b["kind"] == "leave" and b["missing"] == "0" for b in s["barriers"]))
                self.assertEqual(self.coxswain("put", "go", "1").code, 0)
                (self.directory / "ports").unlink()

                self.assertEqual(job.wait(), 0, job.output())
                self.assertNotIn("failed", job.err)

    def test_a_client_that_is_destroyed_before_its_process_fails_does_not_hide_the_cause(self):
        logs = self.directory / "logs"
        job = self.run_to_end("coxswain", "run", "-n", 2, "--log-dir", logs, "--", "sh", "-c",
                              '[ "$COXSWAIN_TASK_ID" = 0 ] && exec "$0" barrier:b; "$0"; exit 3',
                              BIN / "coxswain-e2e-task")

        self.assertEqual(job.code, 3, job.output())
        self.assertRegex((logs / "0.log").read_text(), "task 1 .*failed: ABORTED: exited with status 3")


class Causes(WithJobs):
    """The last lines are the coordinator's first cause, not the exit status of whoever ended first."""

    def last_lines(self, job):
        lines = [line for line in job.lines["err"] if line.startswith("coxswain run: ")]
        return [line.removeprefix("coxswain run: ") for line in lines if "warn" not in line and "error" not in line]

    def run_script(self, tasks, script, *options):
        job = self.run_to_end("coxswain", "run", "-n", tasks, "--failure-grace", "50ms", "--log-level", "off",
                              *options, "--", "coxswain", "task", "--", "sh", "-c", script, env=PATH)
        return job, self.last_lines(job)

    def test_a_stop(self):
        job = self.job(2, WORKER, "--rounds", 10**9, options=("--http", "127.0.0.1:0", "--linger", "0"))
        page = job.line("status page at", "err").split()[-1]
        token = job.line("to cancel, preempt or stop it there, open", "err").split()[-1].removeprefix(f"{page}#token=")
        self.wait_for_round()

        code, _ = fetch(page + "api/v1/stop", b"{}", Authorization=f"Bearer {token}", **{"Content-Type": "application/json"})
        self.assertEqual(code, 202)

        self.assertNotEqual(job.wait(), 0, job.output())
        others, cause = self.last_lines(job)[-2:]
        self.assertRegex(others, r"^tasks? .* ended with the job: (exited with status|killed by signal)")
        self.assertEqual(cause, "the job was stopped: by 127.0.0.1, over HTTP")

    def test_a_stop_ends_processes_that_hang(self):
        job = self.job(2, "sh", "-c", "exec tail -f /dev/null", options=("--kill-grace", "1s"))
        self.succeed("stop", "wrong", "learning rate")

        self.assertNotEqual(job.wait(), 0, job.output())
        self.assertRegex(self.last_lines(job)[-1], r"^the job was stopped: by \S+@\S+ \(process \d+, coxswain stop\): "
                                                   "wrong learning rate$")

    def test_a_deadlock(self):
        job, given = self.run_script(2, "coxswain barrier only-$COXSWAIN_TASK_ID --timeout 2s")

        self.assertNotEqual(job.code, 0, job.output())
        self.assertIn("deadlock: tasks 0-1 are blocked on each other", "\n".join(given), job.output())
        self.assertNotIn("failed: exited", job.err)

    def test_an_error_that_a_task_reports(self):
        job, given = self.run_script(2, """[ $COXSWAIN_TASK_ID = 1 ] || exec tail -f /dev/null
            coxswain fail "out of luck" --code DATA_LOSS; exit 3""")

        self.assertEqual(job.code, 3, job.output())
        self.assertRegex(given[-1], "^Failed at [0-9:]+: task 1 failed: out of luck$", job.output())
        self.assertNotIn("task 1 ended", "\n".join(given))

    def test_a_task_without_progress(self):
        job, given = self.run_script(2, """coxswain progress 1; [ $COXSWAIN_TASK_ID = 1 ] && exec tail -f /dev/null
            coxswain barrier b""", "--progress-timeout", "300ms", "--fail-without-progress")

        self.assertNotEqual(job.code, 0, job.output())
        self.assertRegex(given[-1], "^Failed at [0-9:]+: task 1 .*has reported no progress for")

    def test_a_join_that_timed_out(self):
        script = '[ $COXSWAIN_TASK_ID = 1 ] && exec tail -f /dev/null; exec coxswain task -- true'
        job = self.run_to_end("coxswain", "run", "-n", 2, "--failure-grace", "50ms", "--join-timeout-max", "300ms",
                              "--", "sh", "-c", script, env=PATH)

        self.assertEqual(job.code, TIMED_OUT, job.output())
        self.assertRegex("\n".join(self.last_lines(job)), "the job could not start: Not all tasks joined within \\d+ ms: ")
        self.assertIn("task 0 ended with the job: exited with status 75", self.last_lines(job))

    def test_a_sigkill_of_ours_says_so(self):
        script = '[ $COXSWAIN_TASK_ID = 0 ] && exit 3; trap "" TERM; while :; do tail -f /dev/null; done'
        job = self.run_to_end("coxswain", "run", "-n", 2, "--failure-grace", "50ms", "--kill-grace", "50ms", "--",
                              "sh", "-c", script)

        self.assertEqual(job.code, 3, job.output())
        self.assertEqual(self.last_lines(job)[-2:], [
            "task 1 ended with the job: killed by signal 9 (SIGKILL) that coxswain sent after --kill-grace",
            "task 0 exited with status 3 before it had joined"])

    def test_consequences_of_a_failure_do_not_hide_it(self):
        """Neither in the events nor on the terminal, where the cause is the last line."""
        script = '[ $COXSWAIN_TASK_ID = 17 ] && exec "$0" barrier:a "die:$1"; exec "$0" barrier:a barrier:b'
        for options in ((), ("--log-dir", self.directory / "logs")):
            with self.subTest(options=options):
                job = self.run_to_end("coxswain", "run", "-n", 64, *options, "--", "sh", "-c", script,
                                      BIN / "coxswain-e2e-task", self.directory / f"died-{len(options)}")

                self.assertEqual(job.code, 128 + signal.SIGKILL, job.output())
                given = job.lines["err"]
                self.assertLessEqual(len(given), 12, job.output())
                self.assertRegex(given[-1], r"^coxswain run: Failed at [0-9:]+: task 17 was killed by signal 9 \(SIGKILL\)")
                aside = re.search(r"what they wrote to standard error is in (.*)", job.err)[1]
                if options:
                    self.assertEqual(aside, str(self.directory / "logs"))
                    self.assertIn("task 17", (self.directory / "logs/63.log").read_text())
                else:
                    lines = pathlib.Path(aside).read_text().splitlines()
                    self.assertEqual({line.split("]")[0][1:] for line in lines},
                                     {str(task) for task in range(64) if task != 17})
                recording = re.search(r"view it with: coxswain replay (\S+)", job.err)[1]
                shown = self.run_to_end("coxswain", "replay", recording)
                severe = [line for line in shown.lines["out"] if " s E " in line]
                self.assertEqual(len(severe), 2, shown.output())
                for line in severe:
                    self.assertIn("task 17 ", line)


class Output(EndToEnd):

    def test_output_lines_are_whole_and_prefixed_with_their_task(self):
        script = 'for i in $(seq 500); do printf "%s-" $COXSWAIN_TASK_ID; echo $i; done'
        job = self.run_to_end("coxswain", "run", "-n", 8, "--", "sh", "-c", script)

        self.assertEqual(job.code, 0)
        for task in range(8):
            mine = [line for line in job.lines["out"] if line.startswith(f"[{task}] ")]
            self.assertEqual(mine, [f"[{task}] {task}-{i}" for i in range(1, 501)])

    def test_stdout_and_stderr_stay_separate(self):
        job = self.run_to_end("coxswain", "run", "-n", 1, "--log-level", "error", "--", "sh", "-c",
                              "echo out; echo err >&2")

        self.assertEqual((job.out, job.err), ("[0] out", "[0] err"))

    def test_unread_output_blocks_the_tasks_but_not_the_coordinator(self):
        job = self.start("coxswain", "run", "-n", 1, "--port-file", self.directory / "ports", "--",
                         "yes", unread=True)
        self.at = {"COXSWAIN_ADDRESS": wait_for_file(self.directory / "ports").strip()}

        self.assertEqual(self.status()["num_tasks"], 1)
        self.assertIsNone(job.process.poll())

        job.process.stdout.close()  # as `| head` does
        job.line("output of processes is lost, because it cannot be written: Broken pipe", "err")
        self.assertEqual(self.status()["num_tasks"], 1)

    def test_input_is_empty(self):
        job = self.run_to_end("coxswain", "run", "-n", 2, "--", "cat")

        self.assertEqual((job.code, job.out), (0, ""))


class Commands(EndToEnd):

    def test_the_command_gets_its_own_arguments(self):
        for arguments in (("--", "echo", "-n", "--help", "--"), ("echo", "-n", "--help", "--")):
            with self.subTest(arguments=arguments):
                job = self.run_to_end("coxswain", "run", "-n", 1, *arguments)
                self.assertEqual((job.code, job.out), (0, "[0] --help --"))

    def test_a_missing_command_gives_127(self):
        self.assert_ended(self.run_to_end("coxswain", "run", "-n", 2, "--", "no-such-command"), 127,
                          "no-such-command")

    def test_a_non_executable_file_gives_126(self):
        script = self.directory / "file"
        script.write_text("hello")

        self.assertEqual(self.run_to_end("coxswain", "run", "-n", 1, "--", script).code, 126)

    def test_wrong_usage(self):
        self.assertEqual(self.run_to_end("coxswain", "run", "-n", 2).code, USAGE)
        self.assertEqual(self.run_to_end("coxswain", "run", "--", "true").code, USAGE)
        self.assertEqual(self.run_to_end("coxswain", "run", "-n", "x", "--", "true").code, USAGE)
        listen = f"unix:{self.directory}/missing/socket"
        self.assertEqual(self.run_to_end("coxswain", "run", "-n", 1, "--listen", listen, "--",
                                         "true").code, UNAVAILABLE)


class Signals(WithJobs):

    def test_sigterm_and_sigint_end_the_job(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(signal=number):
                job = self.start("coxswain", "run", "-n", 3, "--", "sh", "-c",
                                 "trap 'echo bye; exit 0' TERM; echo up; while :; do tail -f "
                                 "/dev/null & wait; done")
                for task in range(3):
                    job.line(f"[{task}] up")

                job.signal(number)

                self.assertEqual(job.wait(), 128 + number, job.output())
                self.assertEqual(sum("bye" in line for line in job.lines["out"]), 3)

    def test_an_interrupted_job_has_not_failed(self):
        job = self.job(3, WORKER, "--rounds", 10**9, options=("--reconnect-grace", "0"))
        self.wait_for_round()

        job.signal(signal.SIGINT)

        self.assertEqual(job.wait(), 128 + signal.SIGINT, job.output())
        ours = [line for line in job.lines["err"] if not line.startswith("[")]
        self.assertEqual(ours[1:], ["coxswain run: interrupted by SIGINT"], job.output())
        self.assertEqual(self.recordings(), [])

    def test_a_job_that_had_failed_before_it_was_interrupted_has_failed(self):
        script = '[ "$COXSWAIN_TASK_ID" = 0 ] && exit 3; exec tail -f /dev/null'
        job = self.job(2, "sh", "-c", script,
                       options=("--failure-grace", "forever", "--log-level", "info"))
        job.line("task 0 exited with status 3 before it had joined", "err")

        job.signal(signal.SIGINT)

        job.wait()
        self.assertIn("coxswain run: task 0 exited with status 3", job.err)
        self.assertNotIn("interrupted", job.err)

    def test_a_second_signal_kills_at_once(self):
        job = self.start("coxswain", "run", "-n", 2, "--kill-grace", "forever", "--", "sh", "-c",
                         "trap 'echo no' TERM; echo up; while :; do tail -f /dev/null & wait; done")
        for task in range(2):
            job.line(f"[{task}] up")

        job.signal(signal.SIGINT)
        for task in range(2):
            job.line(f"[{task}] no")
        job.signal(signal.SIGINT)

        self.assertEqual(job.wait(), 128 + signal.SIGINT)

    def test_remaining_tasks_are_ended_after_a_failure(self):
        script = '[ $COXSWAIN_TASK_ID = 0 ] && exit 3; exec tail -f /dev/null'
        job = self.run_to_end("coxswain", "run", "-n", 3, "--failure-grace", "50ms", "--", "sh",
                              "-c", script)

        self.assertEqual(job.code, 3)
        self.assertIn("task 0 exited with status 3", job.err)
        self.assertIn("tasks 1-2 ended with the job: killed by signal 15 (SIGTERM)", job.err)

    def test_nothing_is_left_behind(self):
        job = self.run_to_end("coxswain", "run", "-n", 1, "--", "sh", "-c",
                              "tail -f /dev/null & echo $!")

        self.assertEqual(job.code, 0)
        try:
            left = os.pidfd_open(int(job.out.removeprefix("[0] ")))
        except ProcessLookupError:
            return  # and it was reaped
        self.addCleanup(os.close, left)
        ended, _, _ = select.select([left], [], [], LIMIT)
        self.assertEqual(ended, [left])

    def test_processes_die_with_coxswain_run(self):
        job = self.start("coxswain", "run", "-n", 1, "--", "sh", "-c",
                         "echo $$; exec tail -f /dev/null")
        child = int(job.line("[0] ").removeprefix("[0] "))
        handle = os.pidfd_open(child)
        self.addCleanup(os.close, handle)

        job.signal(signal.SIGKILL)

        self.assertEqual(job.wait(), -signal.SIGKILL)
        ended, _, _ = select.select([handle], [], [], LIMIT)
        self.assertEqual(ended, [handle])


if __name__ == "__main__":
    unittest.main()
