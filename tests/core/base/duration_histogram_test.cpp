#include "coxswain/base/duration_histogram.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <functional>

namespace coxswain {
namespace {

BOOST_AUTO_TEST_SUITE(duration_histogram_test)

BOOST_AUTO_TEST_CASE(the_bounds_of_the_buckets_rise) {
  auto const& bounds = duration_histogram::bounds;

  BOOST_TEST(
      (std::adjacent_find(bounds.begin(), bounds.end(), std::greater_equal{}) == bounds.end()));
}

BOOST_AUTO_TEST_CASE(a_bound_belongs_to_the_bucket_below_it) {
  duration_histogram h;
  h.record(0ns);
  h.record(10us);
  h.record(10us + 1ns);
  h.record(25us);

  BOOST_TEST(h.counts()[0] == 2u);
  BOOST_TEST(h.counts()[1] == 2u);
  BOOST_TEST(h.counts()[2] == 0u);
}

BOOST_AUTO_TEST_CASE(durations_above_all_bounds_have_their_own_bucket) {
  duration_histogram h;
  h.record(300s);
  h.record(300s + 1ns);
  h.record(1h);

  BOOST_TEST(h.counts()[duration_histogram::bounds.size() - 1] == 1u);
  BOOST_TEST(h.counts()[duration_histogram::bounds.size()] == 2u);
}

BOOST_AUTO_TEST_CASE(durations_are_counted_and_summed) {
  duration_histogram h;
  BOOST_TEST(h.count() == 0u);
  h.record(1ms);
  h.record(2s);

  BOOST_TEST(h.count() == 2u);
  BOOST_TEST((h.sum() == 2001ms));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain
