#include "distribution.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>

namespace coxswain::bench {
namespace {

histogram one_to(std::int64_t n) {
  histogram h;
  for (std::int64_t ns = 1; ns <= n; ++ns) h.add(ns);
  return h;
}

auto const near = 1e-9;

BOOST_AUTO_TEST_SUITE(distributions)

BOOST_AUTO_TEST_CASE(each_value_stands_in_the_middle_of_its_part) {
  auto const c = distribution(one_to(4));

  BOOST_REQUIRE(c.line.size() == 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    BOOST_TEST(c.line[i].x == static_cast<double>(i + 1));
    BOOST_TEST(c.line[i].y == 0.125 + 0.25 * static_cast<double>(i),
               boost::test_tools::tolerance(near));
  }
}

BOOST_AUTO_TEST_CASE(a_time_that_occurs_often_is_an_upright_piece) {
  histogram h;
  h.add(5, 3);
  h.add(9);
  auto const c = distribution(h);

  BOOST_REQUIRE(c.line.size() == 3u);
  BOOST_TEST(c.line[0].x == 5);
  BOOST_TEST(c.line[1].x == 5);
  BOOST_TEST(c.line[1].y == 0.625, boost::test_tools::tolerance(near));
  BOOST_TEST(c.line[2].x == 9);
}

BOOST_AUTO_TEST_CASE(a_time_that_occurs_often_begins_where_the_curve_does) {
  histogram h;
  h.add(5, 1'000);
  auto const c = distribution(h);

  BOOST_REQUIRE(c.line.size() == 2u);
  BOOST_TEST(c.line[0].y == 0.01);
  BOOST_TEST(c.line[1].y == 0.9995, boost::test_tools::tolerance(near));
}

BOOST_AUTO_TEST_CASE(the_least_hundredth_of_many_values_is_left_out) {
  auto const c = distribution(one_to(1'000));

  BOOST_TEST(c.line.front().x == 11);
  BOOST_TEST(c.line.front().y >= 0.01);
  BOOST_TEST(c.line.back().x == 1'000);
  BOOST_TEST(c.line.back().y == 0.9995, boost::test_tools::tolerance(near));
}

BOOST_AUTO_TEST_CASE(percentiles_are_marked_as_far_as_the_curve_goes) {
  BOOST_TEST(distribution(one_to(1)).dots.size() == 1u);
  BOOST_TEST(distribution(one_to(49)).dots.size() == 1u);
  BOOST_TEST(distribution(one_to(50)).dots.size() == 2u);
  BOOST_TEST(distribution(one_to(1'000)).dots.size() == 3u);
  BOOST_TEST(distribution(one_to(1'000)).dots[1].x == 990);
}

BOOST_AUTO_TEST_CASE(nothing_has_no_curve) {
  BOOST_TEST(distribution(histogram{}).line.empty());
  BOOST_TEST(distribution(histogram{}).dots.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::bench
