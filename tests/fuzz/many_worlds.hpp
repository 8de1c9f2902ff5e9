#pragma once
// A random world, run again and again. The seed of a failing run repeats it alone, as the first
// one.

#include "tests/fuzz/chance.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>

namespace coxswain::test {

template <class Run>
void run_many(Run run) {
  for (std::uint64_t i = 0; i < times(4000); ++i) {
    BOOST_TEST_CONTEXT("COXSWAIN_SEED=" << seed() + i) { run(dice{seed() + i}); }
  }
}

// The same input gives the same output.
template <class Run>
void run_each_twice(Run run) {
  for (std::uint64_t i = 0; i < times(100); ++i) {
    BOOST_TEST_CONTEXT("COXSWAIN_SEED=" << seed() + i) {
      auto const first = run(dice{seed() + i});
      auto const second = run(dice{seed() + i});

      if (first != second) BOOST_ERROR("the outputs differ");
      BOOST_TEST(!first.empty());
    }
  }
}

}  // namespace coxswain::test
