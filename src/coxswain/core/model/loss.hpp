#pragma once
// How a connection ended (semantics D5).

#include <cstdint>

namespace coxswain::core {

enum class loss : std::uint8_t {
  closed,       // end of file, reset: the grace decides
  unreachable,  // time-out, no route: the heartbeat deadline decides
};

}  // namespace coxswain::core
