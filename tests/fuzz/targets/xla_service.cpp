// A stream of decisions: what JAX processes call, what becomes of their connections, and how time
// passes.

#include "tests/fuzz/targets/target.hpp"
#include "tests/fuzz/xla_service_world.hpp"

namespace coxswain::test {

void try_input(std::string_view input) { xla::run_xla_service_world(random_source{input}); }

}  // namespace coxswain::test
