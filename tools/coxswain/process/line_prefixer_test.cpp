#include "process/line_prefixer.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>

namespace coxswain::tools {
namespace {

std::string fed(line_prefixer& lines, std::string_view bytes) {
  std::string out;
  lines.feed(bytes, out);
  return out;
}

std::string finished(line_prefixer& lines) {
  std::string out;
  lines.finish(out);
  return out;
}

BOOST_AUTO_TEST_SUITE(line_prefixers)

BOOST_AUTO_TEST_CASE(only_whole_lines_come_out) {
  line_prefixer lines{"[3] "};

  BOOST_TEST(fed(lines, "one\ntw") == "[3] one\n");
  BOOST_TEST(fed(lines, "o\n\nthree") == "[3] two\n[3] \n");
  BOOST_TEST(finished(lines) == "[3] three\n");
  BOOST_TEST(finished(lines) == "");
}

BOOST_AUTO_TEST_CASE(a_line_of_the_greatest_length_is_whole_and_a_longer_one_is_cut) {
  for (int more : {-1, 0, 1}) {
    line_prefixer lines{"> "};
    std::string const text(line_prefixer::line_bytes_max + static_cast<std::size_t>(more) - 1, 'x');

    auto const out = fed(lines, text + "\n") + finished(lines);

    auto const count = std::count(out.begin(), out.end(), '\n');
    BOOST_TEST(count == (more > 0 ? 2 : 1));
    BOOST_TEST(std::count(out.begin(), out.end(), 'x') == static_cast<long>(text.size()));
  }
}

BOOST_AUTO_TEST_CASE(how_bytes_are_cut_does_not_matter_for_short_lines) {
  std::string const text = "first\nsecond\n\nlast";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    line_prefixer lines{"- "};
    std::string out;

    for (std::size_t at = 0; at < text.size(); at += size) lines.feed(text.substr(at, size), out);
    lines.finish(out);

    BOOST_TEST(out == "- first\n- second\n- \n- last\n");
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::tools
