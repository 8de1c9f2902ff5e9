"""coxswain task: shell scripts that are the tasks of a job, and the subcommands that act for them."""

import json
import os
import pathlib
import select
import signal
import socket
import stat
import struct
import unittest

from programs import BIN, PATH, EndToEnd, LIMIT, REFUSED, TIMED_OUT, UNAVAILABLE, USAGE, free_port

# Subcommands that only act for a task.
OF_TASKS = [("all-gather", "n", "d"), ("reduce", "n", "1", "--how", "sum"), ("all-equal", "n", "d"),
            ("alive",), ("topology", "gpu"), ("progress", "1"), ("sync-point", "1"), ("fail", "why"),
            ("reset",), ("leave",), ("preempt",), ("put", "k", "v", "--ephemeral"),
            ("cas", "k", "v", "--if-absent", "--ephemeral"), ("barrier", "b")]


class TaskTest(EndToEnd):

    def run_script(self, tasks, text, *options, run=()):
        """Runs a job on this machine whose tasks are a shell script to its end."""
        return self.run_to_end("coxswain", "run", "-n", tasks, *run, "--", "coxswain", "task", *options,
                               "--", "sh", "-c", text, env=PATH)

    def start_script(self, task, text, *options):
        """One task of the job of `serve`."""
        return self.start("coxswain", "task", "--task-id", task, *options, "--", "sh", "-c", text,
                          env=self.at | PATH)

    def lines_of(self, job, task):
        prefix = f"[{task}] "
        return [line.removeprefix(prefix) for line in job.lines["out"] if line.startswith(prefix)]

    def wait_for_barrier(self, name, arrived=1):
        return self.wait_for_status(f"barrier {name}", lambda s: any(
            b["name"] == name and b["arrived"] == arrived for b in s["barriers"]))

    def wait_for_state(self, task, state):
        return self.wait_for_status(f"task {task} {state}",
                                    lambda s: s["tasks"][task]["state"] == state)


class Together(TaskTest):

    def test_shell_scripts_can_gather_reduce_and_meet(self):
        job = self.run_script(3, """set -e
            coxswain all-gather hosts "host $COXSWAIN_TASK_ID"
            coxswain reduce loss 0.$((COXSWAIN_TASK_ID + 1)) --how max
            coxswain reduce loss $COXSWAIN_TASK_ID --how sum
            coxswain reduce loss $COXSWAIN_TASK_ID --how min --real
            coxswain reduce ready f$COXSWAIN_TASK_ID --how and
            coxswain reduce ready f$COXSWAIN_TASK_ID --how or
            coxswain all-equal config same
            coxswain alive
            coxswain barrier done""")

        self.assertEqual(job.code, 0, job.output())
        for task in range(3):
            self.assertEqual(self.lines_of(job, task), [
                "host 0", "host 1", "host 2", "0.3", "3", "0", "f0", "f3", "0", "1", "2",
                "round 1 of 'done' is complete"])

    def test_the_job_in_the_readme_runs(self):
        script = pathlib.Path(__file__).parents[2] / "tools/examples/job.sh"
        job = self.run_to_end("coxswain", "run", "-n", 3, "--", "coxswain", "task", "--", "sh", script, env=PATH)

        self.assertEqual(job.code, 0, job.output())
        hosts, *results = self.lines_of(job, 0)
        self.assertEqual(hosts.split(), ["3", socket.gethostname()])
        self.assertEqual(results, ["result/0", "result/1", "result/2"])
        self.assertEqual(len(job.lines["out"]), 4)

    def test_gathered_bytes_are_encoded_in_json(self):
        job = self.run_script(2, """printf 'a\\nb' | coxswain all-gather text - --json
            [ $COXSWAIN_TASK_ID = 0 ] || byte='\\377'
            printf "$byte" | coxswain all-gather bytes - --json --participants 0-1""")

        self.assertEqual(job.code, 0, job.output())
        text, data = map(json.loads, self.lines_of(job, 1))
        self.assertEqual(text, [{"task": 0, "data": "a\nb"}, {"task": 1, "data": "a\nb"}])
        self.assertEqual(data, [{"task": 0, "data": ""}, {"task": 1, "data": None, "data_hex": "ff"}])

    def test_jax_programs_find_the_coordinator(self):
        at = self.serve(2, "--no-join-barrier", "--no-leave-barrier", "--listen", "127.0.0.1:0",
                        "--listen", f"unix:{self.directory}/socket")
        tcp, unix = at.addresses
        for task, address, expected in ((0, tcp, tcp), (1, unix, unix)):
            done = self.coxswain("task", "--task-id", task, "--address", address, "--", "sh", "-c",
                                 "echo $JAX_COORDINATOR_ADDRESS",
                                 env={"JAX_COORDINATOR_ADDRESS": "elsewhere:1"})
            self.assertEqual((done.code, done.out), (0, expected + "\n"), done.err)

    def test_progress_and_timeout_name_the_missing_tasks(self):
        self.serve(2, "--no-join-barrier")
        task = self.start_script(0, "coxswain barrier b --progress --timeout 2500ms; echo $?", "--leave-timeout", "0")

        self.assertEqual(task.line("round 1:", "err"), "round 1: 1 of 2 have arrived; missing: 1")
        task.line(str(TIMED_OUT))
        task.line("DEADLINE_EXCEEDED: Barrier timed out. Barrier 'b' round 1", "err")

    def test_all_tasks_get_the_devices_of_all(self):
        devices = self.directory / "devices.json"
        devices.write_text(json.dumps([
            {"ordinal": 3, "name": "gpu-a", "kind": "k", "memory_bytes": 1 << 36, "numa_node": 1,
             "attributes": {"clock": 1980, "slots": [0, 1], "fast": True, "of": "us"}},
            {"ordinal": 4}]))
        job = self.run_script(2, f"""[ $COXSWAIN_TASK_ID = 0 ] && file="--devices {devices}"
            coxswain topology gpu $file --json && coxswain topology gpu $file""")

        self.assertEqual(job.code, 0, job.output())
        lines = self.lines_of(job, 1)
        first, second = json.loads(lines[0])
        self.assertEqual((first["task"], second["task"], second["devices"]), (0, 1, []))
        gpu = first["devices"][0]
        self.assertEqual((gpu["ordinal"], gpu["name"], gpu["memory_bytes"], gpu["numa_node"]),
                         (3, "gpu-a", 1 << 36, 1))
        self.assertEqual(gpu["attributes"], {"clock": 1980, "slots": [0, 1], "fast": True, "of": "us"})
        self.assertEqual(lines[1].split(), ["id", "partition", "task", "ordinal", "name", "kind"])
        self.assertEqual(lines[2].split(), ["0", "0", "0", "3", "gpu-a", "k"])
        self.assertEqual(lines[3].split(), ["1", "0", "0", "4", "-", "-"])

    def test_invalid_devices_are_named(self):
        file = self.directory / "devices.json"
        for content, violation in (("[", "is not JSON"), ("{}", "is not an array"), ("[1]", "device 0 is not"),
                                   ('[{}, {"size": 1}]', "device 1: its field 'size'"),
                                   ('[{"ordinal": "a"}]', "device 0: its field 'ordinal'")):
            with self.subTest(content=content):
                file.write_text(content)
                job = self.run_script(1, f"coxswain topology gpu --devices {file}; echo $?")
                self.assertEqual(self.lines_of(job, 0), [str(USAGE)], job.output())
                self.assertIn(violation, job.err)


class Failures(TaskTest):

    def test_the_others_learn_which_task_died_and_how(self):
        logs = self.directory / "logs"
        job = self.run_script(3, """[ $COXSWAIN_TASK_ID = 1 ] && exit 7
            coxswain barrier never""", run=("--log-dir", logs))

        self.assertEqual(job.code, 7, job.output())
        for task in (0, 2):
            self.assertIn("coxswain task: task 1 failed: ABORTED: exited with status 7",
                          (logs / f"{task}.log").read_text())

    def test_a_command_that_does_not_end_when_the_job_fails_is_killed(self):
        self.serve(2, "--no-join-barrier")
        stubborn = self.start_script(0, "trap '' TERM; echo up; while :; do tail -f /dev/null; done",
                                     "--kill-grace", "100ms")
        stubborn.line("up")

        other = self.start_script(1, "exit 1")

        self.assertEqual(other.wait(), 1)
        self.assertEqual(stubborn.wait(), 128 + signal.SIGKILL, stubborn.output())
        self.assertIn("still runs 100 ms after SIGTERM (--kill-grace): SIGKILL", stubborn.err)

    def test_a_command_that_cannot_be_run_fails_its_task(self):
        self.serve(2)
        other = self.start_script(0, "exec tail -f /dev/null")
        missing = self.start("coxswain", "task", "--task-id", 1, "no-such-command", env=self.at)

        self.assertEqual(missing.wait(), 127, missing.output())
        self.assertEqual(other.wait(), 128 + signal.SIGTERM)
        self.assertIn("cannot run 'no-such-command'", other.err)

    def test_a_job_that_has_failed_fails_a_command_that_ended_well(self):
        self.serve(2, "--no-join-barrier")
        task = self.start_script(0, "trap 'exit 0' TERM; echo up; while :; do tail -f /dev/null & wait; done")
        task.line("up")

        self.start_script(1, "coxswain fail why")

        self.assertEqual(task.wait(), 1, task.output())

    def test_a_recoverable_task_fails_alone_and_joins_again(self):
        self.serve(2, "--recoverable", "--no-join-barrier", "--no-leave-barrier")
        go_on = self.directory / "go-on"
        os.mkfifo(go_on)
        task = self.start_script(0, f"""coxswain reset; echo $?
            coxswain fail why && echo failed; read x < {go_on}
            coxswain reset && coxswain put alive yes --ephemeral; coxswain get go-on --wait 1min""")

        task.line("failed")
        self.assertEqual(task.lines["out"][0], "1")
        status = self.wait_for_state(0, "failed")
        self.assertIsNone(status["error"])
        go_on.write_text("\n")
        self.assertEqual(self.coxswain("get", "alive", "--wait", "1min").out, "yes")
        self.coxswain("put", "go-on", "")
        self.assertEqual(task.wait(), 0, task.output())

    def test_a_recoverable_command_that_exits_with_0_finishes_or_returns(self):
        self.serve(2, "--recoverable", "--no-join-barrier", "--return-timeout", "10min")
        other = self.start_script(1, "coxswain barrier b && echo passed; coxswain barrier b")
        for option, state in (("--returning", "returning"), ("--recoverable", "left")):
            task = self.start_script(0, "coxswain barrier other --participants 0", option)
            self.assertEqual(task.wait(), 0, task.output())
            self.wait_for_state(0, state)
            if state == "returning":
                moment = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d"
                self.assertRegex(self.status()["tasks"][0]["returns_by"], f"^{moment}$")
                self.assertRegex(self.coxswain("status").out, f"returning by {moment}, recoverable")
                self.assertRegex(self.coxswain("top", "--once").out, r"1 returning: .*0")
                self.wait_for_barrier("b")
                task = self.start_script(0, "coxswain barrier b && coxswain leave --returning")
                self.assertEqual(task.wait(), 0, task.output())
                other.line("passed")
                self.wait_for_state(0, "returning")
                self.wait_for_barrier("b")

        other.wait()
        self.assertIn("FAILED_PRECONDITION: Barrier 'b' round 2 failed: task 0 has finished", other.err)

    def test_the_loss_of_the_coordinator_ends_the_command(self):
        coordinator = self.serve(1, "--heartbeat-timeout", "300ms")
        task = self.start_script(0, "echo up; exec tail -f /dev/null")
        task.line("up")

        coordinator.end()

        self.assertEqual(task.wait(), 128 + signal.SIGTERM, task.output())
        self.assertIn("coxswain task: UNAVAILABLE", task.err)


class Supervised(TaskTest):
    """A command that joins by itself (--jax): coxswain task only reports how it ends."""

    def supervise(self, *command, options=(), env=None):
        return self.start("coxswain", "task", "--jax", "--task-id", 1, *options, "--", *command,
                          env=self.at | (env or {}))

    def with_other(self):
        return self.start("coxswain-e2e-task", "barrier:never", env=self.at | {"COXSWAIN_TASK_ID": "0"})

    def test_others_learn_at_once_how_it_was_killed(self):
        for options in ((), ("--relay",)):
            with self.subTest(options=options):
                runtime = self.directory / "".join(("runtime", *options))
                runtime.mkdir(mode=0o700)
                self.serve(2, "--reconnect-grace", "10min", "--relay-grace", "10min")
                other = self.with_other()

                victim = self.supervise(BIN / "coxswain-e2e-task", f"die:{runtime}/died", options=options,
                                        env={"XDG_RUNTIME_DIR": str(runtime)})

                self.assertEqual(victim.wait(), 128 + signal.SIGKILL, victim.output())
                other.wait()
                self.assertIn("killed by signal 9 (SIGKILL)", other.err)

    def test_a_command_that_exits_with_0_has_finished(self):
        self.serve(2)
        other = self.with_other()

        self.assertEqual(self.supervise(BIN / "coxswain-e2e-task", "exit").wait(), 0)

        other.wait()
        self.assertIn("has left", other.err)

    def test_a_command_that_never_joined_is_no_success(self):
        self.serve(2)
        never = self.supervise("true")
        self.assertEqual(never.wait(), 1, never.output())
        self.assertIn("'true' ended and never joined: does it call jax.distributed.initialize()?", never.err)

        failed = self.supervise("sh", "-c", "exit 7")
        self.assertEqual(failed.wait(), 7, failed.output())
        self.assertIn("'sh' exited with status 7 and never joined", failed.err)

    def test_a_command_that_ends_with_its_relay_is_explained(self):
        self.serve(2)
        victim = self.supervise("sh", "-c", "echo at $JAX_COORDINATOR_ADDRESS; exec sleep 1000",
                                options=("--relay",), env={"XDG_RUNTIME_DIR": str(self.directory)})
        address = victim.line("at ").split()[1]
        with socket.socket(socket.AF_UNIX) as relay:
            relay.connect(address.removeprefix("unix:"))
            pid, = struct.unpack_from("i", relay.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        relay = os.pidfd_open(pid)
        os.kill(pid, signal.SIGKILL)
        select.select([relay], [], [])
        os.close(relay)
        victim.process.terminate()

        self.assertEqual(victim.wait(), 128 + signal.SIGTERM, victim.output())
        self.assertIn(f"the relay or coordinator of 'sh' at {address} has ended", victim.err)

    def test_a_hosting_command_that_never_joined_is_no_success(self):
        self.at = {}
        host = self.start("coxswain", "task", "--host-if-task-0", "--jax", "--task-id", 0, "--num-tasks", 2,
                          "--address", f"127.0.0.1:{free_port()}", "--", "true")
        self.assertEqual(host.wait(), 1, host.output())
        self.assertIn("never joined: does it call jax.distributed.initialize()?", host.err)

    def test_a_hosting_jax_program_needs_no_token(self):
        self.at = {}
        host = self.start("coxswain", "task", "--host-if-task-0", "--jax", "--task-id", 0, "--num-tasks", 1,
                          "--address", f"127.0.0.1:{free_port()}", "--", "sh", "-c",
                          'echo "$JAX_COORDINATOR_ADDRESS"; test -S "${JAX_COORDINATOR_ADDRESS#unix:}"',
                          env={"COXSWAIN_TOKEN": "a-secret-of-the-job"})

        self.assertEqual(host.wait(), 1, host.output())

        self.assertRegex(host.out, "^unix:.*/jax$")
        self.assertIn("'sh' ended and never joined", host.err)


class Calls(TaskTest):

    def waiting(self):
        """A task with two waiting calls, and the process of one, which has left the task's group."""
        self.serve(2, "--no-join-barrier", "--no-leave-barrier")
        task = self.start_script(0, """echo socket $COXSWAIN_TASK_SOCKET
            coxswain barrier other & other=$!
            setsid coxswain barrier mine & echo pid $!
            wait $!; echo code $?
            wait $other; echo other $?""")
        pid = int(task.line("pid ").split()[1])
        self.wait_for_barrier("other")
        self.wait_for_barrier("mine")
        return task, pid

    def test_an_interrupted_or_killed_call_is_cancelled(self):
        for number in (signal.SIGINT, signal.SIGKILL):
            with self.subTest(signal=number):
                task, pid = self.waiting()

                os.kill(pid, number)

                task.line(f"code {128 + number}")
                self.wait_for_status("one barrier", lambda s: [
                    b["name"] for b in s["barriers"]] == ["other"])
                task.end()

    def test_killing_the_task_command_ends_calls_for_it(self):
        task, pid = self.waiting()
        caller = os.pidfd_open(pid)
        self.addCleanup(os.close, caller)

        task.signal(signal.SIGKILL)

        self.assertEqual(select.select([caller], [], [], LIMIT)[0], [caller])
        task.line("for which this program acts has ended", "err")

    def test_malformed_input_ends_only_its_connection(self):
        task, _ = self.waiting()
        path = task.line("socket ").split()[1]
        for garbage in (b"\xff" * 100, b"\0\0\0\x02\xff\xff", b"\0\0\0\0"):
            with self.subTest(garbage=garbage), socket.socket(socket.AF_UNIX) as visitor:
                visitor.connect(path)
                visitor.sendall(garbage)
                received = b"".join(iter(lambda: visitor.recv(4096), b""))
                self.assertGreater(len(received), 4)  # why

        self.assertEqual(len(self.status()["barriers"]), 2)

    def test_the_socket_is_private_and_removed_with_the_task(self):
        self.serve(1)
        task = self.start_script(0, "echo $COXSWAIN_TASK_SOCKET; exec tail -f /dev/null")
        directory = pathlib.Path(task.line("/")).parent
        self.assertEqual(stat.S_IMODE(directory.stat().st_mode), 0o700)
        self.assertEqual(directory.parent, self.directory)

        task.signal(signal.SIGTERM)

        self.assertEqual(task.wait(), 128 + signal.SIGTERM)
        self.assertFalse(directory.exists())

    def test_ephemeral_keys_live_as_long_as_their_task(self):
        self.serve(1)
        task = self.start_script(0, """coxswain put address here --ephemeral
            coxswain cas leader 0 --if-absent --ephemeral && echo leads
            coxswain put result 42; exec tail -f /dev/null""")
        self.assertEqual(self.coxswain("get", "result", "--wait", "1min").out, "42")
        self.assertEqual(self.coxswain("ls").out.split(), ["address", "leader", "result"])

        task.signal(signal.SIGTERM)

        self.assertEqual(task.wait(), 128 + signal.SIGTERM)
        self.assertEqual(self.coxswain("ls").out.split(), ["result"])

    def test_steps_are_reported_and_agreed_on(self):
        self.serve(2)
        script = """[ $COXSWAIN_TASK_ID = 0 ] && coxswain preempt
            coxswain barrier told
            step=0; until coxswain sync-point $((step += 1)); do coxswain progress $step; done
            echo stopped at $step; coxswain barrier stopped; exec tail -f /dev/null"""
        tasks = [self.start_script(k, script) for k in range(2)]

        stops = {task.line("stopped at") for task in tasks}

        self.assertEqual(len(stops), 1, stops)
        for task in tasks:
            task.line("round 1 of 'stopped'")
        at = int(stops.pop().split()[-1])
        for task in self.status()["tasks"]:
            self.assertEqual(task["step"], at - 1 if at > 1 else None)


class Command(TaskTest):

    def test_a_command_that_ends_leaves_with_the_others(self):
        self.serve(2, "--no-join-barrier")
        first = self.start_script(0, "exit 0")
        self.wait_for_status("the leave", lambda s: any(b["kind"] == "leave" for b in s["barriers"]))

        self.start_script(1, "exit 0")

        self.assertEqual(first.wait(), 0, first.output())
        self.wait_for_state(1, "left")

    def test_the_exit_code_after_leaving_does_not_matter(self):
        self.serve(1)

        task = self.start_script(0, "coxswain leave && exit 3")

        self.assertEqual((task.wait(), task.err), (3, ""), task.output())
        self.assertIsNone(self.wait_for_state(0, "left")["error"])

    def test_signals_are_forwarded_to_the_command(self):
        for number, name in ((signal.SIGTERM, "TERM"), (signal.SIGINT, "INT")):
            with self.subTest(signal=name):
                self.serve(1)
                task = self.start_script(0, f"trap 'echo bye; exit 0' {name}; echo up; "
                                            "while :; do tail -f /dev/null & wait; done")
                task.line("up")

                task.signal(number)

                self.assertEqual((task.wait(), task.out), (0, "up\nbye"), task.output())

    def test_a_signal_ends_a_task_that_waits_for_the_others(self):
        self.serve(2)
        task = self.start_script(0, "echo never")
        self.wait_for_state(0, "joining")

        task.signal(signal.SIGINT)

        self.assertEqual((task.wait(), task.out), (128 + signal.SIGINT, ""), task.output())
        self.wait_for_status("its end", lambda s: not s["barriers"])

    def test_the_command_inherits_stdin_and_gets_its_variables(self):
        self.serve(1, "--job", "train", "--token-file", self.write("token", "secret"))
        done = self.coxswain("task", "--task-id", 0, "--job", "train", "--token-file", self.directory / "token",
                             "--", "sh", "-c", "cat; coxswain ls && env", input=b"hello\n", env=PATH)

        self.assertEqual(done.code, 0, done.err)
        lines = done.out.splitlines()
        self.assertEqual(lines[0], "hello")
        found = dict(line.split("=", 1) for line in lines[1:] if "=" in line)
        for name, value in (("ADDRESS", self.at["COXSWAIN_ADDRESS"]), ("JOB", "train"), ("TASK_ID", "0"),
                            ("NUM_TASKS", "1"), ("TOKEN", "secret")):
            self.assertEqual(found[f"COXSWAIN_{name}"], value)

    def test_a_job_within_a_task_is_another_job(self):
        job = self.run_script(1, "coxswain run -n 1 -- sh -c 'echo \"<$COXSWAIN_TASK_SOCKET>\"'")

        self.assertEqual((job.code, self.lines_of(job, 0)), (0, ["[0] <>"]), job.output())

    def test_the_join_times_out_when_tasks_are_missing(self):
        self.serve(2)

        task = self.start_script(0, "echo never", "--join-timeout", "50ms")

        self.assertEqual((task.wait(), task.out), (TIMED_OUT, ""), task.output())

    def test_a_replaced_task_is_refused(self):
        self.serve(1, "--no-join-barrier")
        go_on = self.directory / "go-on"
        os.mkfifo(go_on)
        old = self.start_script(0, f"echo up; read x < {go_on}; coxswain barrier b", "--recoverable")
        old.line("up")

        new = self.start_script(0, "echo here", "--recoverable", "--take-over")
        self.assertEqual((new.wait(), new.out), (0, "here"), new.output())
        go_on.write_text("\n")

        self.assertEqual(old.wait(), REFUSED, old.output())
        self.assertIn("coxswain barrier: FAILED_PRECONDITION: task 0", old.err)
        self.assertIn("replaced", old.err)

    def test_wrong_usage(self):
        self.at = {}
        for command in (("task",), ("task", "true"), ("task", "--task-id", "x", "true"),
                        ("task", "--task-id", 0), ("reduce", "n", "1"), ("reduce", "n", "1", "--how", "avg"),
                        ("reduce", "n", "one", "--how", "sum"), ("reduce", "n", "1g", "--how", "or"),
                        ("barrier", "b", "--participants", "5-2"), ("alive", "x"), ("progress", "-1"),
                        ("barrier", "b", "--count", 2, "--participants", "0"), ("fail", "x", "--code", "BAD_LUCK"), ("sync-point",), ("all-gather", "n")):
            with self.subTest(command=command):
                done = self.coxswain(*command)
                self.assertEqual((done.code, done.out), (USAGE, ""), done.err)

    def test_task_commands_without_a_task_say_so(self):
        self.serve(1)
        for command in OF_TASKS:
            with self.subTest(command=command):
                done = self.coxswain(*command)
                self.assertEqual((done.code, done.out), (USAGE, ""), done.err)
                self.assertIn("coxswain task -- CMD", done.err)

    def test_a_task_that_has_ended_is_unavailable(self):
        self.at = {"COXSWAIN_TASK_SOCKET": str(self.directory / "gone"), "COXSWAIN_TASK_ID": "0",
                   "COXSWAIN_TASK_SECRET": "s", "COXSWAIN_TASK_INCARNATION": "1",
                   "COXSWAIN_ADDRESS": "127.0.0.1:1"}

        self.assertEqual(self.coxswain("barrier", "b").code, UNAVAILABLE)

    def write(self, name, text):
        (self.directory / name).write_text(text)
        return self.directory / name


if __name__ == "__main__":
    unittest.main()
