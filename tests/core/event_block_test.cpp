#include "coxswain/core/event_block.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace coxswain::core {
namespace {

using namespace std::string_literals;

event told(std::string text) {
  event e;
  e.text = std::move(text);
  return e;
}

std::vector<event> events_in(event_block const& b, std::uint64_t after = 0,
                             severity at_least = severity::info) {
  std::vector<event> all;
  event_block::reader from{b};
  while (auto one = from.next(after, at_least)) all.push_back(one->what);
  return all;
}

BOOST_AUTO_TEST_SUITE(event_block_test)

BOOST_AUTO_TEST_CASE(every_text_is_found_as_it_was_added) {
  std::vector<event> all;
  for (auto const& text :
       {""s, "0"s, "007"s, "00"s, "a0b"s, "task 7 of 10"s, "task 10 of 10"s, "-1.50"s,
        "127.0.0.1:1"s, "9999999999999999999"s, "18446744073709551615"s, std::string(100, '9'),
        std::string(45, '0'), "1" + std::string(30, '0'), "\0\1\2"s, "1\0002\0013"s, "\1"s,
        "\xff 1 \x80"s, std::string(10'000, 'x')}) {
    all.push_back(told(text));
    all.push_back(told(text + text));
    all.push_back(told(text));
  }
  event_block b{1};
  for (event const& one : all) b.add(0s, one);

  BOOST_TEST((events_in(b) == all));
}

BOOST_AUTO_TEST_CASE(kind_task_barrier_and_time_are_kept) {
  event e{severity::error, "round 3 failed", event_kind::round_failed, task_id{UINT32_MAX},
          "epoch-7"};
  event_block b{41};
  b.add(5s, e);
  b.add(3s, told("earlier"));
  b.add(duration::max(), told("much later"));

  event_block::reader from{b};
  BOOST_TEST((from.next(0, severity::info) == events_answer::entry{41, 5s, e}));
  BOOST_TEST((from.next(0, severity::info) == events_answer::entry{42, 3s, told("earlier")}));
  BOOST_TEST((from.next(0, severity::info) ==
              events_answer::entry{43, duration::max(), told("much later")}));
  BOOST_TEST(!from.next(0, severity::info).has_value());
  BOOST_TEST(b.last() == 43u);
}

BOOST_AUTO_TEST_CASE(those_that_are_not_asked_for_are_passed_over) {
  event_block b{10};
  for (int i = 0; i < 6; ++i) {
    b.add(0s, told("about " + std::to_string(i)));
    b.add(0s, {severity::warning, std::to_string(i) + " is odd", event_kind::other, task_id{3}});
  }

  BOOST_TEST((events_in(b, 20) == std::vector{events_in(b).back()}));
  BOOST_TEST(events_in(b, 21).empty());
  BOOST_TEST(events_in(b, 0, severity::warning).size() == 6u);
  BOOST_TEST(events_in(b, 0, severity::warning)[5].text == "5 is odd");
}

BOOST_AUTO_TEST_CASE(texts_that_differ_in_numbers_only_fill_a_block_slowly) {
  event_block alike{1};
  event_block unlike{1};
  int many = 0;
  int few = 0;
  for (; !alike.is_full(); ++many) {
    alike.add(0s, told("task " + std::to_string(many) + " joins from some host or other"));
  }
  for (; !unlike.is_full(); ++few) {
    unlike.add(0s, told("task " + std::string(static_cast<std::size_t>(few + 1), 'x') + " joins"));
  }

  BOOST_TEST(many > 400);
  BOOST_TEST(few < 100);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::core
