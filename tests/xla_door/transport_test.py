"""Valid and invalid HTTP/2 and gRPC at the address for JAX programs."""

import gzip
import os
import socket
import stat
import time
import unittest

from harness import LIMIT, SLOWNESS, WithAgents, grpc
from messages import Fixed64, Requests, decode, encode, key_value, one
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

    def test_an_unknown_method_leaves_the_connection_open(self):
        self.coordinator = self.serve(1)
        peer = self.raw()

        headers, _ = peer.call("Nothing")
        self.assertEqual((headers[":status"], headers["grpc-status"]), ("200", "12"))
        headers, _ = peer.call("", path="/other.Service/Heartbeat")
        self.assertEqual(headers["grpc-status"], "12")
        headers, _ = peer.call("Heartbeat", content_type="text/plain")
        self.assertEqual(headers[":status"], "415")
        headers, _ = peer.call("InsertKeyValue", self.insert("k", b"v"), package="tensorflow")
        self.assertEqual(headers["grpc-status"], "0")

    def test_a_poll_ends_before_the_shutdown_is_answered(self):
        self.coordinator = self.serve(1)
        peer = self.raw()
        requests = Requests(3, 0, 77)
        _, reply = peer.call("RegisterTask", requests.register())
        requests.service_incarnation = one(decode(reply), 1)

        poll = peer.start("PollForError", requests.poll())
        shutdown = peer.start("ShutdownTask", requests.shutdown(), grpc_timeout="60S")
        ends = [peer.result(stream)[0]["grpc-status"] for stream in (poll, shutdown)]

        self.assertEqual(ends, ["1", "0"])  # CANCELLED, which is no error to the client, and OK
        self.assertEqual(peer.order[-2:], [poll, shutdown])

    def test_messages_that_cannot_be_read_fail_their_calls_only(self):
        self.coordinator = self.serve(1)
        peer = self.raw()

        for message in (b"\xff", b"\x0a\x05ab", b"\x08" + b"\xff" * 11):
            headers, _ = peer.call("InsertKeyValue", message, package="tensorflow")
            self.assertNotEqual(headers["grpc-status"], "0")
        headers, _ = peer.call("InsertKeyValue", self.insert("k", b"v"), package="tensorflow")
        self.assertEqual(headers["grpc-status"], "0")

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

    def test_an_unknown_compression_is_refused_with_the_supported_ones(self):
        self.coordinator = self.serve(1)
        headers, _ = self.raw().call("InsertKeyValue", b"?", package="tensorflow", flag=1,
                                     grpc_encoding="snappy")

        self.assertEqual(headers["grpc-status"], "12")
        self.assertIn("gzip", headers["grpc-accept-encoding"])

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

        self.assertEqual(done.code, USAGE, done.said())
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

    def test_an_unprotected_address_with_xla_insecure(self):
        self.coordinator = self.serve(1, "--token-file", self.token(), "--xla-listen", "127.0.0.1:0",
                                      "--xla-insecure")

        self.agent(0, address=self.coordinator.ready["xla_addresses"][0]).connect()

    def test_a_wrong_range_of_hosts_is_refused(self):
        done = self.run_to_end("coxswain", "serve", "-n", 1, "--listen", "127.0.0.1:0", "--xla-allow",
                               "10.0.0.0/33")

        self.assertEqual(done.code, USAGE, done.said())
        self.assertIn("10.0.0.0/33", done.err)


class Faults(WithRawPeers):

    def test_a_truncated_call_affects_no_others(self):
        agent, = self.job(1)
        for size in (0, 3, 5, 100):
            peer = self.raw()
            stream = peer.start("InsertKeyValue", b"", package="tensorflow", end=False)
            peer.send(stream, bytes(size), end=False)
            peer.close()

        self.assert_well(agent)

    def test_a_cancelled_call_is_forgotten(self):
        one, other = self.job(2)
        given_up = one.start_barrier("b")
        self.wait_for_arrivals("b", 1)

        given_up.cancel()

        self.wait_for_status("nobody there", lambda s: not any(
            b["name"] == "b" and b["arrived"] for b in s["barriers"]))
        self.assertEqual(len(set(self.all([one, other], lambda a: a.barrier("b")))), 1)

    def test_a_burst_of_cancelled_calls_is_tolerated(self):
        agent, = self.job(1)
        waiting = [agent.start_get(f"k{n}") for n in range(3000)]
        for call in waiting:
            call.cancel()

        self.assert_well(agent)

    def test_a_client_that_resets_many_streams_does_not_delay_others(self):
        agent, = self.job(1)
        peer = self.raw()
        try:
            for n in range(10_000):
                peer.reset(peer.start("GetKeyValue", encode({1: f"k{n}"}), package="tensorflow"))
                if n % 2000 == 0:
                    self.assert_well(agent)
                    peer.read(0.001)
                    if peer.ended:
                        break
        except (OSError, AssertionError):
            pass  # it was ended

        self.assert_well(agent)

    def test_a_flood_of_pings_ends_its_connection_only(self):
        agent, = self.job(1)
        peer = self.raw()
        try:
            for n in range(20_000):
                peer.h2.ping(n.to_bytes(8, "big"))
            peer.flush()
            peer.wait_for_end(30)
        except OSError:
            pass

        self.assert_well(agent)

    def test_a_client_with_a_closed_window_is_disconnected_and_others_are_served(self):
        self.coordinator = self.serve(1, "--stalled-reader-timeout", "500ms")
        agent = self.agent(0).connect()
        agent.insert("k", bytes(1 << 20))
        peer = self.raw()
        peer.gives_window = False

        for _ in range(8):
            peer.start("TryGetKeyValue", encode({1: "k"}), package="tensorflow")

        peer.wait_for_end(30)
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

    def test_slow_senders_of_large_values_delay_no_others(self):
        self.coordinator = self.serve(1, "--memory-max", "8MiB", "--stalled-reader-timeout", "3s")
        agent = self.agent(0).connect()
        size = 3 << 19
        peer = self.raw()
        slow = [peer.start("InsertKeyValue", bytes(50_000), package="tensorflow", end=False, announced=size)
                for _ in range(5)]
        self.assert_well(agent)

        agent.insert("k", os.urandom(size - 1000))  # there is no memory for a further one

        headers, _ = peer.result(slow[0])
        self.assertEqual(headers["grpc-status"], "8")
        self.assertIn(f"the request of {size} bytes arrives too slowly while others wait", headers["grpc-message"])
        self.coordinator.line("arrives too slowly", "err")
        headers, _ = peer.call("InsertKeyValue", self.insert("small", b"v"), package="tensorflow")
        self.assertEqual(headers["grpc-status"], "0")
        self.assert_well(agent)

    def test_a_goaway_of_one_client_affects_no_others(self):
        agent, = self.job(1)
        peer = self.raw()
        peer.call("InsertKeyValue", self.insert("k", b"v"), package="tensorflow")
        peer.h2.close_connection()
        peer.flush()
        peer.close()

        self.assert_well(agent)

    def test_bytes_that_are_not_http_are_refused(self):
        agent, = self.job(1)
        for noise in (b"PRI * HTTP/1.1\r\n\r\n" + bytes(64), b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\xff" * 64,
                      b"PRI "):
            with socket.create_connection(("127.0.0.1", int(self.coordinator.addresses[0].rpartition(":")[2]))) as s:
                s.sendall(noise)
                if len(noise) > 4:
                    s.settimeout(LIMIT)
                    while s.recv(4096):
                        continue

        self.assert_well(agent)


if __name__ == "__main__":
    unittest.main()
