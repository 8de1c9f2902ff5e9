#include "terminal/styled_line.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace coxswain::tools {
namespace {

std::string cut(std::string_view text, std::size_t columns) {
  return styled_line{text}.cut(columns).plain();
}

std::string joined(std::vector<std::string> const& lines) {
  std::string all;
  for (auto const& line : lines) all += line + "|";
  return all;
}

BOOST_AUTO_TEST_SUITE(styled_lines)

BOOST_AUTO_TEST_CASE(a_line_that_fits_is_not_cut) {
  BOOST_TEST(cut("abcdef", 6) == "abcdef");
  BOOST_TEST(cut("abcdef", 5) == "abc..");
  BOOST_TEST(cut("abcdef", 1) == ".");
  BOOST_TEST(cut("abcdef", 0) == "");
}

BOOST_AUTO_TEST_CASE(letters_are_cut_whole_and_wide_ones_count_twice) {
  BOOST_TEST(styled_line{"äöü"}.columns() == 3u);
  BOOST_TEST(styled_line{"漢字"}.columns() == 4u);
  BOOST_TEST(cut("äöüäöü", 5) == "äöü..");
  BOOST_TEST(cut("漢字漢字", 5) == "漢..");
}

BOOST_AUTO_TEST_CASE(a_cut_ends_in_the_part_where_it_falls) {
  styled_line line{"abc", style::bad};
  line.add("def", style::busy).add("ghi");

  line.cut(6);

  BOOST_TEST(line.ansi({true, true}) == "\033[1;31mabc\033[0m\033[36md..\033[0m");
  BOOST_TEST(line.columns() == 6u);
}

BOOST_AUTO_TEST_CASE(what_others_have_named_does_nothing_to_the_terminal) {
  BOOST_TEST(styled_line{"a\033[2Jb\x7f"}.plain() == "a?[2Jb?");
}

BOOST_AUTO_TEST_CASE(without_colours_and_unicode_only_what_is_wrong_stands_out) {
  styled_line line{"ok ", style::busy};
  line.add("dead ", style::alarm).add("ä");

  BOOST_TEST(line.ansi({false, false}) == "ok \033[1;7mdead \033[0m?");
}

BOOST_AUTO_TEST_CASE(text_is_broken_after_spaces_and_commas) {
  BOOST_TEST(joined(wrapped("one two three", 7, 9)) == "one two|three|");
  BOOST_TEST(joined(wrapped("1,2,33,444", 5, 9)) == "1,2,|33,|444|");
  BOOST_TEST(joined(wrapped("abcdefgh", 3, 9)) == "abc|def|gh|");
  BOOST_TEST(joined(wrapped("one two three", 7, 1)) == "one t..|");
  BOOST_TEST(joined(wrapped("", 7, 9)) == "");
  BOOST_TEST(joined(wrapped("漢", 1, 9)) == "");
  BOOST_TEST(joined(wrapped("a", 0, 9)) == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::tools
