#include "power_law.hpp"

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <vector>

namespace coxswain::bench {
namespace {

BOOST_AUTO_TEST_SUITE(power_laws)

BOOST_AUTO_TEST_CASE(an_exact_law_is_found_without_doubt) {
  auto const law = power_law::fit({{1, 3}, {10, 300}, {100, 30'000}, {1'000, 3'000'000}});

  BOOST_TEST(law.exponent() == 2, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(law.high() - law.low() < 1e-6);
  BOOST_TEST(law.at(50) == 7'500, boost::test_tools::tolerance(1e-9));
}

// By hand: logarithms to base 10 of y are 0, 1.1, 1.9, 3 at x = 0, 1, 2, 3; the slope is 0.98, the
// sum of squares left 0.018, its error sqrt(0.009 / 5), and t for two degrees 4.303.
BOOST_AUTO_TEST_CASE(what_scatters_has_the_interval_of_the_textbook) {
  auto const law =
      power_law::fit({{1, 1}, {10, std::pow(10, 1.1)}, {100, std::pow(10, 1.9)}, {1'000, 1'000}});

  BOOST_TEST(law.exponent() == 0.98, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(law.high() - law.exponent() == 4.303 * std::sqrt(0.009 / 5),
             boost::test_tools::tolerance(1e-6));
  BOOST_TEST(law.exponent() - law.low() == law.high() - law.exponent(),
             boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(too_little_says_nothing_of_the_exponent) {
  for (auto const& few : {std::vector<point>{}, std::vector<point>{{1, 1}, {2, 4}},
                          std::vector<point>{{5, 1}, {5, 2}, {5, 3}}}) {
    auto const law = power_law::fit(few);

    BOOST_TEST(law.exponent() == 0);
    BOOST_TEST(std::isinf(law.low()));
    BOOST_TEST(std::isinf(law.high()));
  }
}

BOOST_AUTO_TEST_CASE(the_quantile_is_that_of_the_tables) {
  auto const near = boost::test_tools::tolerance(0.005);
  BOOST_TEST(student_t(1) == 12.706, near);
  BOOST_TEST(student_t(4) == 2.776, near);
  BOOST_TEST(student_t(5) == 2.571, near);
  BOOST_TEST(student_t(10) == 2.228, near);
  BOOST_TEST(student_t(61) == 1.9996, near);
  BOOST_TEST(student_t(100'000) == 1.96, near);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::bench
