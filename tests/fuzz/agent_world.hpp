#pragma once
// A client's agent between random callers and a random coordinator, which sends valid messages, at
// the wrong time, or noise.

#include "tests/fuzz/random_source.hpp"

#include <string>

namespace coxswain {

// One run of some hundred steps, chosen by `rng`. Reports a violation of these rules: each call is
// completed exactly once unless it was cancelled; every frame sent is a request that a coordinator
// understands, sent while there is a transport; commands to open and close alternate; nothing due
// is left behind; once the session is over, nothing is open and nothing is requested. Returns all
// output of the agent.
std::string run_agent_world(test::random_source rng);

}  // namespace coxswain
