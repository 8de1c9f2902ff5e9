"""SIGHUP: the files that a running coordinator reloads."""

import fcntl
import os
import pty
import signal
import subprocess
import termios
import unittest

from programs import BIN, EndToEnd, LIMIT, REFUSED, clean_environment, wait_for_file


class Reload(EndToEnd):

    def setUp(self):
        super().setUp()
        self.tokens = self.directory / "tokens"
        self.tokens.write_text("worker old\n")

    def reload(self, program, word):
        program.signal(signal.SIGHUP)
        return program.line(word, "err")

    def incr(self, token):
        return self.coxswain("incr", "n", env={"COXSWAIN_TOKEN": token}).code

    def test_new_sessions_need_the_new_tokens_and_old_ones_continue(self):
        coordinator = self.serve(1, "--token-file", self.tokens)
        waiter = self.start("coxswain", "get", "later", "--wait", "forever",
                            env=self.at | {"COXSWAIN_TOKEN": "old"})
        self.assertEqual(self.incr("old"), 0)
        self.at["COXSWAIN_TOKEN"] = "old"
        self.wait_for_status("the get", lambda s: s["waiting_gets"] == 1)

        self.tokens.write_text("worker new\nreader look\n")
        self.reload(coordinator, "SIGHUP: read")

        self.assertEqual(self.incr("old"), REFUSED)
        self.assertEqual(self.incr("new"), 0)
        self.assertEqual(self.incr("look"), REFUSED)
        self.coxswain("put", "later", "now", env={"COXSWAIN_TOKEN": "new"})
        self.assertEqual((waiter.wait(), waiter.out), (0, "now"))

    def test_an_invalid_file_changes_nothing(self):
        config = self.directory / "toml"
        config.write_text('log-level = "info"\n')
        coordinator = self.serve(1, "--token-file", self.tokens, "--config", config)

        for path, text, word in ((self.tokens, "captain new\n", "line 1"),
                                 (self.tokens, "\n", "contains no token"),
                                 (config, 'log-level = "loud"\n', "invalid value 'loud'"),
                                 (config, "log-levl = 1\n", "did you mean 'log-level'")):
            with self.subTest(text=text):
                before = path.read_text()
                path.write_text(text)
                line = self.reload(coordinator, word)
                self.assertIn("SIGHUP: nothing was changed", line)
                path.write_text(before)
        self.assertEqual(self.incr("old"), 0)

    def test_the_log_level_follows_the_file(self):
        config = self.directory / "toml"
        config.write_text('[serve]\nlog-level = "error"\n')
        coordinator = self.serve(1, "--config", config)
        config.write_text('[serve]\nlog-level = "info"\n')

        line = self.reload(coordinator, "SIGHUP")

        self.assertIn("log level info", line)

    def test_a_flag_overrides_the_file_after_a_reload(self):
        config = self.directory / "toml"
        config.write_text('log-level = "error"\n')
        coordinator = self.serve(1, "--config", config, "--log-level", "info")

        self.assertIn("the log level is unchanged", self.reload(coordinator, "SIGHUP"))

    def test_run_reloads_its_tokens(self):
        port = self.directory / "port"
        run = self.start("coxswain", "run", "-n", 1, "--token-file", self.tokens, "--port-file", port,
                         "--log-level", "info", "--", BIN / "coxswain", "get", "end", "--wait", "forever")
        self.at = {"COXSWAIN_ADDRESS": wait_for_file(port).strip(), "COXSWAIN_TOKEN": "old"}
        self.wait_for_status("the get", lambda s: s["waiting_gets"] == 1)
        self.tokens.write_text("worker new\n")

        self.reload(run, "SIGHUP: read")

        self.assertEqual(self.incr("old"), REFUSED)
        self.assertEqual(self.coxswain("put", "end", "1", env={"COXSWAIN_TOKEN": "new"}).code, 0)
        self.assertEqual(run.wait(), 0, run.output())

    def test_an_ignored_hangup_stays_ignored(self):
        run = self.start("/usr/bin/nohup", BIN / "coxswain", "run", "-n", 1, "--log-level", "info", "--",
                         "sh", "-c", "kill -HUP $PPID; echo still here")

        self.assertEqual(run.wait(), 0, run.output())
        self.assertIn("still here", run.out)
        self.assertNotIn("SIGHUP", run.err)

    def test_a_closed_terminal_ends_the_coordinator(self):
        ours, its = pty.openpty()

        def take_terminal():
            os.setsid()
            fcntl.ioctl(its, termios.TIOCSCTTY, 0)

        port = self.directory / "port"
        serve = subprocess.Popen(
            [BIN / "coxswain", "serve", "-n", "1", "--listen", "127.0.0.1:0", "--port-file", port],
            env=clean_environment(), stdin=its, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=take_terminal)
        self.addCleanup(serve.kill)
        os.close(its)
        wait_for_file(port)
        os.close(ours)

        self.assertEqual(serve.wait(LIMIT), 0)


if __name__ == "__main__":
    unittest.main()
