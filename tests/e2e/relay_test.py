"""coxswain relay: tasks behind relays, which are killed, stopped and started again."""

import json
import os
import signal
import subprocess
import time
import unittest

from programs import BIN, PATH, REFUSED, SLOWNESS, UNAVAILABLE, USAGE

from restart_test import WithJournal


class Relay(WithJournal):

    def work(self, tasks, script):
        program = BIN / "coxswain"
        return [self.start("coxswain", "task", "--task-id", number, "--", "sh", "-c",
                           script.replace("coxswain", str(program)), env=self.at)
                for number in range(tasks)]

    def test_64_sessions_share_one_connection(self):
        coordinator = self.serve(64)
        relay = self.relay(coordinator)
        self.at = {"COXSWAIN_ADDRESS": relay.address}
        tasks = self.work(64, "coxswain barrier all")
        for one in tasks:
            self.assertEqual(one.wait(), 0, one.output())
        state = json.loads(self.succeed("status", "--json").out)
        peers = {task["peer"] for task in state["tasks"]}
        self.assertEqual(len(peers), 64, peers)
        for peer in peers:
            self.assertIn(" via relay, unix: process ", peer)
        trunks = {peer.split(" via ")[0] for peer in peers}
        self.assertEqual(len(trunks), 1, trunks)
        (listed,) = state["relays"]
        self.assertEqual(listed["peer"], trunks.pop())
        # The command itself.
        self.assertEqual((listed["clients"], listed["clients_paused"]), (1, 0))
        row = " +".join([listed["label"], listed["peer"], "1", "0 "])
        self.assertRegex(self.succeed("status").out, row)
        relay.signal(signal.SIGTERM)
        self.assertEqual(relay.wait(), 0, relay.output())

    def test_a_command_that_fails_after_its_relay_has_ended_ends_its_task_at_once(self):
        for options in ((), ("--jax",)):
            relay = self.relay(self.serve(1))
            end = self.directory / f"end{len(options)}"
            task = self.start("coxswain", "task", "--task-id", 0, *options, "--", "sh", "-c",
                              f"echo runs; until [ -e {end} ]; do sleep 0.02; done; exit 3",
                              env={"COXSWAIN_ADDRESS": relay.address})
            task.line("runs")
            self.kill(relay)

            begin = time.monotonic()
            end.touch()

            self.assertEqual(task.wait(), 3, task.output())
            self.assertLess(time.monotonic() - begin, 3 * SLOWNESS)
            self.assertIn(f"its failure could not be reported: UNAVAILABLE: no process serves {relay.address}",
                          task.err)

    def raw(self, task, relay, then):
        """A task of few words, without a client's library, which then does as ordered."""
        script = f"""
import os, socket, sys, time
s = socket.socket(socket.AF_UNIX)
s.connect({relay.address.removeprefix("unix:")!r})
hello = b"\\x22\\x02\\x08\\x02"
join = b"\\x08\\x01\\x18" + bytes([{task}]) + b"\\x42\\x09\\x09" + bytes(7) + b"\\x01"
for payload in hello, join:
    s.sendall(len(payload).to_bytes(4, "big") + payload)
print("joined", flush=True)
{then}
"""
        child = subprocess.Popen(["python3", "-c", script], stdout=subprocess.PIPE)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        self.assertEqual(child.stdout.readline(), b"joined\n")
        return child

    def test_the_end_of_a_process_needs_no_grace(self):
        in_child = "os.fork() or (time.sleep(5), os._exit(0)); time.sleep(100)"
        for name, then in (("alone", "time.sleep(100)"), ("parent", in_child)):
            with self.subTest(name):
                coordinator = self.serve(1, "--reconnect-grace", "60s")
                child = self.raw(0, self.relay(coordinator, name=name), then)
                coordinator.line("all 1 tasks have joined", "err")
                began = time.monotonic()
                child.kill()
                coordinator.line("the process of task 0 ended without leaving", "err")
                self.assertLess(time.monotonic() - began, 4 * SLOWNESS)

    @unittest.skipIf(os.getuid() != 0, "needs another user")
    def test_the_clients_of_a_relay_learn_that_the_coordinator_stops(self):
        coordinator = self.serve(1)
        relay = self.relay(coordinator)
        at = {"COXSWAIN_ADDRESS": f"{relay.address},{coordinator.addresses[0]}"}
        watchers = [self.start("coxswain", "watch", env=at) for _ in range(4)]
        self.wait_for_status("the watchers", lambda s: s["relays"] and s["relays"][0]["clients"] == 4)

        self.stop(coordinator)

        for watcher in watchers:
            self.assertEqual(watcher.wait(), UNAVAILABLE, watcher.err)
            self.assertIn("the coordinator is stopping: the coordinator was ended by SIGTERM", watcher.err)

    def test_other_users_need_permission(self):
        coordinator = self.serve(1)
        os.chmod(self.directory, 0o755)
        for arguments, code in (([], 1), (["--all-users"], 0)):
            name = "-".join(["relay", *arguments])
            relay = self.relay(coordinator, *arguments, name=name)
            connect = ("import socket; socket.socket(socket.AF_UNIX)"
                       f".connect({relay.address.removeprefix('unix:')!r})")
            done = subprocess.run(["python3", "-c", connect], user=65534, stderr=subprocess.PIPE,
                                  check=False)
            self.assertEqual(done.returncode, code, done.stderr)

    def test_a_relays_token_is_for_relays_only(self):
        tokens = self.directory / "tokens"
        tokens.write_text("worker w\nrelay r\nreader l\n")
        coordinator = self.serve(1, "--token-file", tokens)
        upstream = coordinator.addresses[0]
        refused = self.start("coxswain", "relay", "--upstream", upstream, "--listen",
                             f"unix:{self.directory}/refused.sock", env={"COXSWAIN_TOKEN": "l"})
        self.assertEqual(refused.wait(), REFUSED, refused.output())
        self.assertIn("a relay needs a token with the role relay or worker", refused.err)
        relay = self.relay(coordinator, env={"COXSWAIN_TOKEN": "r"})
        for token, code in (("r", REFUSED), ("x", REFUSED), ("w", 0)):
            one = self.start("coxswain", "status", "--address", relay.address,
                             env={"COXSWAIN_TOKEN": token})
            self.assertEqual(one.wait(), code, one.output())

    def trunks(self, state):
        """Of the tasks, each once."""
        peers = [task["peer"] for task in state["tasks"]]
        for peer in peers:
            self.assertIn(" via relay, ", peer)
        return {peer.split(" via ")[0] for peer in peers}

    def test_run_starts_a_relay(self):
        script = "coxswain barrier all && coxswain status --json; coxswain barrier told"
        run = self.start("coxswain", "run", "-n", 3, "--relay", "--", BIN / "coxswain", "task", "--",
                         "sh", "-c", script, env=PATH)
        self.assertEqual(run.wait(), 0, run.output())
        notice = [json.loads(line.split("] ", 1)[1]) for line in run.lines["out"]
                if "{" in line]
        self.assertEqual(len(notice), 3)
        self.assertEqual(len(self.trunks(notice[0])), 1)

    def test_the_tasks_of_a_host_share_a_relay(self):
        coordinator = self.serve(3)
        runtime = self.directory / "runtime"
        runtime.mkdir(mode=0o700)
        env = {"COXSWAIN_ADDRESS": coordinator.addresses[0], "XDG_RUNTIME_DIR": str(runtime)}
        tasks = [self.start("coxswain", "task", "--relay", "--task-id", number, "--", BIN / "coxswain",
                            "barrier", "all", env=env) for number in range(2)]
        self.wait_for_status("two tasks", lambda state: sum(
            task["state"] == "joining" for task in state["tasks"]) == 2)
        tasks.append(self.start("coxswain", "task", "--relay", "--task-id", 2, "--", BIN / "coxswain",
                                "barrier", "all", env=env))
        for one in tasks:
            self.assertEqual(one.wait(), 0, one.output())
        self.assertEqual(len(self.trunks(self.status())), 1)
        self.assertEqual(len(list((runtime / "coxswain").glob("relay-*"))), 1)
        self.stop(coordinator)
        until = time.monotonic() + 30
        while list((runtime / "coxswain").glob("relay-*")):
            self.assertLess(time.monotonic(), until, "the relay goes on")
            time.sleep(0.05)

    def job_with_token(self):
        token = self.directory / "token"
        if not token.exists():
            token.touch(mode=0o600)
            token.write_text("secret")
        return self.serve_journal(1, "--token-file", token)

    def test_a_relay_names_its_port_to_programs_of_torch(self):
        coordinator = self.job_with_token()
        env = {"COXSWAIN_ADDRESS": coordinator.addresses[0], "COXSWAIN_TOKEN": "secret"}
        found = set()
        for _ in range(2):
            task = self.start("coxswain", "task", "--relay", "--task-id", 0, "--recoverable", "--returning", "--", "sh", "-c",
                              "echo $MASTER_ADDR:$MASTER_PORT $TORCHELASTIC_USE_AGENT_STORE", env=env)
            self.assertEqual(task.wait(), 0, task.output())
            found.add(task.out)
        (one,) = found
        self.assertRegex(one, r"^127\.0\.0\.1:\d+ True$")

    def test_an_idle_relay_ends_if_it_is_to(self):
        relay = self.relay(self.serve(1), "--until-idle", "100ms")
        self.assertEqual(relay.wait(), 0, relay.output())

    def test_usage(self):
        one = self.start("coxswain", "relay", "--listen", "unix:/tmp/x")
        self.assertEqual(one.wait(), USAGE)
        self.assertIn("--upstream is required", one.err)


if __name__ == "__main__":
    unittest.main()
