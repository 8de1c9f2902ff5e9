#pragma once
// A client's agent between random callers and a random coordinator, which says what a coordinator
// says, at the wrong time, or noise.

#include "tests/fuzz/chance.hpp"

#include <string>

namespace coxswain {

// One run of some hundred steps, told by its dice. Reports a violation of what does not hold: each
// call is completed exactly once, and none that was cancelled; every frame sent is a request that a
// coordinator understands, and is sent while there is a transport; commands to open and to close
// take turns; nothing that is due is left behind; once the session is over, nothing is open and
// nothing is wanted any more. Returns everything that the agent gave out.
std::string run_agent_world(test::dice chance);

}  // namespace coxswain
