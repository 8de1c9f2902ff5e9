#include "terminal/harmless_text.hpp"

#include <boost/test/unit_test.hpp>

namespace coxswain::tools {
namespace {

BOOST_AUTO_TEST_SUITE(harmless_text)

BOOST_AUTO_TEST_CASE(what_others_have_named_does_nothing_to_the_terminal) {
  BOOST_TEST(harmless_line("a\033[2Jb\x7f") == "a?[2Jb?");
  BOOST_TEST(harmless_line("a\nb\tc") == "a b c");
  BOOST_TEST(harmless_line("\xc2\x9b") == "?");          // a control character of two bytes
  BOOST_TEST(harmless_line("a\xff\xc3\xa4") == "a???");  // no UTF-8
  BOOST_TEST(harmless_line("Schlagmann, läuft 漢") == "Schlagmann, läuft 漢");
  BOOST_TEST(harmless_line("") == "");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_seen_in_a_name_is_shown) {
  BOOST_TEST(harmless_line("a\u202eb\u2066c\u200fd") == "a?b?c?d");           // direction
  BOOST_TEST(harmless_line("a\u200bb\u200dc\ufeffd\u2060e") == "a?b?c?d?e");  // no width
  BOOST_TEST(harmless_line("a\u2028b") == "a?b");                             // another line
}

BOOST_AUTO_TEST_CASE(lines_stay_lines) {
  BOOST_TEST(harmless_lines("a\r\nb\033c\n") == "a?\nb?c\n");
  BOOST_TEST(harmless_lines("\n\n") == "\n\n");
  BOOST_TEST(harmless_lines("ä\n\xff") == "ä\n?");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::tools
