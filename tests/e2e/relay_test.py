"""coxswain relay: tasks behind relays, which are killed, stopped and started again."""

import json
import random
import signal
import time
import unittest

from programs import BIN, EndToEnd, REFUSED, USAGE

from restart_test import WithJournal


class Relay(WithJournal):

    def relay(self, coordinator, *arguments, name="relay", env=None):
        path = self.directory / f"{name}.sock"
        upstream = ",".join(coordinator.addresses)
        started = self.start("coxswain", "relay", "--upstream", upstream, "--listen",
                             f"unix:{path}", *arguments, env=env)
        started.address = json.loads(started.line('"event":"ready"'))["addresses"][0]
        return started

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
            self.assertEqual(one.wait(), 0, one.said())
        state = json.loads(self.succeed("status", "--json").out)
        peers = {task["peer"] for task in state["tasks"]}
        self.assertEqual(len(peers), 64, peers)
        for peer in peers:
            self.assertIn(" via relay, unix: process ", peer)
        trunks = {peer.split(" via ")[0] for peer in peers}
        self.assertEqual(len(trunks), 1, trunks)
        relay.signal(signal.SIGTERM)
        self.assertEqual(relay.wait(), 0, relay.said())

    def test_a_killed_relay_and_a_killed_coordinator_lose_nothing(self):
        tasks, kills, rounds = 4, 6, 3
        coordinator = self.serve_journal(tasks)
        direct = coordinator.addresses[0]
        relay = self.relay(coordinator)
        self.at = {"COXSWAIN_ADDRESS": f"{relay.address},{direct}"}
        running = self.work(
            tasks,
            f"for kill in $(seq {kills + 1}); do coxswain get --wait 300s go/$kill || exit 1; "
            f"for round in $(seq {rounds}); do coxswain incr count || exit 1; "
            "coxswain barrier step || exit 1; done; done")

        for number in range(1, kills + 1):
            self.succeed("put", f"go/{number}", "1")
            time.sleep(random.uniform(0, 0.3))
            if number % 2:
                self.kill(relay)
                relay = self.relay(coordinator)
            else:
                self.kill(coordinator)
                coordinator = self.serve_journal(tasks)
        self.succeed("put", f"go/{kills + 1}", "1")

        for one in running:
            self.assertEqual(one.wait(), 0, one.said())
        self.assertEqual(self.succeed("get", "count").out, str(tasks * (kills + 1) * rounds))
        self.stop(coordinator)

    def test_a_stopped_relay_is_left_for_the_coordinator(self):
        coordinator = self.serve(2, "--heartbeat-timeout", "3s")
        relay = self.relay(coordinator)
        self.at = {"COXSWAIN_ADDRESS": f"{relay.address},{coordinator.addresses[0]}"}
        running = self.work(2, "coxswain barrier before && coxswain get --wait 300s go && "
                            "coxswain barrier after")
        coordinator.line("all 2 tasks have joined", "err")
        relay.signal(signal.SIGSTOP)
        self.at = {"COXSWAIN_ADDRESS": coordinator.addresses[0]}
        time.sleep(0.1)
        self.succeed("put", "go", "1")
        began = time.monotonic()
        for one in running:
            self.assertEqual(one.wait(), 0, one.said())
        self.assertLess(time.monotonic() - began, 30)
        relay.signal(signal.SIGCONT)

    def test_a_relays_token_is_for_relays_only(self):
        tokens = self.directory / "tokens"
        tokens.write_text("worker w\nrelay r\nreader l\n")
        coordinator = self.serve(1, "--token-file", tokens)
        upstream = coordinator.addresses[0]
        refused = self.start("coxswain", "relay", "--upstream", upstream, "--listen",
                             f"unix:{self.directory}/refused.sock", env={"COXSWAIN_TOKEN": "l"})
        self.assertEqual(refused.wait(), REFUSED, refused.said())
        self.assertIn("a relay needs a token with the role relay or worker", refused.err)
        relay = self.relay(coordinator, env={"COXSWAIN_TOKEN": "r"})
        for token, code in (("r", REFUSED), ("x", REFUSED), ("w", 0)):
            one = self.start("coxswain", "status", "--address", relay.address,
                             env={"COXSWAIN_TOKEN": token})
            self.assertEqual(one.wait(), code, one.said())

    def test_usage(self):
        one = self.start("coxswain", "relay", "--listen", "unix:/tmp/x")
        self.assertEqual(one.wait(), USAGE)
        self.assertIn("--upstream is required", one.err)


if __name__ == "__main__":
    unittest.main()
