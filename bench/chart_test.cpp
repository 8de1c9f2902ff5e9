#include "chart.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace coxswain::bench {
namespace {

std::size_t count(std::string const& text, std::string_view what) {
  std::size_t found = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

chart small() {
  curve line;
  line.name = "a < b";
  line.line = {{1e3, 0.1}, {2e3, 0.5}, {3e3, 0.9}};
  line.dots = {{2e3, 0.5}};
  line.figures = {"2 us"};
  return {.title = "title",
          .subtitles = {"below it"},
          .headings = {"p50"},
          .curves = {line},
          .across = "time",
          .upright = "share",
          .x = axis::times(1e3, 3e3),
          .y = axis::shares(0.1, 0.99),
          .guides = {{0.5, "p50"}, {0.999, "p99.9"}},
          .warnings = {},
          .origin = "somewhere"};
}

BOOST_AUTO_TEST_SUITE(charts)

BOOST_AUTO_TEST_CASE(what_means_something_in_xml_is_escaped) {
  BOOST_TEST(escaped("a < b & \"c\" > 'd'") == "a &lt; b &amp; &quot;c&quot; &gt; &#39;d&#39;");
  BOOST_TEST(escaped("&amp;") == "&amp;amp;");
}

BOOST_AUTO_TEST_CASE(what_xml_does_not_allow_becomes_a_blank) {
  BOOST_TEST(escaped(std::string{"a\0b\x1b", 4}) == "a b ");
}

BOOST_AUTO_TEST_CASE(letters_of_other_alphabets_stay) { BOOST_TEST(escaped("µs – π") == "µs – π"); }

BOOST_AUTO_TEST_CASE(points_at_the_same_place_are_drawn_once_but_for_the_ends) {
  svg s{10, 10, "t", ""};
  s.curve({{1, 1}, {1.01, 1}, {1.02, 1}, {5, 5}, {5.01, 5}}, "first");

  BOOST_TEST(count(s.document(), "points=\"1,1 5,5 5,5\"") == 1u);
}

BOOST_AUTO_TEST_CASE(numbers_have_no_needless_digits_and_no_minus_before_zero) {
  svg s{10, 10, "t", ""};
  s.line({-0.001, 1.25}, {2.0, 1.0 / 3}, "grid");

  BOOST_TEST(count(s.document(), "x1=\"0\" y1=\"1.3\" x2=\"2\" y2=\"0.3\"") == 1u);
}

BOOST_AUTO_TEST_CASE(a_chart_has_its_words_its_curve_and_the_guides_within_its_axis) {
  auto const drawn = to_svg(small());

  for (auto const* text : {">title<", ">below it<", ">a &lt; b<", ">2 us<", ">somewhere<"}) {
    BOOST_TEST(drawn.find(text) != std::string::npos, text);
  }
  BOOST_TEST(count(drawn, "<polyline") == 2u);  // the legend has one, too
  BOOST_TEST(count(drawn, "class=\"guide\"") == 1u);
  BOOST_TEST(count(drawn, "</svg>") == 1u);
}

BOOST_AUTO_TEST_CASE(text_is_broken_at_blanks) {
  BOOST_TEST(wrapped("one two three", 7) == (std::vector<std::string>{"one two", "three"}),
             boost::test_tools::per_element());
  BOOST_TEST(
      wrapped("incomprehensible word", 4) == (std::vector<std::string>{"incomprehensible", "word"}),
      boost::test_tools::per_element());
  BOOST_TEST(wrapped("", 4).empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::bench
