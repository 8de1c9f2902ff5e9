#pragma once
// A coordinator, random clients that say random things to it over connections that are lost at
// random, and random time.

#include "tests/fuzz/chance.hpp"

#include <string>

namespace coxswain::core {

// One run of some hundred steps, told by its dice. Reports a violation of what does not hold: the
// coordinator's invariants; every request is answered at most once as far as its client can see,
// and none by anything but its own answer; who is connected is answered when its deadline has come;
// an increment takes effect exactly once; nothing is left of sessions that are gone. Returns
// everything that the coordinator sent and logged.
std::string run_world(test::dice chance);

}  // namespace coxswain::core
