"""coxswain replay: recordings of real coordinators, and their analysis."""

import collections
import json
import os
import re
import signal
import unittest

from programs import BIN, EndToEnd, USAGE, fetch

# The members that the Trace Event Format requires of each phase that is written, and their types.
NUMBER = (int, float)
TRACE_EVENT = {
    "M": {"name": str, "args": dict},
    "X": {"name": str, "tid": int, "ts": NUMBER, "dur": NUMBER, "args": dict},
    "s": {"name": str, "cat": str, "id": int, "tid": int, "ts": NUMBER},
    "f": {"name": str, "cat": str, "id": int, "tid": int, "ts": NUMBER, "bp": str},
    "i": {"name": str, "s": str, "ts": NUMBER},
}


class Recordings(EndToEnd):

    def replay(self, path, *arguments):
        return self.run_to_end("coxswain", "replay", path, *arguments)

    def recording_of(self, program):
        """The file that the program reports as written."""
        program.line("coxswain replay", "err")
        return next(one for one in self.recordings() if f"-{program.pid}." in one.name)

    def test_a_recording_to_a_file_holds_the_whole_job(self):
        path = self.directory / "job.recording"
        coordinator = self.serve(2, "--record", path, "--token-file", self.token("sesame"),
                                 "--exit-when-done")
        workers = [self.worker(task, 2, "--rounds", 5, env={"COXSWAIN_TOKEN": "sesame"})
                   for task in range(2)]
        self.assertEqual([worker.wait() for worker in workers], [0, 0])
        self.assertEqual(coordinator.wait(), 0)

        result = self.replay(path)
        same = self.replay(path, "--compare", path)

        self.assertEqual(result.code, 0, result.output())
        self.assertIn("all 2 tasks have joined", result.out)
        self.assertIn("all tasks have left", result.out)
        self.assertEqual(same.code, 0, same.output())
        self.assertEqual(2, len(re.findall(
            r"job\.recording: \d\d+ messages and \d+ events are the same", same.out)), same.out)
        self.assertNotIn(b"sesame", path.read_bytes())
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)

    def test_a_differing_recording_is_named_with_the_position(self):
        paths = [self.directory / f"{name}.recording" for name in ("one", "two", "text")]
        coordinator = self.serve(1, "--record", paths[0])
        self.assertEqual(self.coxswain("put", "k", "v").code, 0)
        self.stop(coordinator)
        whole = paths[0].read_bytes()
        put = whole.index(b"\x62\x06\x0a\x01k\x12\x011")  # its key, and the redacted value
        paths[1].write_bytes(whole[:put + 4] + b"/" + whole[put + 5:])  # which is no key
        paths[2].write_bytes(b"Dear diary,")

        result = self.replay(paths[0], "--compare", *paths[1:])
        several = self.replay(*paths)

        self.assertEqual(result.code, 1, result.output())
        self.assertRegex(result.out, r"one.recording: \d+ messages and \d+ events are the same\n")
        self.assertRegex(result.out, r"two.recording: at \d\.\d{3} s the reply INVALID_ARGUMENT to "
                                   r"request \d of connection \d+ is not the recorded message\n")
        self.assertRegex(result.out, r"text\.recording: .*Not a readable recording")
        self.assertIn("2 of 3 recordings differ", result.err)
        self.assertEqual(several.code, USAGE, several.output())

    def test_a_truncated_recording_is_reported(self):
        path = self.directory / "job.recording"
        coordinator = self.serve(1, "--record", path)
        self.assertEqual(self.coxswain("put", "k", "v").code, 0)
        self.stop(coordinator)
        whole = path.read_bytes()
        self.assertNotIn("ends within a record", self.replay(path).out)

        for size in range(len(whole) - 1, len(whole) - 300, -50):
            path.write_bytes(whole[:size])
            result = self.replay(path)
            self.assertEqual(result.code, 0, result.output())
            self.assertNotRegex(result.out, r" -\d")
        self.assertIn("the recording ends within a record", result.out)

    def test_a_recording_follows_links_and_writes_into_pipes(self):
        real, link, pipe = (self.directory / name for name in ("real", "link", "pipe"))
        link.symlink_to(real)
        real.write_bytes(b"something")
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        for path in (link, pipe):
            coordinator = self.serve(1, "--record", path)
            self.stop(coordinator)

        self.assertTrue(link.is_symlink())
        self.assertEqual(self.replay(link).code, 0)
        self.assertTrue(pipe.is_fifo())
        copy = self.directory / "copy"
        copy.write_bytes(os.read(reader, 1 << 16))
        self.assertEqual(self.replay(copy).code, 0)

    def test_a_recording_that_does_not_fit_is_not_announced(self):
        path = self.directory / "job.recording"
        script = (f"ulimit -f 0; "
                  f"exec {BIN}/coxswain serve -n 1 --record {path} --listen 127.0.0.1:0")
        coordinator = self.start("/bin/sh", "-c", script)
        coordinator.line('"event"')
        coordinator.signal(signal.SIGUSR1)
        coordinator.line("is not whole: File too large", "err")
        self.stop(coordinator)
        self.assertRegex(coordinator.err, "(?s)is not whole.*is not whole")
        self.assertNotIn("coxswain replay", coordinator.err)

    def test_a_replay_can_show_an_intermediate_time(self):
        path = self.directory / "job.recording"
        coordinator = self.serve(1, "--record", path)
        self.assertEqual(self.coxswain("put", "k", "v").code, 0)
        self.stop(coordinator)

        self.assertIn("1 key", self.replay(path).out)
        self.assertIn("0 keys", self.replay(path, "--until", "0ms").out)

    def test_a_signal_makes_a_coordinator_write_its_recording(self):
        coordinator = self.serve(1, "--job", "curious")
        coordinator.signal(signal.SIGUSR1)

        result = self.replay(self.recording_of(coordinator))

        self.assertEqual(result.code, 0, result.output())
        self.assertIn("curious", result.out)

    def test_a_file_that_is_no_recording_is_refused(self):
        path = self.directory / "text"
        path.write_text("Dear diary,")

        result = self.replay(path)
        missing = self.replay(self.directory / "missing")

        self.assertEqual(result.code, USAGE, result.output())
        self.assertIn("Not a readable recording", result.err)
        self.assertEqual(missing.code, USAGE, missing.output())

    def shown(self, recording):
        """The page of a recording, and a function that asks it for JSON."""
        page = self.start("coxswain", "replay", recording, "--http", "127.0.0.1:0")
        url = page.line("is shown at", "err").split(" at ")[1].split()[0]

        def ask(path):
            code, text = fetch(url + path)
            self.assertEqual(code, 200, text)
            return json.loads(text)
        return page, ask

    def test_the_page_of_a_recording_shows_any_moment(self):
        path = self.directory / "job.recording"
        coordinator = self.serve(1, "--record", path)
        for number in range(3):
            self.succeed("put", f"k{number}", "v")
        self.stop(coordinator)
        page, ask = self.shown(path)

        span = ask("api/v1/moment")["recorded"]
        seen = [ask(f"api/v1/state?at={moment}ms")["keys"]
                for moment in range(0, int(span["ends_ms"]) + 2)]

        self.assertEqual(seen, sorted(seen))
        self.assertEqual(set(seen), {0, 1, 2, 3})
        self.assertEqual(ask("api/v1/state?at=0s")["keys"], 0)
        self.assertEqual(ask("api/v1/role")["role"], "reader")
        page.signal(signal.SIGINT)
        self.assertEqual(page.wait(), 0, page.output())

    def test_run_names_the_page_of_the_job_that_failed(self):
        run = self.run_to_end("coxswain", "run", "-n", 2, "--", "coxswain", "task", "--", "sh",
                              "-c", "sleep 0.2; test $COXSWAIN_TASK_ID = 0",
                              env={"PATH": f"{BIN}:{os.environ['PATH']}"})
        self.assertNotEqual(run.code, 0)
        command = re.search(r"view it with: coxswain replay (\S+) --http :0", run.err)
        self.assertTrue(command, run.err)

        _, ask = self.shown(command[1])

        self.assertEqual(ask("api/v1/state")["error"]["cause"]["task"], 1)
        self.assertIsNone(ask("api/v1/state?at=0s")["error"])

    def test_a_recording_without_its_beginning_has_a_page_of_its_events_and_no_trace(self):
        coordinator = self.serve(1, "--record-bytes-max", "64KiB")
        for number in range(300):
            self.succeed("put", "k" * 1000, number, "--overwrite")
        coordinator.signal(signal.SIGUSR1)
        path = self.recording_of(coordinator)
        self.assertNotIn("--http", coordinator.err)

        result = self.replay(path, "--trace", self.directory / "trace.json")
        _, ask = self.shown(path)

        self.assertEqual(result.code, 1, result.output())
        self.assertRegex(result.err, r"lacks its first \d+ records")
        self.assertRegex(ask("api/v1/state")["headline"], r"Only the events .*: its first \d+ records were lost")

    def test_a_trace_shows_who_came_last_and_whom_that_released(self):
        path, out = self.directory / "job.recording", self.directory / "trace.json"
        coordinator = self.serve(3, "--record", path, "--exit-when-done")
        waiting = self.start("coxswain", "get", "late", "--wait", "60s", env=self.at)
        self.wait_for_status("the get", lambda status: status["waiting_gets"] == 1)
        self.succeed("put", "late", "v")
        waiting.wait()
        workers = [self.worker(task, 3, "--rounds", 5) for task in range(3)]
        self.assertEqual([worker.wait() for worker in workers], [0, 0, 0])
        self.assertEqual(coordinator.wait(), 0)

        result = self.replay(path, "--trace", out)

        self.assertEqual(result.code, 0, result.output())
        events = json.loads(out.read_text())["traceEvents"]
        for event in events:
            for member, kind in TRACE_EVENT[event["ph"]].items():
                self.assertIsInstance(event.get(member), kind, event)
            self.assertEqual(event["pid"], 1)
        tracks = {event["tid"]: event["args"]["name"] for event in events
                  if event["name"] == "thread_name"}
        slices = [event for event in events if event["ph"] == "X"]
        self.assertIn("get of key 'late'", {one["name"] for one in slices if tracks[one["tid"]] == "others"})
        rounds = collections.defaultdict(list)
        for one in slices:
            if "round" in one["args"]:
                rounds[one["name"], one["args"]["round"]].append(one)
        self.assertGreaterEqual(len(rounds), 5)
        starts = {event["id"]: event for event in events if event["ph"] == "s"}
        ends = [event for event in events if event["ph"] == "f"]
        self.assertEqual(len(starts), len(ends))
        for calls in rounds.values():
            self.assertEqual({tracks[one["tid"]] for one in calls}, {"task 0", "task 1", "task 2"})
            last, = (one for one in calls if one["args"].get("last"))
            self.assertEqual(last["ts"], max(one["ts"] for one in calls))
            released = [event for event in ends if starts[event["id"]]["ts"] == last["ts"]
                        and starts[event["id"]]["tid"] == last["tid"]]
            self.assertEqual({event["tid"] for event in released},
                             {one["tid"] for one in calls if one is not last})
        self.assert_nested(slices)

    def test_a_trace_shows_epochs_and_waits_for_locks(self):
        path, out = self.directory / "job.recording", self.directory / "trace.json"
        coordinator = self.serve(2, "--min-tasks", 2, "--record", path)
        released = self.directory / "released"
        self.start("coxswain", "lock", "L", "--", "sh", "-c",
                   f"while [ ! -e {released} ]; do sleep 0.02; done", env=self.at)
        self.wait_for_status("the lock", lambda status: status["locks_held"] == 1)
        members = [self.start("coxswain", "task", "--member", name, "--", BIN / "coxswain", "lock",
                              "L", "--wait", "60s", "--", "true", env=self.at) for name in "ab"]
        self.wait_for_status("the waits", lambda status: status["waiting_locks"] == 2)
        released.touch()
        self.assertEqual([member.wait() for member in members], [0, 0])
        self.stop(coordinator)

        result = self.replay(path, "--trace", out)

        self.assertEqual(result.code, 0, result.output())
        events = json.loads(out.read_text())["traceEvents"]
        tracks = {event["tid"]: event["args"]["name"] for event in events
                  if event["name"] == "thread_name"}
        slices = [event for event in events if event["ph"] == "X"]
        epochs = [one for one in slices if one["name"] == "epoch 1"]
        self.assertEqual({tracks[one["tid"]] for one in epochs}, {"task 0", "task 1"})
        waits = [one for one in slices if one["name"] == "lock 'L'"]
        self.assertEqual({tracks[one["tid"]] for one in waits}, {"task 0", "task 1"})
        self.assert_nested(slices)

    def assert_nested(self, slices):
        """Within a track, slices do not overlap unless one contains the other."""
        tracks = collections.defaultdict(list)
        for one in slices:
            tracks[one["tid"]].append((round(one["ts"] * 1000),
                                       round((one["ts"] + one["dur"]) * 1000)))
        for track in tracks.values():
            open_until = []
            for begin, end in sorted(track, key=lambda span: (span[0], -span[1])):
                while open_until and open_until[-1] <= begin:
                    open_until.pop()
                self.assertTrue(not open_until or end <= open_until[-1], track)
                open_until.append(end)

    def token(self, text):
        path = self.directory / "token"
        path.write_text(text)
        return path


if __name__ == "__main__":
    unittest.main()
