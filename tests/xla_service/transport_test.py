"""Valid and invalid HTTP/2 and gRPC at the address for JAX programs."""

import gzip
import os
import socket
import stat
import time
import unittest

from harness import LIMIT, SLOWNESS, WithAgents, grpc
from messages import Fixed64, encode, key_value
from programs import USAGE
from raw_peer import RawPeer


class WithRawPeers(WithAgents):

    def raw(self, address=None):
        made = RawPeer(address or self.coordinator.addresses[0])
        self.addCleanup(made.close)
        return made

    def insert(self, key, value):
        """A call of the second generation, which names no task."""
        return encode({1: key_value(key, value), 2: True})

    def assert_well(self, agent):
        """Expects a timely reply, whatever others do."""
        begun = time.monotonic()
        agent.heartbeat()
        self.assertLess(time.monotonic() - begun, 15 * SLOWNESS)  # the agent waits for 50 s
        self.assertIsNone(agent.error)


class Calls(WithRawPeers):

    def test_one_port_serves_both_protocols(self):
        agent, = self.job(1)
        agent.insert("k", b"v")

        self.assertEqual(self.succeed("get", "k").out, "v")

    def test_compressed_requests_are_accepted(self):
        agent, = self.job(1)
        value = b"equal" * 200_000

        agent.insert("k", value)  # gRPC compresses it

        self.assertEqual(agent.get("k"), value)

    def test_a_request_that_inflates_above_the_limit_is_refused_and_its_connection_continues(self):
        self.coordinator = self.serve(1, "--value-bytes-max", "1MiB")
        peer = self.raw()
        bomb = gzip.compress(bytes(64 * 1024 * 1024))

        headers, _ = peer.call("InsertKeyValue", bomb, package="tensorflow", flag=1, grpc_encoding="gzip")

        self.assertEqual(headers["grpc-status"], "8")
        headers, _ = peer.call("InsertKeyValue", gzip.compress(self.insert("k", b"v")), package="tensorflow",
                               flag=1, grpc_encoding="gzip")
        self.assertEqual(headers["grpc-status"], "0")

    def test_a_large_value_is_transferred_beside_heartbeats(self):
        self.coordinator = self.serve(1)
        agent = self.agent(0).connect()
        value = os.urandom(1 << 20) * 100

        write = agent.start("InsertKeyValue", agent.requests.insert("k", value, False),
                            compression=grpc.Compression.NoCompression)
        while not write.done():
            self.assert_well(agent)
        agent.result_of(write)
        read = agent.start_get("k")
        while not read.done():
            self.assert_well(agent)
        self.assertEqual(agent.value_of(agent.result_of(read)), value)

    def test_a_value_passes_small_windows_beside_heartbeats(self):
        agent, = self.job(1)
        value = os.urandom(8 << 20)
        agent.insert("k", value)
        peer = self.raw()  # its windows are of 64 KiB

        read = peer.start("TryGetKeyValue", encode({1: "k"}), package="tensorflow")
        while not peer.streams[read]["over"]:
            self.assertTrue(peer.read(LIMIT))
        self.assert_well(agent)

        headers, message = peer.result(read)
        self.assertEqual(headers["grpc-status"], "0")
        self.assertTrue(message.endswith(value))

    def test_errors_are_small_enough_for_the_client(self):
        self.coordinator = self.serve(100_000, "--no-join-barrier")
        peer = self.raw()
        own = {1: "jax_worker", 2: 0}
        headers, _ = peer.call("RegisterTask", encode({3: Fixed64(1), 5: encode(own)}), package="tensorflow")
        self.assertEqual(headers["grpc-status"], "0", headers)
        for name in ("b", "ü" * 500, "\u4e16" * 1000):
            with self.subTest(name=name[:3]):
                headers, _ = peer.call("Barrier", encode({1: name, 2: 100, 4: encode(own)}),
                                       package="tensorflow")
                self.assertEqual(headers["grpc-status"], "4")
                size = sum(len(n) + len(v) + 32 for n, v in headers.items())
                self.assertLess(size, 8000)


class Addresses(WithRawPeers):

    def token(self):
        file = self.directory / "token"
        file.write_text("secret\n")
        return file

    def test_with_a_token_jax_needs_its_own_address(self):
        path = self.directory / "jax"
        self.coordinator = self.serve(1, "--token-file", self.token(), "--xla-listen", f"unix:{path}")
        self.assertEqual(self.coordinator.ready["xla_addresses"], [f"unix:{path}"])
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o700)

        with self.fails("UNAUTHENTICATED", "--xla-listen"):
            self.agent(0).connect()

        jax = self.agent(0, address=f"unix:{path}").connect()
        jax.insert("k", b"v")
        self.assertEqual(self.succeed("get", "k", env={"COXSWAIN_TOKEN": "secret"}).out, "v")
        done = self.coxswain("get", "k", "--address", f"unix:{path}", "--connect-timeout", "5s",
                             env={"COXSWAIN_TOKEN": "secret"})
        self.assertNotEqual(done.code, 0)
        self.assertIn("JAX", done.err)
        jax.shutdown()

    def test_an_unprotected_address_needs_xla_insecure(self):
        done = self.run_to_end("coxswain", "serve", "-n", 1, "--token-file", self.token(),
                               "--listen", "127.0.0.1:0", "--xla-listen", "127.0.0.1:0")

        self.assertEqual(done.code, USAGE, done.output())
        self.assertIn("act for any task", done.err)

    def test_only_hosts_of_the_list_may_connect(self):
        for allowed, is_ours in (("10.0.0.0/8,127.0.0.2", False), ("10.0.0.0/8,127.0.0.0/8", True)):
            with self.subTest(allowed=allowed):
                self.coordinator = self.serve(1, "--token-file", self.token(), "--xla-listen",
                                              "127.0.0.1:0", "--xla-allow", allowed)
                at = self.coordinator.ready["xla_addresses"][0]
                if is_ours:
                    self.agent(0, address=at).connect()
                else:
                    self.assertEqual(self.raw_end(at), b"")
                self.stop(self.coordinator)

    @staticmethod
    def raw_end(address):
        host, _, port = address.rpartition(":")
        with socket.create_connection((host, int(port))) as peer:
            peer.settimeout(LIMIT)
            try:
                return peer.recv(1)
            except ConnectionResetError:
                return b""

    def test_a_wrong_range_of_hosts_is_refused(self):
        done = self.run_to_end("coxswain", "serve", "-n", 1, "--listen", "127.0.0.1:0", "--xla-allow",
                               "10.0.0.0/33")

        self.assertEqual(done.code, USAGE, done.output())
        self.assertIn("10.0.0.0/33", done.err)


class Faults(WithRawPeers):

    def test_a_burst_of_cancelled_calls_is_tolerated(self):
        agent, = self.job(1)
        waiting = [agent.start_get(f"k{n}") for n in range(3000)]
        for call in waiting:
            call.cancel()

        self.assert_well(agent)

    def test_a_client_that_never_reads_its_socket_is_disconnected(self):
        self.coordinator = self.serve(1, "--stalled-reader-timeout", "500ms")
        agent = self.agent(0).connect()
        agent.insert("k", os.urandom(1 << 20))
        peer = self.raw()
        peer.h2.increment_flow_control_window(1 << 30)
        peer.h2.update_settings({4: (1 << 31) - 1})
        peer.flush()
        peer.read()
        begun = time.monotonic()
        for _ in range(64):
            peer.start("TryGetKeyValue", encode({1: "k"}), package="tensorflow")

        self.wait_for_status("its end", lambda s: s["sessions"] <= 3)
        self.assertLess(time.monotonic() - begun, 15 * SLOWNESS)  # its heartbeat timeout is 100 s
        self.assert_well(agent)


if __name__ == "__main__":
    unittest.main()
