#pragma once
// What sessions of both sides find in their input.

#include "coxswain/http2/session.hpp"
#include "coxswain/http2/stream_id.hpp"

#include <cstdint>
#include <string>

namespace coxswain::http2 {

// The answer to a ping.
struct ping_answer {
  std::uint64_t payload;
};

// The peer has sent GOAWAY: it does not serve streams after `last`, and goes on with all others.
struct peer_goodbye {
  stream_id last;
  error_code why;
  std::string text;
};

}  // namespace coxswain::http2
