"""The addresses for JAX programs, and who may use them."""

import socket
import stat
import unittest

from harness import LIMIT, WithAgents
from programs import USAGE


class Calls(WithAgents):

    def test_one_port_serves_both_protocols(self):
        agent, = self.job(1)
        agent.insert("k", b"v")

        self.assertEqual(self.succeed("get", "k").out, "v")

    def test_compressed_requests_are_accepted(self):
        agent, = self.job(1)
        value = b"equal" * 200_000

        agent.insert("k", value)  # gRPC compresses it

        self.assertEqual(agent.get("k"), value)


class Addresses(WithAgents):

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


if __name__ == "__main__":
    unittest.main()
