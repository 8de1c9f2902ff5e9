#pragma once
// Runs a random world many times. With the seed of a failing run, that run comes first.

#include "tests/fuzz/random_source.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>

namespace coxswain::test {

template <class Run>
void run_many(Run run) {
  for (std::uint64_t i = 0; i < times(4000); ++i) {
    BOOST_TEST_CONTEXT("COXSWAIN_SEED=" << seed() + i) { run(random_source{seed() + i}); }
  }
}

// The same input gives the same output.
template <class Run>
void run_each_twice(Run run) {
  for (std::uint64_t i = 0; i < times(100); ++i) {
    BOOST_TEST_CONTEXT("COXSWAIN_SEED=" << seed() + i) {
      auto const first = run(random_source{seed() + i});
      auto const second = run(random_source{seed() + i});

      if (first != second) BOOST_ERROR("the outputs differ");
      BOOST_TEST(!first.empty());
    }
  }
}

}  // namespace coxswain::test
