#pragma once
// How a connection ended (§4.1).

#include <cstdint>

namespace coxswain::core {

enum class loss : std::uint8_t {
  closed,       // end of file, reset: the grace decides
  unreachable,  // time-out, no route: the heartbeat deadline decides
  exited,       // the process of the client has ended: no grace
  trunk_closed  // that of the relay which carried it was closed: the relay's grace decides
};

}  // namespace coxswain::core
