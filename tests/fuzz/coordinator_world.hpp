#pragma once
// A coordinator, and random clients that send random messages over connections that are lost at
// random, in random time.

#include "tests/fuzz/random_source.hpp"

#include <string>

namespace coxswain::core {

// One run of some hundred steps, chosen by `rng`. Reports a violation of these rules: the
// coordinator's invariants; a client sees at most one answer to each request, and of the right
// kind; a connected client is answered when its deadline expires; an increment takes effect exactly
// once; nothing is kept of sessions that are gone. Returns all messages and log lines of the
// coordinator.
std::string run_world(test::random_source rng);

}  // namespace coxswain::core
