#include "coxswain/base/text_numbers.hpp"

#include <boost/test/unit_test.hpp>

#include <limits>
#include <string>
#include <string_view>

namespace coxswain {
namespace {

using namespace std::string_literals;

std::string words_of(std::string_view text, std::string& numbers) {
  std::string words = "others";
  take_numbers_out(text, words, numbers);
  return words;
}

BOOST_AUTO_TEST_SUITE(text_numbers_test)

BOOST_AUTO_TEST_CASE(splitting_and_joining_restores_the_text) {
  for (auto const& text :
       {""s, "0"s, "007"s, "00"s, "a0b"s, "task 7 of 10"s, "-1.50"s, "127.0.0.1:1"s,
        "9999999999999999999"s, "18446744073709551615"s, std::string(100, '9'),
        std::string(45, '0'), "\0\1\2"s, "1\0002\0013"s, "\1"s, "\xff 1 \x80"s}) {
    std::string numbers;
    auto const words = words_of(text, numbers);
    auto const more = numbers + "more";
    std::string_view left = more;

    BOOST_TEST((put_numbers_in(words, left) == text));
    BOOST_TEST(left == "more");
  }
}

BOOST_AUTO_TEST_CASE(texts_differing_only_in_numbers_share_their_words) {
  std::string numbers;
  auto const words = words_of("task 7 of 10", numbers);

  BOOST_TEST(numbers == "\7\12");
  BOOST_TEST(words == words_of("task 12345 of 1", numbers));
  BOOST_TEST(words != words_of("task 7 of 010", numbers));
  BOOST_TEST(words != words_of("task 7", numbers));
}

BOOST_AUTO_TEST_CASE(a_text_with_missing_numbers_is_rejected) {
  std::string numbers;
  auto const words = words_of("task 7 of 1000", numbers);

  for (std::size_t size = 0; size < numbers.size(); ++size) {
    auto cut = std::string_view{numbers}.substr(0, size);
    BOOST_TEST(!put_numbers_in(words, cut).has_value());
  }
}

BOOST_AUTO_TEST_CASE(numbers_of_any_size_are_read_back_in_order) {
  for (std::uint64_t const number :
       {std::uint64_t{0}, std::uint64_t{127}, std::uint64_t{128}, std::uint64_t{1} << 63,
        std::numeric_limits<std::uint64_t>::max()}) {
    std::string bytes;
    append_number(bytes, number);
    std::string_view left = bytes;
    BOOST_TEST((take_number(left) == number));
    BOOST_TEST(left.empty());
  }
}

BOOST_AUTO_TEST_CASE(an_unterminated_number_is_rejected) {
  std::string const endless(20, '\x80');
  for (std::size_t size = 0; size <= endless.size(); ++size) {
    auto left = std::string_view{endless}.substr(0, size);
    BOOST_TEST(!take_number(left).has_value());
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain
