"""JAX processes at an address that asks for certificates."""

import socket
import ssl
import unittest

from harness import LIMIT, Agent, WithAgents, grpc
from certificates import WithCertificates
from jax_agent import channel_to


class Tls(WithCertificates, WithAgents):

    def serve_jax(self):
        """A coordinator whose JAX processes need a certificate, as do its native clients, with a token."""
        token = self.directory / "token"
        token.write_text("secret\n")
        self.coordinator = self.serve(1, *self.shown("coordinator"), "--token-file", token,
                                      "--xla-listen", "127.0.0.1:0")
        self.address = self.coordinator.ready["xla_addresses"][0]

    def channel(self, shown=None, authority="ca"):
        def content(name, kind):
            return self.file(name, kind).read_bytes()

        own = (content(shown, "key"), content(shown, "pem")) if shown else (None, None)
        made = channel_to(self.address, credentials=grpc.ssl_channel_credentials(
            content(authority, "pem"), *own))
        self.addCleanup(made.close)
        return made

    def assert_refused(self, channel, logged):
        agent = Agent(None, 0, channel=channel)
        with self.fails("UNAVAILABLE"):
            agent.try_get("k")
        self.coordinator.line(logged, "err")

    def test_a_process_with_a_certificate_is_served(self):
        self.serve_jax()

        agent = self.agent(0, address="", channel=self.channel("worker")).connect()
        agent.insert("k", b"v")
        self.assertEqual(agent.barrier("b"), 0)
        agent.heartbeat()

        native = self.succeed("get", "k", *self.shown("worker"), env={"COXSWAIN_TOKEN": "secret"})
        self.assertEqual(native.out, "v")
        agent.shutdown()

    def test_a_process_without_a_certificate_is_refused(self):
        self.serve_jax()

        self.assert_refused(self.channel(), "The peer has shown no certificate")

    def spoken(self, offered, given):
        """The protocol that was chosen of those that a peer with a certificate offers, and what it is answered."""
        context = ssl.create_default_context(cafile=self.file("ca", "pem"))
        context.load_cert_chain(self.file("worker", "pem"), self.file("worker", "key"))
        context.set_alpn_protocols(offered)
        host, _, port = self.address.rpartition(":")
        with socket.create_connection((host, int(port)), LIMIT) as plain, \
                context.wrap_socket(plain, server_hostname=host) as peer:
            peer.sendall(given)
            return peer.selected_alpn_protocol(), peer.recv(4096)

    def test_http_2_is_chosen_from_the_offered_protocols_and_others_are_refused(self):
        self.serve_jax()
        preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])

        for offered in (["h2"], ["grpc-exp", "h2"], ["http/1.1", "h2"]):
            chosen, answer = self.spoken(offered, preface)
            self.assertEqual((chosen, answer[3]), ("h2", 4), offered)  # a SETTINGS frame
        for offered in (["http/1.1"], ["spdy/3"]):
            chosen, answer = self.spoken(offered, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertIsNone(chosen)
            self.assertIn(b"does not speak HTTP", answer)


if __name__ == "__main__":
    unittest.main()
