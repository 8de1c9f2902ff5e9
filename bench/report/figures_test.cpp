#include "report/figures.hpp"

#include "load/tally.hpp"

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

namespace coxswain::bench {
namespace {

BOOST_AUTO_TEST_SUITE(histograms)

BOOST_AUTO_TEST_CASE(small_times_are_exact) {
  histogram h;
  for (std::int64_t ns = 1; ns <= 100; ++ns) h.add(ns);

  BOOST_TEST(h.count() == 100u);
  BOOST_TEST(h.percentile(0) == 1);
  BOOST_TEST(h.percentile(0.5) == 50);
  BOOST_TEST(h.percentile(0.99) == 99);
  BOOST_TEST(h.percentile(0.991) == 100);
  BOOST_TEST(h.percentile(1) == 100);
}

BOOST_AUTO_TEST_CASE(any_time_is_told_with_at_most_a_twentieth_of_a_percent_of_error) {
  for (std::int64_t ns = 1; ns < 4'000'000'000'000; ns += 1 + ns / 7) {
    histogram h;
    h.add(ns);
    h.add(INT64_MAX / 2);  // so that the figure is the middle of the step, not the longest time

    BOOST_TEST(h.percentile(0.5) == static_cast<double>(ns), boost::test_tools::tolerance(0.0005));
  }
}

BOOST_AUTO_TEST_CASE(the_longest_time_is_exact) {
  histogram h;
  h.add(123'456'789);

  BOOST_TEST(h.summarise().max == 123'456'789);
  BOOST_TEST(h.percentile(0.5) <= 123'456'789);
}

BOOST_AUTO_TEST_CASE(without_times_all_is_zero) {
  BOOST_TEST(histogram{}.percentile(0.5) == 0);
  BOOST_TEST(histogram{}.summarise().max == 0);
}

BOOST_AUTO_TEST_CASE(a_negative_time_counts_as_zero) {
  histogram h;
  h.add(-5);

  BOOST_TEST(h.count() == 1u);
  BOOST_TEST(h.percentile(1) == 0);
}

BOOST_AUTO_TEST_CASE(two_together_are_as_one_that_was_given_all) {
  histogram low;
  histogram high;
  for (std::int64_t ns = 1; ns <= 50; ++ns) low.add(ns);
  for (std::int64_t ns = 51; ns <= 100; ++ns) high.add(ns);

  low.add(high);

  BOOST_TEST(low.count() == 100u);
  BOOST_TEST(low.percentile(0.5) == 50);
  BOOST_TEST(low.percentile(0.999) == 100);
}

BOOST_AUTO_TEST_CASE(a_tally_survives_the_way_to_another_process) {
  tally sent;
  sent.operations = 7;
  sent.elapsed = 3s;
  sent.busy = 2s;
  sent.latencies.resize(2);
  sent.latencies[0].add(1'000'000, 3);
  sent.latencies[1].add(5);

  auto const got = tally::from_bytes(sent.to_bytes());

  BOOST_TEST(got.operations == 7u);
  BOOST_TEST((got.elapsed == 3s));
  BOOST_TEST((got.busy == 2s));
  BOOST_TEST(got.latencies.size() == 2u);
  BOOST_TEST(got.latencies[0].count() == 3u);
  BOOST_TEST(got.latencies[0].summarise().max == 1'000'000);
  BOOST_TEST(got.latencies[1].percentile(0.5) == 5);
}

BOOST_AUTO_TEST_CASE(a_tally_that_was_cut_off_is_read_without_harm) {
  tally sent;
  sent.latencies.resize(1);
  sent.latencies[0].add(5);
  auto const bytes = sent.to_bytes();

  auto const got = tally::from_bytes(std::string_view{bytes}.substr(0, bytes.size() - 8));

  BOOST_TEST(got.latencies.size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

std::vector<double> one_to(int n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

BOOST_AUTO_TEST_SUITE(statistics)

BOOST_AUTO_TEST_CASE(median_needs_no_order) {
  BOOST_TEST(median({3, 1, 2}) == 2);
  BOOST_TEST(median({4, 1, 3, 2}) == 2.5);
  BOOST_TEST(median({}) == 0);
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

BOOST_AUTO_TEST_SUITE(power_laws)

BOOST_AUTO_TEST_CASE(an_exact_law_is_found_without_doubt) {
  auto const law = power_law::fit({{1, 3}, {10, 300}, {100, 30'000}, {1'000, 3'000'000}});

  BOOST_TEST(law.exponent == 2, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(law.high - law.low < 1e-6);
}

// By hand: logarithms to base 10 of y are 0, 1.1, 1.9, 3 at x = 0, 1, 2, 3; the slope is 0.98, the
// sum of squares left 0.018, its error sqrt(0.009 / 5), and t for two degrees 4.302653.
BOOST_AUTO_TEST_CASE(what_scatters_has_the_interval_of_the_textbook) {
  auto const law =
      power_law::fit({{1, 1}, {10, std::pow(10, 1.1)}, {100, std::pow(10, 1.9)}, {1'000, 1'000}});

  BOOST_TEST(law.exponent == 0.98, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(law.high - law.exponent == 4.302653 * std::sqrt(0.009 / 5),
             boost::test_tools::tolerance(1e-6));
  BOOST_TEST(law.exponent - law.low == law.high - law.exponent, boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(too_little_says_nothing_of_the_exponent) {
  for (auto const& few : {std::vector<point>{}, std::vector<point>{{1, 1}, {2, 4}},
                          std::vector<point>{{5, 1}, {5, 2}, {5, 3}}}) {
    auto const law = power_law::fit(few);

    BOOST_TEST(law.exponent == 0);
    BOOST_TEST(std::isinf(law.low));
    BOOST_TEST(std::isinf(law.high));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::bench
