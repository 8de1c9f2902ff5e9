#include "coxswain/core/kernel/text.hpp"

#include "coxswain/core/model/reasons.hpp"

#include <boost/test/unit_test.hpp>

#include <numeric>
#include <string>
#include <vector>

namespace coxswain::core {
namespace {

std::vector<task_id> tasks(std::vector<std::uint32_t> const& numbers) {
  std::vector<task_id> made;
  for (auto const n : numbers) made.push_back(task_id{n});
  return made;
}

BOOST_AUTO_TEST_SUITE(text_test)

BOOST_AUTO_TEST_CASE(durations_have_a_fitting_unit) {
  BOOST_TEST(in_words(0ns) == "0 ms");
  BOOST_TEST(in_words(999us) == "0 ms");
  BOOST_TEST(in_words(1ms) == "1 ms");
  BOOST_TEST(in_words(200ms) == "200 ms");
  BOOST_TEST(in_words(1s - 1ns) == "999 ms");
  BOOST_TEST(in_words(1s) == "1 s");
  BOOST_TEST(in_words(1500ms) == "1.5 s");
  BOOST_TEST(in_words(100s) == "100 s");
  BOOST_TEST(in_words(2min - 1ms) == "119.9 s");
  BOOST_TEST(in_words(2min) == "2 min");
  BOOST_TEST(in_words(5min) == "5 min");
  BOOST_TEST(in_words(90min) == "90 min");
  BOOST_TEST(in_words(2h) == "2 h");
  BOOST_TEST(in_words(150min) == "2.5 h");
}

BOOST_AUTO_TEST_CASE(odd_durations_are_exact) {
  BOOST_TEST(in_words(without_limit) == "without limit");
  BOOST_TEST(in_words(-5s) == "0 ms");
}

BOOST_AUTO_TEST_CASE(a_name_is_quoted) {
  BOOST_TEST(in_quotes("ckpt-17") == "'ckpt-17'");
  BOOST_TEST(in_quotes("") == "''");
  BOOST_TEST(in_quotes(std::string(200, 'x')) == "'" + std::string(200, 'x') + "'");
}

BOOST_AUTO_TEST_CASE(a_long_name_is_cut_between_characters) {
  BOOST_TEST(in_quotes(std::string(201, 'x')) == "'" + std::string(197, 'x') + "...'");

  for (std::size_t before = 188; before <= 200; ++before) {
    std::string const name = std::string(before, 'x') + "\xe2\x82\xac\xf0\x9f\x9a\xa3" + "yyyyyyyy";
    BOOST_TEST(is_utf8(in_quotes(name)), "cut in a letter after " << before);
    BOOST_TEST(in_quotes(name).size() <= 202u);
  }
}

BOOST_AUTO_TEST_CASE(a_text_is_shortened_to_a_limit_that_includes_the_mark) {
  BOOST_TEST(shortened("12345", 5) == "12345");
  BOOST_TEST(shortened("123456", 5) == "12...");
  BOOST_TEST(shortened("123456", 3) == "...");
  BOOST_TEST(shortened("", 0) == "");
  BOOST_TEST(shortened("\xe2\x82\xac\xe2\x82\xac", 5) == "...");
}

BOOST_AUTO_TEST_CASE(tasks_are_listed_as_ranges) {
  BOOST_TEST(ranges(tasks({})).text == "");
  BOOST_TEST(ranges(tasks({3})).text == "3");
  BOOST_TEST(ranges(tasks({3, 4})).text == "3-4");
  BOOST_TEST(ranges(tasks({3, 17, 18, 19, 20, 21, 22, 23, 24, 900})).text == "3,17-24,900");
  BOOST_TEST(ranges(tasks({0, 2, 4})).text == "0,2,4");
  BOOST_TEST(ranges(tasks({0, 2, 4})).cut == 0u);
}

BOOST_AUTO_TEST_CASE(the_largest_and_smallest_task_ids_form_no_range) {
  BOOST_TEST(ranges(tasks({0, UINT32_MAX})).text == "0,4294967295");
}

BOOST_AUTO_TEST_CASE(ranges_cut_at_the_limit_count_the_omitted_tasks) {
  auto const odd = tasks({1, 3, 5, 7, 9});

  BOOST_TEST(ranges(odd, 9).text == "1,3,5,7,9");
  BOOST_TEST(ranges(odd, 9).cut == 0u);
  BOOST_TEST(ranges(odd, 8).text == "1,3,5,7");
  BOOST_TEST(ranges(odd, 8).cut == 1u);
  BOOST_TEST(ranges(odd, 1).text == "1");
  BOOST_TEST(ranges(odd, 1).cut == 4u);
  BOOST_TEST(ranges(odd, 0).text == "");
  BOOST_TEST(ranges(odd, 0).cut == 5u);
}

BOOST_AUTO_TEST_CASE(a_range_that_does_not_fit_is_omitted_whole) {
  auto const r = ranges(tasks({1, 10, 11, 12, 13}), 5);

  BOOST_TEST(r.text == "1");
  BOOST_TEST(r.cut == 4u);
}

BOOST_AUTO_TEST_CASE(the_default_limit_is_four_kibibytes) {
  std::vector<task_id> even(10'000);
  for (std::uint32_t i = 0; i < even.size(); ++i) even[i] = task_id{2 * i};

  auto const r = ranges(even);

  BOOST_TEST(r.text.size() <= 4096u);
  BOOST_TEST(r.text.size() > 4080u);
  auto const named = static_cast<std::uint32_t>(std::count(r.text.begin(), r.text.end(), ',')) + 1;
  BOOST_TEST(named + r.cut == 10'000u);
}

BOOST_AUTO_TEST_CASE(invalid_utf8_is_detected) {
  for (std::string_view const good :
       {"", "a", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
        "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf1\x80\x80\x80", "\xf3\xbf\xbf\xbf",
        "\xf4\x8f\xbf\xbf", "a\xe2\x82\xac z"}) {
    BOOST_TEST(is_utf8(good), "refused: " << good);
  }
  BOOST_TEST(is_utf8(std::string_view{"a\0b", 3}));
}

BOOST_AUTO_TEST_CASE(overlong_truncated_surrogate_and_too_large_sequences_are_invalid_utf8) {
  for (std::string_view const bad :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2\x41", "\xe0\x9f\xbf", "\xe0\xa0",
        "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf", "\xf0\x90\x80", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80", "\xff", "a\xe2\x82", "\xe2\x82\xac\xac", "\xe2\x82\x41",
        "\xf1\x80\x80\x41"}) {
    BOOST_TEST(!is_utf8(bad));
  }
}

BOOST_AUTO_TEST_CASE(bytes_are_written_in_hexadecimal_digits) {
  BOOST_TEST(hexadecimal(std::string_view{"\0\x7f\xff", 3}) == "007fff");
  BOOST_TEST(hexadecimal("").empty());
}

BOOST_AUTO_TEST_CASE(a_reason_is_recognized_whatever_its_arguments_and_what_surrounds_it) {
  status const why = fail<&reasons::lock_is_free>(std::string(300, 'a'), 7);

  BOOST_TEST(why.code() == errc::failed_precondition);
  BOOST_TEST(why.message() == "lock " + in_quotes(std::string(300, 'a')) +
                                  " is not held; token 7 is no longer valid");
  BOOST_TEST(states(why, &reasons::lock_is_free));
  BOOST_TEST(states("it failed: " + why.text() + ".", &reasons::lock_is_free));
  BOOST_TEST(!states(why, &reasons::other_token));
  BOOST_TEST(!states(status{errc::aborted, why.message()}, &reasons::lock_is_free));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::core
