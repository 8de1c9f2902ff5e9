#pragma once
// Events of sessions of both sides.

#include "coxswain/http2/error_code.hpp"
#include "coxswain/http2/stream_id.hpp"

#include <cstdint>
#include <string>

namespace coxswain::http2 {

// A ping was acknowledged.
struct ping_answer {
  std::uint64_t payload;
};

// The peer has sent GOAWAY: it serves no streams after `last`, and continues with all others.
struct peer_goodbye {
  stream_id last;
  error_code why;
  std::string text;
};

}  // namespace coxswain::http2
