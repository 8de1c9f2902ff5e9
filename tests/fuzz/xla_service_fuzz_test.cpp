// The service for JAX processes in many random worlds.

#include "tests/fuzz/many_worlds.hpp"
#include "tests/fuzz/xla_service_world.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <utility>

namespace coxswain::xla {
namespace {

using coxswain::test::random_source;
using coxswain::test::seed;
using coxswain::test::times;

// Each has some hundred calls of a whole job.
constexpr std::uint64_t worlds = 1'000;

BOOST_AUTO_TEST_SUITE(xla_service_fuzz_test)

BOOST_AUTO_TEST_CASE(each_call_has_one_reply_and_nothing_leaks_whatever_clients_call) {
  for (std::uint64_t i = 0; i < times(worlds); ++i) {
    BOOST_TEST_CONTEXT("COXSWAIN_SEED=" << seed() + i) {
      run_xla_service_world(random_source{seed() + i});
    }
  }
}

BOOST_AUTO_TEST_CASE(the_same_input_gives_the_same_output) {
  coxswain::test::run_each_twice(
      [](random_source rng) { return run_xla_service_world(std::move(rng)); });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::xla
