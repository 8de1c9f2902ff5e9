#include "axis.hpp"

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <string>

namespace coxswain::bench {
namespace {

// "1 ms|2 ms": those with a label.
std::string labels(axis const& a) {
  std::string all;
  for (auto const& t : a.ticks()) {
    if (!t.label.empty()) all += (all.empty() ? "" : "|") + t.label;
  }
  return all;
}

bool rises_between_the_ends(axis const& a) {
  auto last = -1.0;
  for (auto const& t : a.ticks()) {
    auto const place = a.place(t.value);
    if (place <= last || place > 1 || t.value < a.low() - 1e-9) return false;
    last = place;
  }
  return true;
}

BOOST_AUTO_TEST_SUITE(axes)

BOOST_AUTO_TEST_CASE(equal_factors_are_equally_far_on_a_logarithmic_axis) {
  auto const a = axis::times(1e3, 1e7);

  BOOST_TEST(a.place(1e5) - a.place(1e4) == a.place(1e4) - a.place(1e3),
             boost::test_tools::tolerance(1e-9));
  BOOST_TEST(a.place(1e3) > 0);
  BOOST_TEST(a.place(1e7) < 1);
  BOOST_TEST(a.place(1e3) == 1 - a.place(1e7), boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(what_is_beyond_an_end_is_put_there) {
  auto const a = axis::times(1e3, 1e7);

  BOOST_TEST(a.place(1) == 0);
  BOOST_TEST(a.place(1e12) == 1);
}

BOOST_AUTO_TEST_CASE(half_is_in_the_middle_between_a_share_and_its_rest) {
  auto const a = axis::shares(0.01, 0.999);

  BOOST_TEST(a.place(0.5) - a.place(0.1) == a.place(0.9) - a.place(0.5),
             boost::test_tools::tolerance(1e-9));
  BOOST_TEST(a.place(0.01) == 0);
  BOOST_TEST(a.place(0.999) == 1);
}

BOOST_AUTO_TEST_CASE(shares_are_labelled_up_to_the_end) {
  BOOST_TEST(labels(axis::shares(0.01, 0.99995)) ==
             "1 %|10 %|25 %|50 %|75 %|90 %|99 %|99.9 %|99.99 %");
  BOOST_TEST(labels(axis::shares(0.1, 0.99)) == "10 %|25 %|50 %|75 %|90 %|99 %");
}

BOOST_AUTO_TEST_CASE(a_narrow_range_of_times_has_even_ticks) {
  BOOST_TEST(labels(axis::times(9e6, 15e6)) == "9 ms|10 ms|11 ms|12 ms|13 ms|14 ms|15 ms");
  BOOST_TEST(labels(axis::times(10.02e3, 10.11e3)) == "9.9 us|10 us|10.1 us|10.2 us|10.3 us");
}

BOOST_AUTO_TEST_CASE(a_wide_range_of_times_has_ones_twos_and_fives) {
  BOOST_TEST(labels(axis::times(12e3, 900e3)) == "20 us|50 us|100 us|200 us|500 us|1 ms");
}

BOOST_AUTO_TEST_CASE(a_very_wide_range_of_times_has_powers_of_ten) {
  BOOST_TEST(labels(axis::times(8e2, 3e9)) == "1 us|10 us|100 us|1 ms|10 ms|100 ms|1 s");
}

BOOST_AUTO_TEST_CASE(counts_are_written_in_groups) {
  BOOST_TEST(labels(axis::counts(1'000, 100'000)) ==
             "1,000|2,000|5,000|10,000|20,000|50,000|100,000");
  BOOST_TEST(labels(axis::counts_up_to(1'000'000)) ==
             "0|200,000|400,000|600,000|800,000|1,000,000");
}

BOOST_AUTO_TEST_CASE(bytes_are_even_in_mebibytes) {
  BOOST_TEST(labels(axis::bytes_up_to(30.0 * 1024 * 1024)) ==
             "0 MiB|5 MiB|10 MiB|15 MiB|20 MiB|25 MiB|30 MiB");
}

BOOST_AUTO_TEST_CASE(every_axis_of_times_has_some_ticks_and_not_too_many) {
  for (double low = 1; low < 1e10; low *= 1.37) {
    for (double wide = 1; wide < 1e8; wide *= 1.73) {
      auto const a = axis::times(low, low * wide);
      auto labelled = 0;
      for (auto const& t : a.ticks()) labelled += t.label.empty() ? 0 : 1;

      BOOST_TEST_CONTEXT(low << " to " << low * wide) {
        BOOST_TEST(labelled >= 2);
        BOOST_TEST(labelled <= 12);
        BOOST_TEST(rises_between_the_ends(a));
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::bench
