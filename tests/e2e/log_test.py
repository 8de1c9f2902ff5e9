"""The log of a coordinator: lines of JSON, and an unread standard error."""

import collections
import datetime
import fcntl
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
            self.assertEqual(counts[change], 1, coordinator.said())

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

        self.assertEqual(run.code, 0, run.said())
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

    def test_unknown_formats_and_levels_are_wrong_usage(self):
        for wrong in (("--log-format", "xml"), ("--log-level", "debug")):
            done = self.run_to_end("coxswain", "serve", "-n", 1, *wrong)
            self.assertEqual(done.code, USAGE, done.said())

    def test_control_characters_in_names_are_escaped_in_the_log(self):
        named, shown = "s\033[2Jtep\nfake", "s?[2Jtep fake"
        coordinator = self.serve(2, "--no-join-barrier")
        self.task(0, 2, f"barrier:{named}", env=self.at)
        self.wait_for_status("the barrier", lambda s: s["barriers"])

        said = [self.coxswain(command).out for command in ("status", "why")]
        cancelled = self.coxswain("cancel", named)
        again = self.coxswain("cancel", named)
        said += [self.coxswain("events").out, coordinator.line("cancelled", "err")]

        self.assertEqual((cancelled.code, again.code), (0, 1))
        for text in said:
            self.assertIn(shown, text)
        for text in [*said, again.err]:
            self.assertNotIn("\033", text)



class Unwritable(EndToEnd):
    """Standard output and error on a full disk, or closed."""

    def environment(self):
        return clean_environment(self.directories())

    def code(self, *arguments, out="/dev/full", err="/dev/full"):
        with open(out, "wb") as output, open(err, "wb") as errors:
            return subprocess.run([BIN / "coxswain", *arguments], stdin=subprocess.DEVNULL,
                                  stdout=output, stderr=errors, env=self.environment(),
                                  timeout=LIMIT, check=False).returncode

    def test_the_exit_code_is_that_of_the_job(self):
        run = ("run", "-n", "2", "--")

        self.assertEqual(self.code(*run, "true"), 0)
        self.assertEqual(self.code(*run, "sh", "-c", "exit 3"), 3)

    def test_processes_whose_output_is_lost_finish(self):
        done = self.directory / "done"
        errors = self.directory / "errors"

        code = self.code("run", "-n", "1", "--", "sh", "-c",
                         f"seq 100000 && echo more >&2 && touch {done}", err=errors)

        self.assertEqual(code, 0)
        self.assertTrue(done.exists())
        self.assertEqual(errors.read_text().count("No space left on device"), 1)

    def test_errors_keep_their_exit_codes(self):
        self.assertEqual(self.code("nonsense"), USAGE)
        self.assertEqual(self.code("count", "--address", "127.0.0.1:1",
                                   "--connect-timeout", "100ms"), UNAVAILABLE)

    def test_another_temporary_directory_is_used_if_there_is_none(self):
        for directory in (self.directory / "none", self.directory / ("x" * 80)):
            with self.subTest(directory=directory.name[:4]):
                if directory.name != "none":
                    directory.mkdir()
                job = self.run_to_end("coxswain", "run", "-n", 1, "--", BIN / "coxswain", "task", "--",
                                      "true", env={"TMPDIR": str(directory)})

                self.assertEqual(job.code, 0, job.said())
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
