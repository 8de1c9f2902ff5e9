"""What subcommands and tasks may do with the roles of their tokens."""

import unittest

from programs import EndToEnd, REFUSED, USAGE

LOOKS = [("status",), ("get", "a"), ("ls",), ("count",), ("events",), ("why",)]
CHANGES = [("put", "a", "1", "--overwrite"), ("cas", "c", "1", "--if-absent"), ("append", "t", "x"),
           ("incr", "n"), ("rm", "t"), ("push", "q", "x"), ("pop", "q"),
           ("barrier", "b", "--count", 1)]


class Roles(EndToEnd):

    def setUp(self):
        super().setUp()
        self.tokens = self.directory / "tokens"
        self.tokens.write_text("# who may what\nreader look\noperator steer\n\nworker pull\n")
        self.coordinator = self.serve(1, "--token-file", self.tokens)

    def run_with(self, token, command):
        return self.coxswain(*command, env={"COXSWAIN_TOKEN": token})

    def test_an_operator_can_read_and_change(self):
        for command in CHANGES + LOOKS:
            with self.subTest(command=command):
                done = self.run_with("steer", command)
                self.assertEqual(done.code, 0, done.err)

    def test_a_reader_can_only_read(self):
        self.run_with("steer", ("put", "a", "1"))
        for command in LOOKS:
            with self.subTest(command=command):
                done = self.run_with("look", command)
                self.assertEqual(done.code, 0, done.err)
        for command in CHANGES + [("preempt", 0)]:
            with self.subTest(command=command):
                done = self.run_with("look", command)
                self.assertEqual(done.code, REFUSED, done.err)
                self.assertIn("PERMISSION_DENIED", done.err)
                self.assertIn("role 'reader' may not", done.err)
                self.assertIn("that needs a token of role 'operator'", done.err)

    def test_only_a_worker_can_be_a_task(self):
        for token in ("look", "steer"):
            worker = self.worker(0, 1, "--rounds", 1, env={"COXSWAIN_TOKEN": token})
            self.assertNotEqual(worker.wait(), 0)
            self.assertIn("may not join; that needs a token of role 'worker'", worker.err)

        worker = self.worker(0, 1, "--rounds", 1, env={"COXSWAIN_TOKEN": "pull"})
        self.assertEqual(worker.wait(), 0, worker.output())

    def test_a_token_file_that_all_users_can_read_is_warned_about(self):
        advice = f"'{self.tokens}' (mode 0644): chmod 600 {self.tokens}"
        token = self.directory / "token"
        token.write_text("steer\n")
        of_client = f"coxswain: warning: all users of this machine can read the token in '{token}'"
        for mode, is_warned in ((0o644, True), (0o640, False), (0o600, False)):
            with self.subTest(mode=oct(mode)):
                self.tokens.chmod(mode)
                token.chmod(mode)

                serve = self.serve(1, "--token-file", self.tokens)
                done = self.succeed("count", "--token-file", token)
                self.stop(serve)
                run = self.run_to_end("coxswain", "run", "-n", 1, "--token-file", self.tokens, "--", "true")

                self.assertEqual([advice in text for text in (serve.err, run.err)], [is_warned] * 2)
                self.assertEqual(done.err.count(of_client), 1 if is_warned else 0)

    def test_run_gives_its_processes_a_worker_token(self):
        run = self.run_to_end("coxswain", "run", "-n", 2, "--token-file", self.tokens, "--",
                              "sh", "-c", "echo token $COXSWAIN_TOKEN")
        self.assertEqual(run.code, 0, run.output())
        self.assertIn("token pull", run.out)

        self.tokens.write_text("reader look\n")
        run = self.run_to_end("coxswain", "run", "-n", 2, "--token-file", self.tokens, "--", "true")
        self.assertEqual(run.code, USAGE, run.output())
        self.assertIn("no token of role worker", run.err)


if __name__ == "__main__":
    unittest.main()
