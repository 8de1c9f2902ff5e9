#pragma once
// An HTTP/2 session with a random peer and a random owner. Reports violations.

#include "tests/fuzz/random_source.hpp"

#include <cstddef>

namespace coxswain::http2 {

// What happened in a run, so that a test can check that something did.
struct http2_world_counts {
  std::size_t calls{};     // complete requests, or reply messages
  std::size_t endings{};   // calls cancelled by the peer, or ended
  std::size_t refusals{};  // sessions ended by the peer's input
};

// Runs a server, or a client with calls, until `rng` is spent or for at most `steps` steps: its
// memory is bounded by its input, counted, and released; each call begins once and ends once.
http2_world_counts try_server(test::random_source& rng, std::size_t steps_max);
http2_world_counts try_client(test::random_source& rng, std::size_t steps_max);

}  // namespace coxswain::http2
