#pragma once
// An HTTP/2 session with a peer that sends anything, and an owner that does anything. Reports what
// does not hold.

#include "tests/fuzz/chance.hpp"

#include <cstddef>

namespace coxswain::http2 {

// What happened in a world, so that a test can see that it is not empty.
struct http2_world_counts {
  std::size_t calls{};     // whole requests, or messages of replies
  std::size_t endings{};   // calls cancelled by the peer, or ended
  std::size_t refusals{};  // sessions that ended for what the peer sent
};

// A server, or a client with calls, for as long as chance lasts, and for so many steps at most:
// its memory is bounded by what it was given, all of it is counted, and given back; each call is
// found once, and ends once.
http2_world_counts try_server(test::dice& chance, std::size_t steps_max);
http2_world_counts try_client(test::dice& chance, std::size_t steps_max);

}  // namespace coxswain::http2
