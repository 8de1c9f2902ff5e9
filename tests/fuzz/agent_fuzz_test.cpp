// The client's agent in many random worlds.

#include "tests/fuzz/agent_world.hpp"
#include "tests/fuzz/chance.hpp"

#include <boost/test/unit_test.hpp>

namespace coxswain {
namespace {

using test::dice;
using test::seed;
using test::times;

BOOST_AUTO_TEST_SUITE(agent_fuzz_test)

// The seed of a failing run repeats it alone, as the first one.
BOOST_AUTO_TEST_CASE(whatever_a_coordinator_says_and_whenever_each_call_completes_once) {
  for (std::uint64_t i = 0; i < times(4000); ++i) {
    BOOST_TEST_CONTEXT("COXSWAIN_SEED=" << seed() + i) { run_agent_world(dice{seed() + i}); }
  }
}

BOOST_AUTO_TEST_CASE(the_same_input_gives_the_same_output) {
  for (std::uint64_t i = 0; i < times(100); ++i) {
    BOOST_TEST_CONTEXT("COXSWAIN_SEED=" << seed() + i) {
      auto const first = run_agent_world(dice{seed() + i});
      auto const second = run_agent_world(dice{seed() + i});

      if (first != second) BOOST_ERROR("the outputs differ");
      BOOST_TEST(!first.empty());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain
