#include "histogram.hpp"

#include "tally.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <string_view>

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
  BOOST_TEST(h.percentile(1) == 100);
}

BOOST_AUTO_TEST_CASE(any_time_is_told_with_at_most_a_twentieth_of_a_percent_of_error) {
  for (std::int64_t ns = 1; ns < 4'000'000'000'000; ns += 1 + ns / 7) {
    histogram h;
    h.add(ns);
    h.add(INT64_MAX / 2);  // so that the middle of the step is told, not the longest time

    BOOST_TEST(h.percentile(0.5) == static_cast<double>(ns), boost::test_tools::tolerance(0.0005));
  }
}

BOOST_AUTO_TEST_CASE(the_bars_are_the_times_that_occurred_and_the_longest_is_exact) {
  histogram h;
  h.add(7, 3);
  h.add(5);
  h.add(123'456'789);

  auto const bars = h.bars();
  BOOST_REQUIRE(bars.size() == 3u);
  BOOST_TEST(bars[0].ns == 5);
  BOOST_TEST(bars[0].times == 1u);
  BOOST_TEST(bars[1].ns == 7);
  BOOST_TEST(bars[1].times == 3u);
  BOOST_TEST(bars[2].ns == 123'456'789);
  BOOST_TEST(histogram{}.bars().empty());
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

}  // namespace
}  // namespace coxswain::bench
