// A stream of decisions: what clients ask of a coordinator, what becomes of their connections, and
// how time passes.

#include "tests/fuzz/coordinator_world.hpp"
#include "tests/fuzz/targets/target.hpp"

namespace coxswain::test {

void try_input(std::string_view input) { core::run_world(random_source{input}); }

}  // namespace coxswain::test
