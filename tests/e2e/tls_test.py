"""TLS with certificates made by the openssl program."""

import json
import signal
import socket
import ssl
import subprocess
import time
import unittest
import urllib.error
import urllib.request

from certificates import WithCertificates
from programs import LIMIT, PATH, REFUSED, SLOWNESS, free_port


class Tls(WithCertificates):

    def serve_tls(self, *arguments):
        return self.serve(1, *self.shown("coordinator"), *arguments)

    def refused(self, coordinator, options, notice, logged, env=None):
        """Checks that both sides report why within a short time."""
        begun = time.monotonic()
        done = self.coxswain("status", *options, env=env)
        took = time.monotonic() - begun
        self.assertEqual(done.code, REFUSED, done.err)
        self.assertIn(notice, done.err)
        coordinator.line(logged, "err")
        self.assertLess(took, 1 * SLOWNESS)

    def test_every_refusal_is_reported_on_both_sides_within_a_second(self):
        self.authority("other")
        self.issue("foreign", by="other")
        self.expired("old")
        token = self.directory / "token"
        token.write_text("secret\n")
        coordinator = self.serve_tls("--token-file", token)
        worker = self.shown("worker")
        right = {"COXSWAIN_TOKEN": "secret"}

        self.assertEqual(self.coxswain("status", *worker, env=right).code, 0)
        for options, notice, logged, env in [
                (worker, "token", "token", {"COXSWAIN_TOKEN": "wrong"}),
                (self.shown("foreign"), "none of the authorities that it knows has signed",
                 "(CN = foreign, valid until", right),
                (self.shown("worker", "other"),
                 "none of the authorities that this side knows has signed it (CN = coordinator",
                 "The peer has refused the connection: none of the authorities", right),
                (self.shown("old"), "this side's certificate has expired",
                 "it has expired (CN = old", right),
                (["--tls-ca", self.file("ca", "pem")], "it asks for a certificate",
                 "The peer has shown no certificate", right),
                ([], "The coordinator speaks only TLS here", "does not speak TLS", right | self.elsewhere())]:
            with self.subTest(notice=notice):
                self.refused(coordinator, options, notice, logged, env)

    def test_a_job_runs_over_mutual_tls(self):
        job = self.run_to_end(
            "coxswain", "run", "-n", 3, "--listen", "127.0.0.1:0", *self.shown("coordinator"), "--",
            "sh", "-c", "coxswain barrier b --count 3 && coxswain put k$COXSWAIN_TASK_ID v",
            env=PATH)

        self.assertEqual(job.code, 0, job.output())

    def test_a_hosted_coordinator_uses_tls(self):
        port = free_port()
        environment = PATH | {
            "COXSWAIN_ADDRESS": f"127.0.0.1:{port}", "COXSWAIN_NUM_TASKS": "2"}
        tasks = [self.start("coxswain", "task", "--host-if-task-0", *self.shown("coordinator"),
                            "--", "coxswain", "barrier", "b",
                            env=environment | {"COXSWAIN_TASK_ID": str(task)}) for task in (0, 1)]

        for task in tasks:
            self.assertEqual(task.wait(), 0, task.output())

    def test_tls_versions_before_1_3_need_an_option(self):
        for least, can in [("1.3", False), ("1.2", True)]:
            coordinator = self.serve_tls("--tls-min", least)
            spoken = subprocess.run(
                ["openssl", "s_client", "-tls1_2", "-connect", coordinator.addresses[0], "-cert",
                 self.file("worker", "pem"), "-key", self.file("worker", "key")],
                stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT, check=False)
            self.assertEqual(b"Cipher is ECDHE" in spoken.stdout, can, spoken)
            if not can:
                coordinator.line("no version of TLS that both sides allow", "err")

    def shown_by(self, address):
        """The name in the certificate presented there."""
        received = subprocess.run(["openssl", "s_client", "-connect", address],
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT,
                              check=False)
        return next(line for line in received.stdout.decode().splitlines() if "subject=" in line)

    def test_a_hangup_reloads_certificates(self):
        coordinator = self.serve_tls("--http", "127.0.0.1:0")
        at = [coordinator.addresses[0], coordinator.ready["http"]]
        self.assertIn("coordinator", self.shown_by(at[0]))
        self.issue("successor")
        for kind in ("pem", "key"):
            self.file("successor", kind).replace(self.file("coordinator", kind))

        coordinator.signal(signal.SIGHUP)
        coordinator.line("new certificate in use: CN = successor", "err")

        for address in at:
            self.assertIn("successor", self.shown_by(address))

        self.file("coordinator", "pem").write_text("half a certif")
        coordinator.signal(signal.SIGHUP)
        coordinator.line("nothing was changed", "err")
        self.assertEqual(self.coxswain("status", *self.shown("worker")).code, 0)

    def ask(self, url, token=None, shown=None):
        context = ssl.create_default_context(cafile=self.file("ca", "pem"))
        if shown:
            context.load_cert_chain(self.file(shown, "pem"), self.file(shown, "key"))
        request = urllib.request.Request(url)
        if token:
            request.add_header("Authorization", f"Bearer {token}")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}),
                                             urllib.request.HTTPSHandler(context=context))
        try:
            with opener.open(request, timeout=LIMIT) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as answer:
            return answer.code, answer.read().decode()

    def test_the_status_page_uses_https_only(self):
        coordinator = self.serve_tls("--http", "127.0.0.1:0")
        at = coordinator.ready["http"]
        self.assertEqual(coordinator.ready["page"], f"https://{at}/")
        coordinator.line(f"status page at https://{at}/", "err")

        self.assertEqual(self.ask(f"https://{at}/livez"), (200, "ok\n"))
        code, text = self.ask(f"https://{at}/api/v1/state")
        self.assertEqual(code, 401)
        self.assertIn("certificate", json.loads(text)["message"])
        self.assertEqual(self.ask(f"https://{at}/api/v1/state", shown="worker")[0], 200)
        code, text = self.ask(f"http://{at}/livez")
        self.assertEqual(code, 400)
        self.assertIn("https://", json.loads(text)["message"])
        coordinator.line("was not let in by HTTP", "err")

    def test_a_websocket_over_https_gets_updates(self):
        coordinator = self.serve_tls("--http", "127.0.0.1:0")
        host, port = coordinator.ready["http"].split(":")
        context = ssl.create_default_context(cafile=self.file("ca", "pem"))
        context.load_cert_chain(self.file("worker", "pem"), self.file("worker", "key"))
        with socket.create_connection((host, int(port)), LIMIT) as plain, \
                context.wrap_socket(plain, server_hostname=host) as watcher:
            watcher.sendall(f"GET /api/v1/live HTTP/1.1\r\nHost: {host}:{port}\r\n"
                            "Upgrade: websocket\r\nConnection: Upgrade\r\n"
                            "Sec-WebSocket-Version: 13\r\n"
                            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode())
            seen = b""
            while b'"tasks"' not in seen:
                more = watcher.recv(65536)
                self.assertTrue(more, seen)
                seen += more
            self.assertTrue(seen.startswith(b"HTTP/1.1 101"), seen)


if __name__ == "__main__":
    unittest.main()
