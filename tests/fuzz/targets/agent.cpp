// A stream of decisions: what callers ask of a client's agent, what its coordinator says and what
// becomes of the connection.

#include "tests/fuzz/agent_world.hpp"
#include "tests/fuzz/targets/target.hpp"

namespace coxswain::test {

void try_input(std::string_view input) { run_agent_world(random_source{input}); }

}  // namespace coxswain::test
