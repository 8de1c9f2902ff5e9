"""coxswain replay: recordings of real coordinators, and their analysis."""

import os
import re
import signal
import unittest

from programs import BIN, EndToEnd, USAGE


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

    def token(self, text):
        path = self.directory / "token"
        path.write_text(text)
        return path


if __name__ == "__main__":
    unittest.main()
