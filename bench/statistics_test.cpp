#include "statistics.hpp"

#include <boost/test/unit_test.hpp>

#include <numeric>
#include <vector>

namespace coxswain::bench {
namespace {

std::vector<double> one_to(int n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

BOOST_AUTO_TEST_SUITE(statistics)

BOOST_AUTO_TEST_CASE(percentile_is_the_nearest_rank) {
  auto const values = one_to(100);

  BOOST_TEST(percentile(values, 0) == 1);
  BOOST_TEST(percentile(values, 0.5) == 50);
  BOOST_TEST(percentile(values, 0.99) == 99);
  BOOST_TEST(percentile(values, 0.991) == 100);
  BOOST_TEST(percentile(values, 1) == 100);
}

BOOST_AUTO_TEST_CASE(percentile_of_few_values_is_one_of_them) {
  BOOST_TEST(percentile(std::vector<double>{7}, 0.99) == 7);
  BOOST_TEST(percentile(one_to(3), 0.5) == 2);
  BOOST_TEST(percentile({}, 0.5) == 0);
}

BOOST_AUTO_TEST_CASE(median_needs_no_order) {
  BOOST_TEST(median({3, 1, 2}) == 2);
  BOOST_TEST(median({4, 1, 3, 2}) == 2.5);
  BOOST_TEST(median({}) == 0);
}

BOOST_AUTO_TEST_CASE(summary_counts_and_orders) {
  auto const s = summarise({5, 1, 4, 2, 3});

  BOOST_TEST(s.count == 5u);
  BOOST_TEST(s.p50 == 3);
  BOOST_TEST(s.p99 == 5);
  BOOST_TEST(s.max == 5);
}

// The ranks are those of the tables for the sign test: 15 values give ranks 4 and 12 (96.5 %).
BOOST_AUTO_TEST_CASE(median_interval_of_fifteen_lies_between_ranks_4_and_12) {
  auto const found = median_interval(one_to(15), 0.95);

  BOOST_TEST(found.low == 4);
  BOOST_TEST(found.high == 12);
  BOOST_TEST(found.coverage == 0.9648, boost::test_tools::tolerance(0.001));
}

BOOST_AUTO_TEST_CASE(median_interval_of_six_is_their_range_and_just_enough) {
  auto const found = median_interval({6, 5, 4, 3, 2, 1}, 0.95);

  BOOST_TEST(found.low == 1);
  BOOST_TEST(found.high == 6);
  BOOST_TEST(found.coverage == 0.96875, boost::test_tools::tolerance(0.001));
}

BOOST_AUTO_TEST_CASE(median_interval_of_too_few_says_what_it_is_worth) {
  auto const found = median_interval({2, 1, 3}, 0.95);

  BOOST_TEST(found.low == 1);
  BOOST_TEST(found.high == 3);
  BOOST_TEST(found.coverage == 0.75, boost::test_tools::tolerance(0.001));
}

BOOST_AUTO_TEST_CASE(median_interval_of_one_or_none_is_empty) {
  BOOST_TEST(median_interval({9}, 0.95).low == 9);
  BOOST_TEST(median_interval({9}, 0.95).high == 9);
  BOOST_TEST(median_interval({9}, 0.95).coverage == 0);
  BOOST_TEST(median_interval({}, 0.95).coverage == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::bench
