#pragma once
// The time of a peer's last sign of life, measured so that a stall of the coordinator's own loop
// can be credited afterwards (§4.2).

#include "coxswain/base/time.hpp"

#include <algorithm>

namespace coxswain::core {

struct liveness {
  time_point since{};         // the last sign of life, or the beginning of a grace
  duration stalled_before{};  // the coordinator's total of stalls at that moment

  // The time between these two, as far as it follows the sign of life, does not count: neither
  // silence nor a stall.
  void leave_out(liveness const& from, liveness const& to) {
    since += to.since - std::max(since, from.since);
    stalled_before += to.stalled_before - std::max(stalled_before, from.stalled_before);
  }
};

}  // namespace coxswain::core
