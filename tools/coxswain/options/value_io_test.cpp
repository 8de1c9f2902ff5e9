#include "options/value_io.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace coxswain::tools {

BOOST_AUTO_TEST_SUITE(value_io_test)

BOOST_AUTO_TEST_CASE(a_value_is_shown_on_one_line) {
  BOOST_TEST(shown_value("plain") == "plain");
  BOOST_TEST(shown_value("a\nb\\c\td") == "a\\nb\\\\c\\x09d");
  BOOST_TEST(shown_value("Z\xc3\xbcrich") == "Z\xc3\xbcrich");
  BOOST_TEST(shown_value(std::string_view{"\0\xff z", 4}) == "\\x00\\xff z");
}

BOOST_AUTO_TEST_CASE(a_long_value_is_cut_and_says_how_long_it_is) {
  auto const shown = shown_value(std::string(1000, 'x'));

  BOOST_TEST(shown.size() < 250u);
  BOOST_TEST(shown.ends_with("... (1000 bytes)"));
}

BOOST_AUTO_TEST_CASE(bytes_are_read_in_hexadecimal_digits) {
  BOOST_TEST(from_hexadecimal("007fFF").value() == (std::string{"\0\x7f\xff", 3}));
  BOOST_TEST(from_hexadecimal("").value().empty());
  for (std::string_view const text : {"0", "0g", "-1", "0x", "+f", " 1"}) {
    BOOST_TEST(!from_hexadecimal(text), text);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::tools
