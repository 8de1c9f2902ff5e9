// The client's agent in many random worlds.

#include "tests/fuzz/agent_world.hpp"
#include "tests/fuzz/many_worlds.hpp"

#include <utility>

namespace coxswain::test {
namespace {

BOOST_AUTO_TEST_SUITE(agent_fuzz_test)

BOOST_AUTO_TEST_CASE(each_call_completes_once_whatever_the_coordinator_sends) {
  run_many([](random_source rng) { run_agent_world(std::move(rng)); });
}

BOOST_AUTO_TEST_CASE(the_same_input_gives_the_same_output) {
  run_each_twice([](random_source rng) { return run_agent_world(std::move(rng)); });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
