#pragma once
// Two ends of TLS over a pair of sockets, for tests.

#include "coxswain/net/tls_stream.hpp"
#include "tests/certificates/authority.hpp"
#include "tests/net/sockets.hpp"

#include <memory>
#include <string>
#include <utility>

namespace coxswain::net {

inline std::unique_ptr<byte_stream> plain(socket socket) {
  return std::make_unique<socket_stream>(std::move(socket));
}

// A server, and a client that has reached it as `host`.
struct tls_pair {
  tls_pair(tls_options const& server, tls_options const& client, std::string host = "localhost")
      : tls_pair{server, client, std::move(host), unix_pair()} {}

  tls_pair(tls_options const& server, tls_options const& client, std::string host,
           std::pair<socket, socket> ends)
      : server_context{tls_context::side::server, server},
        client_context{tls_context::side::client, client},
        here{plain(std::move(ends.first)), server_context},
        there{plain(std::move(ends.second)), client_context, std::move(host)} {}

  // Runs until both sides have ended or are blocked; true if both are done. With
  // TLS 1.3 a client is done before the server has looked at its certificate.
  bool shake_hands() {
    using step = tls_stream::step;
    auto at_there = step::wants_read;
    auto at_here = step::wants_read;
    for (int i = 0; i < 10; ++i) {
      if (at_there == step::wants_read) at_there = there.handshake();
      if (at_here == step::wants_read) at_here = here.handshake();
    }
    return at_there == step::done && at_here == step::done;
  }

  tls_context server_context;
  tls_context client_context;
  tls_stream here;
  tls_stream there;
};

}  // namespace coxswain::net
