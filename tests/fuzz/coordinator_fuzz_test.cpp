// The coordinator's core in many random worlds.

#include "tests/fuzz/coordinator_world.hpp"
#include "tests/fuzz/many_worlds.hpp"

#include <utility>

namespace coxswain::test {
namespace {

BOOST_AUTO_TEST_SUITE(coordinator_fuzz_test)

BOOST_AUTO_TEST_CASE(the_rules_hold_whatever_clients_send_and_however_connections_break) {
  run_many([](random_source rng) { core::run_world(std::move(rng)); });
}

BOOST_AUTO_TEST_CASE(the_same_input_gives_the_same_output) {
  run_each_twice([](random_source rng) { return core::run_world(std::move(rng)); });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
