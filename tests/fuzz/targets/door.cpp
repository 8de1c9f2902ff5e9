// A stream of decisions: what JAX processes call, what becomes of their connections, and how time
// passes.

#include "tests/fuzz/door_world.hpp"
#include "tests/fuzz/targets/target.hpp"

namespace coxswain::test {

void try_input(std::string_view input) { xla::run_door_world(random_source{input}); }

}  // namespace coxswain::test
