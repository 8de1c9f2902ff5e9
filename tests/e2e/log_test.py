"""The log of a coordinator: lines of JSON, and an unread standard error."""

import collections
import datetime
import fcntl
import itertools
import json
import os
import signal
import socket
import subprocess
import unittest

from programs import BIN, EndToEnd, LIMIT, UNAVAILABLE, USAGE, clean_environment, wait_for_file

F_SETPIPE_SZ = 1031


class Log(EndToEnd):

    def test_each_change_is_one_json_object(self):
        coordinator = self.serve(2, "--log-format", "json")
        workers = [self.worker(task, 2, "--rounds", 3) for task in range(2)]
        self.assertEqual([worker.wait() for worker in workers], [0, 0])
        self.stop(coordinator)

        lines = [json.loads(line) for line in coordinator.lines["err"]]

        for line in lines:
            time = datetime.datetime.strptime(line["time"], "%Y-%m-%dT%H:%M:%S.%f%z")
            self.assertEqual(time.utcoffset(), datetime.timedelta())
            self.assertRegex(line["time"], r"\.\d{3}Z$")
            self.assertIn(line["level"], ("info", "warning", "error"))
            self.assertTrue(line["text"])
        counts = collections.Counter((line.get("kind"), line.get("task")) for line in lines)
        for change in (("joined", None), ("left", 0), ("left", 1), ("left", None), ("stopping", None)):
            self.assertEqual(counts[change], 1, coordinator.output())

    def test_a_failed_barrier_is_logged_with_its_name(self):
        coordinator = self.serve(2, "--no-join-barrier", "--log-format", "json", "--log-level", "warning")
        self.task(0, 2, "barrier:step", env=self.at)
        self.wait_for_status("the barrier", lambda s: s["barriers"])

        self.coxswain("cancel", "step")

        line = json.loads(coordinator.line("cancelled", "err"))
        self.assertEqual((line["level"], line["kind"], line["barrier"]), ("warning", "round_failed", "step"))

    def test_run_writes_json_logs_too(self):
        run = self.run_to_end("coxswain", "run", "-n", 1, "--log-level", "info", "--log-format", "json",
                              "--", BIN / "coxswain-example-worker", "--rounds", 1)

        self.assertEqual(run.code, 0, run.output())
        self.assertIn("joined", [json.loads(line).get("kind") for line in run.lines["err"]])

    def test_an_unread_log_does_not_block_the_coordinator(self):
        unread, written = os.pipe()
        self.addCleanup(os.close, unread)
        fcntl.fcntl(written, F_SETPIPE_SZ, 4096)
        port = self.directory / "port"
        coordinator = subprocess.Popen(
            [BIN / "coxswain", "serve", "-n", "1", "--listen", "127.0.0.1:0", "--port-file", port],
            env=clean_environment(), stdout=subprocess.DEVNULL, stderr=written)
        self.addCleanup(coordinator.wait)
        self.addCleanup(coordinator.kill)
        os.close(written)
        address = wait_for_file(port).strip()
        self.at = {"COXSWAIN_ADDRESS": address}

        host, number = address.split(":")
        for _ in range(100):  # each is a line of about a hundred bytes
            with socket.create_connection((host, int(number)), timeout=LIMIT) as guest:
                guest.sendall(b"\xff" * 64)
                while guest.recv(4096):
                    continue

        self.assertEqual(self.status()["num_tasks"], 1)
        events = [json.loads(line) for line in self.coxswain("events", "--json").out.splitlines()]
        self.assertEqual([e["count"] for e in events if e["kind"] == "refused"], [100])
        coordinator.send_signal(signal.SIGTERM)
        self.assertEqual(coordinator.wait(LIMIT), 0)

    def test_control_characters_in_names_are_escaped_in_the_log(self):
        named, shown = "s\033[2Jtep\nfake", "s?[2Jtep fake"
        coordinator = self.serve(2, "--no-join-barrier")
        self.task(0, 2, f"barrier:{named}", env=self.at)
        self.wait_for_status("the barrier", lambda s: s["barriers"])

        given = [self.coxswain(command).out for command in ("status", "why")]
        cancelled = self.coxswain("cancel", named)
        again = self.coxswain("cancel", named)
        given += [self.coxswain("events").out, coordinator.line("cancelled", "err")]

        self.assertEqual((cancelled.code, again.code), (0, 1))
        for text in given:
            self.assertIn(shown, text)
        for text in [*given, again.err]:
            self.assertNotIn("\033", text)



class Unwritable(EndToEnd):
    """Standard output and error on a full disk, closed, or without a reader."""

    BROKEN = ("full", "closed", "unread")

    def environment(self):
        return clean_environment(self.directories())

    def output(self, how):
        """What a descriptor is to be: of a kind of BROKEN, or kept."""
        if how == "kept" or how == "closed":
            return subprocess.PIPE
        if how == "full":
            full = open("/dev/full", "wb")
            self.addCleanup(full.close)
            return full
        reading, writing = os.pipe()
        os.close(reading)
        self.addCleanup(os.close, writing)
        return writing

    def popen(self, *arguments, out="kept", err="kept", env=None):
        closed = "".join(f" {number}>&-" for number, how in ((1, out), (2, err)) if how == "closed")
        program = subprocess.Popen(["sh", "-c", f'exec "$@"{closed}', "sh", BIN / "coxswain", *map(str, arguments)],
                                   stdin=subprocess.DEVNULL, stdout=self.output(out), stderr=self.output(err),
                                   text=True, env=env or self.environment())
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        return program

    def ends(self, *arguments, **how):
        """Runs it to its end: the code and standard error."""
        program = self.popen(*arguments, **how)
        _, errors = program.communicate(timeout=LIMIT)
        return program.returncode, errors or ""

    def each_output(self):
        """Each combination in which something is broken."""
        for out, err in itertools.product(("kept", *self.BROKEN), repeat=2):
            if (out, err) != ("kept", "kept"):
                yield {"out": out, "err": err}

    def test_the_exit_code_is_that_of_the_job(self):
        for how in self.each_output():
            with self.subTest(**how):
                self.assertEqual(self.ends("run", "-n", "2", "--", "true", **how)[0], 0)
                self.assertEqual(self.ends("run", "-n", "2", "--", "sh", "-c", "echo x; echo y >&2; exit 3",
                                           **how)[0], 3)

    def test_processes_whose_output_is_lost_finish(self):
        for how in self.BROKEN:
            with self.subTest(how=how):
                done = self.directory / f"done-{how}"

                code, errors = self.ends("run", "-n", "1", "--", "sh", "-c",
                                         f"seq 100000 && echo more >&2 && touch {done}", out=how)

                self.assertEqual(code, 0, errors)
                self.assertTrue(done.exists())
                self.assertEqual(errors.count("output of processes is lost"), 1)

    def test_a_coordinator_serves_and_ends_well(self):
        for kind, how in itertools.product(("serve", "relay"), self.each_output()):
            with self.subTest(kind=kind, **how):
                ports = self.directory / "ports"
                ports.unlink(missing_ok=True)
                if kind == "relay":
                    socket = self.directory / "relay.sock"
                    socket.unlink(missing_ok=True)
                    self.serve(1)
                    program = self.popen("relay", "--upstream", self.at["COXSWAIN_ADDRESS"],
                                         "--listen", f"unix:{socket}", **how)
                    self.at = {"COXSWAIN_ADDRESS": f"unix:{socket}"}
                else:
                    program = self.popen("serve", "-n", 1, "--listen", "127.0.0.1:0", "--port-file",
                                         ports, **how)
                    self.at = {"COXSWAIN_ADDRESS": wait_for_file(ports).strip()}

                self.succeed("put", "a", "1", "--connect-timeout", "1min")
                program.terminate()
                _, errors = program.communicate(timeout=LIMIT)

                self.assertEqual(program.returncode, 0, errors)
                if how["out"] != "kept" and how["err"] == "kept":
                    self.assertEqual(errors.count("standard output cannot be written"), 1)

    def test_what_waits_or_wraps_keeps_its_exit_code(self):
        self.serve(1, "--recoverable")
        environment = self.environment() | self.at
        for how in self.each_output():
            with self.subTest(**how):
                self.succeed("push", "q", "item")
                for command in (("lock", "l"), ("take", "q"), ("task", "--task-id", "0")):
                    code, errors = self.ends(*command, "--", "sh", "-c", "exit 3", env=environment, **how)
                    self.assertEqual(code, 3, errors)
                for command in (("barrier", "b", "--count", "1"), ("incr", "n"), ("push", "other", "x"),
                                ("append", "log", "x"), ("rm", "none")):
                    code, errors = self.ends(*command, env=environment, **how)
                    self.assertEqual(code, 0, errors)

    def test_a_lost_value_is_a_failure(self):
        self.serve(1)
        environment = self.environment() | self.at
        self.succeed("put", "k", "v")
        for how, command in itertools.product(("full", "closed"), (("get", "k"), ("status",), ("ls",), ("--help",))):
            with self.subTest(how=how, command=command):
                code, errors = self.ends(*command, out=how, env=environment)

                self.assertEqual(code, 1)
                self.assertIn("standard output", errors)

    def test_what_is_followed_ends_when_it_cannot_be_written(self):
        self.serve(1)
        environment = self.environment() | self.at
        self.succeed("put", "d/k", "v")
        self.succeed("task", "--task-id", 0, "--", "true")  # has events
        for how, command in itertools.product(("full", "closed"), (
                ("status", "--watch"), ("events", "--follow"), ("watch", "d", "--after", "0"))):
            with self.subTest(how=how, command=command):
                code, errors = self.ends(*command, out=how, env=environment)

                self.assertEqual(code, 1)
                self.assertIn("standard output could not be written", errors)

    def test_errors_keep_their_exit_codes(self):
        for how in self.BROKEN:
            with self.subTest(how=how):
                self.assertEqual(self.ends("nonsense", out=how, err=how)[0], USAGE)
                self.assertEqual(self.ends("count", "--address", "127.0.0.1:1", "--connect-timeout", "100ms",
                                           out=how, err=how)[0], UNAVAILABLE)

    def test_another_temporary_directory_is_used_if_there_is_none(self):
        for directory in (self.directory / "none", self.directory / ("x" * 80)):
            with self.subTest(directory=directory.name[:4]):
                if directory.name != "none":
                    directory.mkdir()
                job = self.run_to_end("coxswain", "run", "-n", 1, "--", BIN / "coxswain", "task", "--",
                                      "true", env={"TMPDIR": str(directory)})

                self.assertEqual(job.code, 0, job.output())
                self.assertIn(f"cannot use '{directory}'", job.err)

    def test_closed_descriptors_are_not_given_to_sockets(self):
        ports = self.directory / "ports"
        command = f"exec {BIN}/coxswain serve -n 1 --listen 127.0.0.1:0 --port-file {ports} >&- 2>&-"
        serve = subprocess.Popen(["sh", "-c", command], env=self.environment())
        self.addCleanup(serve.kill)
        wait_for_file(ports)

        files = [os.readlink(f"/proc/{serve.pid}/fd/{number}") for number in (1, 2)]
        serve.terminate()

        self.assertEqual(files, ["/dev/null", "/dev/null"])
        self.assertEqual(serve.wait(LIMIT), 0)


if __name__ == "__main__":
    unittest.main()
