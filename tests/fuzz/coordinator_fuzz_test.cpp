// The coordinator's core in many random worlds.

#include "tests/fuzz/chance.hpp"
#include "tests/fuzz/coordinator_world.hpp"

#include <boost/test/unit_test.hpp>

namespace coxswain::core {
namespace {

using test::dice;
using test::seed;
using test::times;

BOOST_AUTO_TEST_SUITE(coordinator_fuzz_test)

// The seed of a failing run repeats it alone, as the first one.
BOOST_AUTO_TEST_CASE(whatever_clients_say_and_however_connections_break_the_rules_hold) {
  for (std::uint64_t i = 0; i < times(4000); ++i) {
    BOOST_TEST_CONTEXT("COXSWAIN_SEED=" << seed() + i) { run_world(dice{seed() + i}); }
  }
}

BOOST_AUTO_TEST_CASE(the_same_input_gives_the_same_output) {
  for (std::uint64_t i = 0; i < times(100); ++i) {
    BOOST_TEST_CONTEXT("COXSWAIN_SEED=" << seed() + i) {
      auto const first = run_world(dice{seed() + i});
      auto const second = run_world(dice{seed() + i});

      if (first != second) BOOST_ERROR("the outputs differ");
      BOOST_TEST(!first.empty());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::core
