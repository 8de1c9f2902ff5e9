// The client's agent in many random worlds.

#include "tests/fuzz/agent_world.hpp"
#include "tests/fuzz/many_worlds.hpp"

#include <utility>

namespace coxswain::test {
namespace {

BOOST_AUTO_TEST_SUITE(agent_fuzz_test)

BOOST_AUTO_TEST_CASE(whatever_a_coordinator_says_and_whenever_each_call_completes_once) {
  run_many([](dice chance) { run_agent_world(std::move(chance)); });
}

BOOST_AUTO_TEST_CASE(the_same_input_gives_the_same_output) {
  run_each_twice([](dice chance) { return run_agent_world(std::move(chance)); });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
