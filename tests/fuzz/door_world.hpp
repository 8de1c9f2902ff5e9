#pragma once
// The door for JAX processes before a real core, between clients that call anything, correctly or
// not, over connections that come and go.

#include "tests/fuzz/chance.hpp"

#include <string>

namespace coxswain::xla {

// One run of some hundred steps, told by its dice. Reports a violation of what does not hold: core
// and door are consistent after each step; each call has one reply, and none that was cancelled or
// lost its connection; an error fits into trailers; once all connections are closed, nothing is
// left and no memory is counted. Returns what the door gave out.
std::string run_door_world(test::dice chance);

}  // namespace coxswain::xla
