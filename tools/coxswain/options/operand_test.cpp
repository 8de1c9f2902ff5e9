#include "options/operand.hpp"

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>
#include <string_view>

namespace coxswain::tools {

BOOST_AUTO_TEST_SUITE(operand_test)

BOOST_AUTO_TEST_CASE(whole_numbers_are_integers_unless_they_are_to_be_real) {
  BOOST_TEST(std::get<std::int64_t>(parse_operand("-12", false).value()) == -12);
  BOOST_TEST(std::get<std::int64_t>(parse_operand("9223372036854775807", false).value()) ==
             std::numeric_limits<std::int64_t>::max());
  BOOST_TEST(std::get<double>(parse_operand("-12", true).value()) == -12.0);
}

BOOST_AUTO_TEST_CASE(other_numbers_are_doubles) {
  BOOST_TEST(std::get<double>(parse_operand("0.5", false).value()) == 0.5);
  BOOST_TEST(std::get<double>(parse_operand("-1e3", false).value()) == -1000.0);
  BOOST_TEST(std::isinf(std::get<double>(parse_operand("inf", false).value())));
  BOOST_TEST(std::isnan(std::get<double>(parse_operand("nan", false).value())));
}

BOOST_AUTO_TEST_CASE(what_is_no_number_is_refused) {
  for (std::string_view const text :
       {"", "x", "1x", "1 ", "0x10", "9223372036854775808", "1e999"}) {
    BOOST_TEST(!parse_operand(text, false), text);
  }
}

BOOST_AUTO_TEST_CASE(a_number_is_written_so_that_it_is_read_as_the_same) {
  BOOST_TEST(text_of(std::int64_t{-3}) == "-3");
  BOOST_TEST(text_of(0.1) == "0.1");
  BOOST_TEST(std::get<double>(parse_operand(text_of(0.1 + 0.2), true).value()) == 0.1 + 0.2);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::tools
