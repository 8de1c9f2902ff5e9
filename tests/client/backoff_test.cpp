#include "coxswain/client/agent/backoff.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>

namespace coxswain::test {

using detail::backoff;

BOOST_AUTO_TEST_SUITE(backoff_waits)

BOOST_AUTO_TEST_CASE(the_first_attempt_has_no_delay) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    backoff b{seed, 10ms, 1s};
    BOOST_TEST((b.next() == duration::zero()));
  }
}

BOOST_AUTO_TEST_CASE(bounds_double_up_to_the_cap_and_delays_use_the_whole_range) {
  duration const bounds[] = {10ms, 20ms, 40ms, 80ms, 100ms, 100ms, 100ms};
  duration longest[7]{};
  duration shortest[7];
  std::fill_n(shortest, 7, duration::max());
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    backoff b{seed, 10ms, 100ms};
    (void)b.next();
    for (std::size_t i = 0; i < 7; ++i) {
      auto const wait = b.next();
      longest[i] = std::max(longest[i], wait);
      shortest[i] = std::min(shortest[i], wait);
    }
  }

  for (std::size_t i = 0; i < 7; ++i) {
    BOOST_TEST((longest[i] <= bounds[i]));
    BOOST_TEST((longest[i] > bounds[i] * 99 / 100));
    BOOST_TEST((shortest[i] < bounds[i] / 100));
  }
}

BOOST_AUTO_TEST_CASE(the_cap_may_be_below_the_first_bound) {
  backoff b{1, 10ms, 1s};
  b.cap(1ms);
  for (int i = 0; i < 1'000; ++i) BOOST_TEST((b.next() <= 1ms));
}

BOOST_AUTO_TEST_CASE(a_cap_of_zero_never_waits) {
  backoff b{1, 10ms, 0s};
  for (int i = 0; i < 1'000; ++i) BOOST_TEST((b.next() == duration::zero()));
}

BOOST_AUTO_TEST_CASE(many_attempts_do_not_overflow) {
  backoff b{1, 10ms, duration::max()};
  for (int i = 0; i < 1'000; ++i) BOOST_TEST((b.next() >= duration::zero()));
}

BOOST_AUTO_TEST_CASE(reset_makes_the_next_attempt_the_first) {
  backoff b{1, 10ms, 1s};
  for (int i = 0; i < 10; ++i) (void)b.next();

  b.reset();

  BOOST_TEST((b.next() == duration::zero()));
  BOOST_TEST((b.next() <= 10ms));
}

BOOST_AUTO_TEST_CASE(seeds_differ) {
  backoff a{1, 1s, 1s};
  backoff b{2, 1s, 1s};
  (void)a.next();
  (void)b.next();

  BOOST_TEST((a.next() != b.next()));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
