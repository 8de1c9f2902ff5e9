#pragma once
// When somebody showed signs of life, measured so that a stall of the coordinator's own loop can
// be credited afterwards (semantics D6).

#include "coxswain/base/time.hpp"

namespace coxswain::core {

struct liveness {
  time_point since{};         // the last sign of life, or the beginning of a grace
  duration stalled_before{};  // the coordinator's total of stalls at that moment
};

}  // namespace coxswain::core
