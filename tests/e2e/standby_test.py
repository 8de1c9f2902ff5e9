"""coxswain serve --engine: coordinators of one job on etcd, which are killed, stopped and cut off."""

import json
import os
import pathlib
import re
import signal
import ssl
import subprocess
import time
import unittest
import urllib.request

from certificates import WithCertificates
from programs import BIN, LIMIT, SLOWNESS, USAGE, EndToEnd, clean_environment, fetch, free_port, free_ports

ETCD = pathlib.Path("/usr/bin/etcd")
TRIAL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "deploy" / "standby" / "etcd-trial"


class Etcd:
    """Three members of Debian's etcd-server, as tools/deploy/standby/etcd-trial starts them."""

    def __init__(self, directory):
        self.directory = directory
        self.commands, self.restarted = {}, []
        first = free_ports(6)
        self.clients = [first + i for i in range(3)]
        self.trial = subprocess.Popen([TRIAL, directory, str(first)], env=clean_environment())
        for port in self.clients:
            self.await_health(port)
        self.members = [int((directory / f"m{i}.pid").read_text()) for i in range(3)]

    def await_health(self, port):
        deadline = time.monotonic() + LIMIT
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as reply:
                    if json.load(reply)["health"] == "true":
                        return
            except OSError:
                if time.monotonic() > deadline:
                    raise
            time.sleep(0.1)

    def signal(self, number, *members):
        for i in members:
            os.kill(self.members[i], number)

    def kill(self, member):
        self.commands[member] = pathlib.Path(f"/proc/{self.members[member]}/cmdline").read_bytes().split(b"\0")[:-1]
        self.signal(signal.SIGKILL, member)

    def restart(self, member):
        with open(self.directory / f"m{member}.log", "ab") as log:
            self.restarted.append(subprocess.Popen(self.commands[member], stderr=log, env=clean_environment()))
        self.members[member] = self.restarted[-1].pid
        self.await_health(self.clients[member])

    @property
    def engine(self):
        return "etcd://" + ",".join(f"127.0.0.1:{port}" for port in self.clients)

    def stop(self):
        self.signal(signal.SIGCONT, 0, 1, 2)
        self.signal(signal.SIGKILL, 0, 1, 2)
        self.trial.terminate()
        for one in (self.trial, *self.restarted):
            one.wait()


@unittest.skipUnless(ETCD.exists(), "etcd-server is not installed")
class WithStandby(EndToEnd):

    def setUp(self):
        super().setUp()
        self.etcd = Etcd(self.directory)
        self.addCleanup(self.etcd.stop)
        self.ports = {}

    def coordinator(self, name, *arguments, tasks=4):
        port = self.ports.setdefault(name, free_port())
        one = self.start("coxswain", "serve", "-n", tasks, "--listen", f"127.0.0.1:{port}",
                         "--engine", self.etcd.engine, *arguments)
        one.line('"standby"')
        return one

    def pair(self, *arguments, **how):
        """The leader and its standby."""
        leader = self.coordinator("a", *arguments, **how)
        leader.line('"ready"')
        standby = self.coordinator("b", *arguments, **how)
        standby.line("this is a standby", "err")
        self.at = {"COXSWAIN_ADDRESS": ",".join(f"127.0.0.1:{p}" for p in self.ports.values())}
        return leader, standby


class Standby(WithStandby):

    def await_leader(self, one, since, within):
        one.line('"ready"')
        self.assertLess(time.monotonic() - since, within * SLOWNESS, one.output())

    def test_a_killed_leader_is_replaced_within_two_seconds(self):
        leader, standby = self.pair()
        self.assertEqual(self.succeed("incr", "n").out, "1\n")
        large = bytes(1_000_000)  # about as much as an entry of etcd may have
        self.succeed("put", "large", "-", input=large)
        since = time.monotonic()
        leader.signal(signal.SIGKILL)

        self.await_leader(standby, since, 2)
        self.assertEqual(self.succeed("incr", "n").out, "2\n")
        self.assertEqual(self.succeed("get", "large").stdout, large)

    def test_a_killed_leader_that_is_restarted_at_once_is_not_waited_for(self):
        leader, _ = self.pair()
        self.assertEqual(self.succeed("incr", "n").out, "1\n")
        since = time.monotonic()
        leader.signal(signal.SIGKILL)
        leader.wait()
        self.coordinator("a")

        self.assertEqual(self.succeed("incr", "n").out, "2\n")
        self.assertLess(time.monotonic() - since, 2 * SLOWNESS)

    def test_a_leader_that_is_ended_hands_over_at_once(self):
        leader, standby = self.pair()
        self.succeed("put", "a", "1")
        waiting = self.start("coxswain", "get", "later", "--wait", "60s", env=self.at)
        self.wait_for_status("a get", lambda now: now["waiting_gets"] == 1)
        since = time.monotonic()
        leader.signal(signal.SIGTERM)

        self.await_leader(standby, since, 1)
        self.assertEqual(leader.wait(), 0)
        self.assertEqual(self.succeed("get", "a").out, "1")
        self.succeed("put", "later", "x")
        self.assertEqual(waiting.wait(), 0, waiting.output())

    def test_the_leader_is_named_with_its_term_and_lag(self):
        leader, _ = self.pair("--http", "0")
        address = f"127.0.0.1:{self.ports['a']}"
        of_standby = {"COXSWAIN_ADDRESS": f"127.0.0.1:{self.ports['b']}"}
        refused = self.coxswain("status", "--connect-timeout", "1s", env=of_standby)
        self.assertIn(f"{address} leads it", refused.err)
        self.assertIn(f"{address} leads, term 1, etcd ", self.succeed("status").out)
        picture = json.loads(self.succeed("status", "--json").out)
        self.assertEqual((picture["leader"]["address"], picture["leader"]["term"]), (address, 1))

        http = json.loads(leader.line('"ready"'))["http"]
        code, text = fetch(f"http://{http}/readyz?verbose")
        self.assertEqual(code, 200)
        self.assertRegex(text, rf"leads the job: {address}, term 1, lag \d entr")
        code, text = fetch(f"http://{http}/metrics")
        self.assertRegex(text, r"(?m)^coxswain_leader 1$")
        self.assertRegex(text, r"(?m)^coxswain_term 1$")
        self.assertRegex(text, r"(?m)^coxswain_replication_lag_seconds ")

    def test_a_standby_says_by_http_who_leads(self):
        tokens = self.directory / "tokens"
        tokens.write_text("worker w1\nreader r1\n")
        leader, standby = self.pair("--http", "0", "--token-file", tokens)
        address = f"127.0.0.1:{self.ports['a']}"
        http = f"http://{json.loads(standby.line('standby'))['http']}"
        ready = (rf"standby: follows term 1, leader is {address}, up to date\n")
        deadline = time.monotonic() + LIMIT
        while not re.search(ready, fetch(f"{http}/readyz")[1]) and time.monotonic() < deadline:
            time.sleep(0.1)
        code, text = fetch(f"{http}/readyz")
        self.assertEqual(code, 503)
        self.assertRegex(text, ready)
        self.assertEqual(fetch(f"{http}/healthz"), (200, "ok\n"))
        code, text = fetch(f"{http}/")
        self.assertEqual(code, 200)
        self.assertIn(f"The leader is {address}", text)
        self.assertEqual(fetch(f"{http}/metrics")[0], 401)
        code, text = fetch(f"{http}/metrics", Authorization="Bearer r1")
        self.assertEqual(code, 200)
        for metric in ("leader 0", "term 1", "leader_known 1", "standby_hot 1",
                       "replication_lag_entries 0", "replication_lag_seconds 0"):
            self.assertIn(f"\ncoxswain_{metric}\n", text)
        code, text = fetch(f"{http}/api/v1/state", Authorization="Bearer r1")
        self.assertEqual(code, 503)
        self.assertIn(address, text)

        leader.signal(signal.SIGKILL)
        standby.line('"ready"')
        self.assertEqual(fetch(f"{http}/readyz"), (200, "ok\n"))

    def test_a_standby_leads_with_the_tokens_that_it_has_read_again(self):
        tokens = self.directory / "tokens"
        tokens.write_text("worker old\n")
        leader, standby = self.pair("--token-file", tokens)
        self.succeed("put", "a", "1", env={"COXSWAIN_TOKEN": "old"})
        tokens.write_text("worker new\n")
        for one in (leader, standby):
            one.signal(signal.SIGHUP)
            one.line("SIGHUP: read", "err")
        self.succeed("put", "b", "2", env={"COXSWAIN_TOKEN": "new"})
        leader.signal(signal.SIGKILL)
        standby.line('"ready"')

        self.assertEqual(self.succeed("get", "b", env={"COXSWAIN_TOKEN": "new"}).out, "2")
        self.assertNotEqual(self.coxswain("get", "a", env={"COXSWAIN_TOKEN": "old"}).code, 0)

    def test_a_post_is_answered_when_etcd_has_it_or_not_at_all(self):
        leader, _ = self.pair("--http", "0", tasks=1)
        url = f"http://{json.loads(leader.line('ready'))['http']}/api/v1/preempt"
        worker = self.start("coxswain", "task", "--task-id", 0, "--", "sleep", "60", env=self.at)
        self.wait_for_status("the task", lambda now: now["tasks"][0]["state"] == "connected")

        def post():
            return fetch(url, data=b'{"task": 0, "in": "10m"}', **{"Content-Type": "application/json"})

        self.assertEqual(post()[0], 200)
        self.etcd.signal(signal.SIGSTOP, 0, 1)
        code, text = post()
        self.assertEqual(code, 503, text)
        self.assertIn("UNAVAILABLE", text)
        worker.signal(signal.SIGKILL)

    def test_a_stopped_leader_is_replaced_and_becomes_the_standby(self):
        leader, standby = self.pair()
        self.succeed("incr", "n")
        since = time.monotonic()
        leader.signal(signal.SIGSTOP)
        try:
            self.await_leader(standby, since, 6)
            self.assertEqual(self.succeed("incr", "n").out, "2\n")
        finally:
            leader.signal(signal.SIGCONT)
        leader.line("this coordinator does not lead any more", "err")
        leader.line("this is a standby", "err")
        time.sleep(0.5)  # it connects to the leader, and so notices its end at once

        since = time.monotonic()
        standby.signal(signal.SIGKILL)
        deadline = since + LIMIT
        while leader.out.count('"ready"') < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertLess(time.monotonic() - since, 2 * SLOWNESS, leader.output())
        self.assertEqual(self.succeed("incr", "n").out, "3\n")

    def test_large_values_are_refused_or_volatile(self):
        large = bytes(range(256)) * 8192
        leader, standby = self.pair("--large-values", "volatile")
        stored = self.succeed("put", "large", "-", input=large)
        self.assertIn("the value of key 'large' is volatile", stored.err)
        self.succeed("put", "small", "1")
        self.assertEqual(self.coxswain("get", "large").stdout, large)
        since = time.monotonic()
        leader.signal(signal.SIGKILL)

        self.await_leader(standby, since, 2)
        standby.line("1 volatile value is lost", "err")
        waiting = self.start("coxswain", "get", "large", "--wait", "60s", env=self.at)
        self.wait_for_status("a get", lambda now: now["waiting_gets"] == 1)
        self.assertEqual(self.succeed("get", "small").out, "1")
        self.succeed("put", "large", "again")
        self.assertEqual(waiting.wait(), 0, waiting.output())
        self.assertEqual(waiting.out, "again")

    def test_without_a_quorum_the_job_waits_and_goes_on(self):
        leader, standby = self.pair(tasks=1)
        worker = self.start("coxswain", "task", "--task-id", 0, "--", "sh", "-c",
                            f"{BIN / 'coxswain'} get --wait 300s go && "
                            f"{BIN / 'coxswain'} incr n", env=self.at)
        self.wait_for_status("a get", lambda now: now["waiting_gets"] == 1)
        self.etcd.signal(signal.SIGSTOP, 0, 1)
        leader.line("this coordinator does not lead any more", "err")
        time.sleep(5)
        self.etcd.signal(signal.SIGCONT, 0, 1)

        self.succeed("put", "go", "1", "--connect-timeout", "60s")
        self.assertEqual(worker.wait(), 0, worker.output())
        self.assertEqual(self.succeed("get", "n").out, "1")

    def test_members_of_etcd_are_stopped_in_turn_under_load(self):
        self.pair()
        load = self.start("/bin/sh", "-c", f"for i in $(seq 200); do {BIN / 'coxswain'} incr n || exit 1; "
                          "done", env=self.at)
        for member in range(3):
            time.sleep(1)
            self.etcd.signal(signal.SIGSTOP, member)
            time.sleep(2)
            self.etcd.signal(signal.SIGCONT, member)

        self.assertEqual(load.wait(), 0, load.output())
        self.assertEqual(self.succeed("get", "n").out, "200")

    def test_the_end_of_the_job_ends_both(self):
        leader, standby = self.pair("--exit-when-done", tasks=1)
        worker = self.start("coxswain", "task", "--task-id", 0, "--", "/bin/true", env=self.at)

        self.assertEqual(worker.wait(), 0, worker.output())
        self.assertEqual(leader.wait(), 0, leader.output())
        self.assertEqual(standby.wait(), 0, standby.output())
        standby.line("the job is done, and so this standby ends", "err")

    def test_what_cannot_work_is_refused(self):
        leader, _ = self.pair()
        other = self.start("coxswain", "serve", "-n", 5, "--listen", "127.0.0.1:0", "--engine",
                           self.etcd.engine)
        self.assertEqual(other.wait(), USAGE)
        other.line("num_tasks", "err")
        far = self.start("coxswain", "serve", "-n", 1, "--engine", "etcd://192.0.2.1:2379")
        self.assertEqual(far.wait(), USAGE)
        far.line("--engine-ca", "err")
        self.assertIsNone(leader.process.poll())


@unittest.skipUnless(ETCD.exists(), "etcd-server is not installed")
class Protected(WithCertificates):
    """A member of etcd that wants certificates and a password."""

    def start_etcd(self):
        self.port = free_ports(2)
        url, peers = f"https://127.0.0.1:{self.port}", f"http://127.0.0.1:{self.port + 1}"
        etcd = subprocess.Popen(
            [ETCD, "--data-dir", self.directory / "etcd", "--listen-client-urls", url, "--advertise-client-urls", url,
             "--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", f"default={peers}",
             "--cert-file", self.file("coordinator", "pem"), "--key-file", self.file("coordinator", "key"),
             "--trusted-ca-file", self.file("ca", "pem")], stderr=subprocess.DEVNULL, env=clean_environment())
        self.addCleanup(etcd.wait)
        self.addCleanup(etcd.kill)
        context = ssl.create_default_context(cafile=self.file("ca", "pem"))
        context.load_cert_chain(self.file("worker", "pem"), self.file("worker", "key"))

        def post(what, **fields):
            with urllib.request.urlopen(f"{url}/v3/auth/{what}", json.dumps(fields).encode(), timeout=LIMIT,
                                        context=context):
                return True

        self.await_reply(lambda: post("user/add", name="root", password="secret"))
        post("role/add", name="root")
        post("user/grant", user="root", role="root")
        post("enable")

    def await_reply(self, call):
        deadline = time.monotonic() + LIMIT
        while True:
            try:
                return call()
            except OSError:
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.1)

    def serve_with(self, login, ca="ca", shown="worker"):
        file = self.directory / "login"
        file.write_text(login)
        file.chmod(0o600)
        ours = ("--engine-cert", self.file(shown, "pem"), "--engine-key", self.file(shown, "key")) if shown else ()
        return self.start("coxswain", "serve", "-n", 1, "--listen", "127.0.0.1:0", "--engine",
                          f"etcd://127.0.0.1:{self.port}", "--engine-login", file, "--engine-ca", self.file(ca, "pem"), *ours)

    def test_etcd_may_want_a_certificate_and_a_password(self):
        self.authority("other")
        self.start_etcd()
        for given, why in ((("root wrong",), "authentication failed"),
                           (("root secret", "other"), "none of the authorities that this side knows has signed it"),
                           (("root secret", "ca", None), "The peer has refused the connection")):
            refused = self.serve_with(*given)
            self.assertIn(why, refused.line("warning: etcd: ", "err"))
            refused.end()

        self.serve_with("root secret").line('"ready"')


if __name__ == "__main__":
    unittest.main()
