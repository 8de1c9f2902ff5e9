// Timeouts of any unit and length.

#include "coxswain/base/time.hpp"

#include <boost/test/unit_test.hpp>

#include <limits>

namespace coxswain {
namespace {

using seconds_of_float = std::chrono::duration<double>;

bool gives(time_limit given, duration expected) { return duration{given} == expected; }

BOOST_AUTO_TEST_SUITE(time_limit_test)

BOOST_AUTO_TEST_CASE(every_unit_is_converted) {
  BOOST_TEST(gives(5s, duration{5s}));
  BOOST_TEST(gives(1ns, 1ns));
  BOOST_TEST(gives(seconds_of_float{0.25}, 250ms));
  BOOST_TEST(gives(without_limit - 1ns, without_limit - 1ns));
}

BOOST_AUTO_TEST_CASE(a_duration_too_long_to_represent_is_unlimited) {
  BOOST_TEST(gives(without_limit, without_limit));
  BOOST_TEST(gives(std::chrono::hours::max(), without_limit));
  BOOST_TEST(gives(std::chrono::years::max(), without_limit));
  BOOST_TEST(gives(seconds_of_float{std::numeric_limits<double>::infinity()}, without_limit));
}

BOOST_AUTO_TEST_CASE(negative_durations_count_as_zero) {
  BOOST_TEST(gives(0s, 0s));
  BOOST_TEST(gives(-1ns, 0s));
  BOOST_TEST(gives(duration::min(), 0s));
  BOOST_TEST(gives(std::chrono::hours::min(), 0s));
  BOOST_TEST(gives(seconds_of_float{std::numeric_limits<double>::quiet_NaN()}, 0s));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain
