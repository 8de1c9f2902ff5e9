"""The status page of `coxswain serve --http` and `coxswain run --http`."""

import json
import signal
import unittest

from programs import EndToEnd, fetch


class Http(EndToEnd):

    def ask(self, path):
        return fetch(f"http://{self.http}{path}")

    def test_the_http_status_matches_the_status_command(self):
        self.http = self.serve(2, "--http", "127.0.0.1:0").ready["http"]
        self.coxswain("put", "a", "1")

        code, text = self.ask("/api/v1/state")

        self.assertEqual(code, 200)
        shown, answered = json.loads(text), self.status()
        self.assertEqual(shown["keys"], 1)
        # Time has advanced, and the status command has a session.
        for changing in ("uptime_ms", "sessions", "memory_bytes"):
            self.assertIn(changing, shown)
            shown[changing] = answered[changing]
        self.assertEqual(shown, answered)
        self.assertEqual(list(shown), list(answered))
        for written in (text, self.coxswain("status", "--json").out):
            self.assertRegex(written, r'"uptime_ms":\d+(\.\d{1,3})?,')
        self.assertEqual(self.ask("/healthz"), (200, "ok\n"))
        self.assertEqual(json.loads(self.ask("/api/v1/keys/a")[1])["value"], "1")
        code, text = self.ask("/nothing")
        self.assertEqual(code, 404)
        self.assertEqual(json.loads(text)["code"], "NOT_FOUND")

    def test_run_prints_the_page_address(self):
        run = self.start("coxswain", "run", "-n", 2, "--http", ":0", "--",
                         "sh", "-c", "exec sleep 1000")
        self.http = run.line("status page at", "err").split("http://")[1].rstrip("/")

        self.assertEqual(json.loads(self.ask("/api/v1/state")[1])["num_tasks"], 2)
        run.signal(signal.SIGTERM)
        run.wait()


if __name__ == "__main__":
    unittest.main()
