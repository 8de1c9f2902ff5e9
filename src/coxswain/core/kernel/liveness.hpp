#pragma once
// When somebody showed signs of life, measured so that a stall of the coordinator's own loop can
// be credited afterwards (semantics D6).

#include "coxswain/base/time.hpp"

#include <algorithm>

namespace coxswain::core {

struct liveness {
  time_point since{};         // the last sign of life, or the beginning of a grace
  duration stalled_before{};  // the coordinator's total of stalls at that moment

  // What passed between these two says nothing, as far as it came after the sign of life: neither
  // the silence counts nor a stall.
  void leave_out(liveness const& from, liveness const& to) {
    since += to.since - std::max(since, from.since);
    stalled_before += to.stalled_before - std::max(stalled_before, from.stalled_before);
  }
};

}  // namespace coxswain::core
