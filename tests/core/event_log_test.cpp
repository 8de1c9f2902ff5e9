#include "coxswain/core/event_log.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace coxswain::core {
namespace {

event told(std::string text, severity level = severity::info) {
  event e;
  e.level = level;
  e.text = std::move(text);
  return e;
}

// "2:b 3:c through 3 lost 1"
std::string text(events_answer const& a) {
  std::string all;
  for (auto const& one : a.entries) {
    all += std::to_string(one.number) + ':' + one.what.text + ' ';
  }
  return all + "through " + std::to_string(a.through) + " lost " + std::to_string(a.lost);
}

event_log log_of(int count, std::size_t events_max) {
  event_log log{events_max, 1'000'000};
  for (int i = 0; i < count; ++i) log.add(i * 1s, told(std::string(1, static_cast<char>('a' + i))));
  return log;
}

BOOST_AUTO_TEST_SUITE(event_log_test)

BOOST_AUTO_TEST_CASE(an_empty_log_has_nothing_to_say) {
  event_log const log{10, 1000};

  BOOST_TEST(log.last() == 0u);
  BOOST_TEST(text(log.since(std::nullopt, severity::info)) == "through 0 lost 0");
  BOOST_TEST(text(log.since(0, severity::info)) == "through 0 lost 0");
}

BOOST_AUTO_TEST_CASE(events_are_numbered_from_one_and_keep_their_time) {
  auto const log = log_of(3, 10);

  BOOST_TEST(text(log.since(std::nullopt, severity::info)) == "1:a 2:b 3:c through 3 lost 0");
  BOOST_TEST(text(log.since(2, severity::info)) == "3:c through 3 lost 0");
  BOOST_TEST(text(log.since(3, severity::info)) == "through 3 lost 0");
  BOOST_TEST((log.since(2, severity::info).entries.at(0).at == 2s));
}

BOOST_AUTO_TEST_CASE(of_many_events_the_last_ones_are_kept) {
  event_log log{3, 1'000'000};
  for (int i = 1; i <= 10'000; ++i) log.add(i * 1s, told("event " + std::to_string(i)));

  BOOST_TEST(log.size() == 3u);
  BOOST_TEST(text(log.since(0, severity::info)) ==
             "9998:event 9998 9999:event 9999 10000:event 10000 through 10000 lost 9997");
}

BOOST_AUTO_TEST_CASE(the_oldest_are_dropped_and_counted_as_lost_to_who_asks_for_them) {
  auto const log = log_of(5, 3);

  BOOST_TEST(log.size() == 3u);
  BOOST_TEST(text(log.since(std::nullopt, severity::info)) == "3:c 4:d 5:e through 5 lost 0");
  BOOST_TEST(text(log.since(0, severity::info)) == "3:c 4:d 5:e through 5 lost 2");
  BOOST_TEST(text(log.since(1, severity::info)) == "3:c 4:d 5:e through 5 lost 1");
  BOOST_TEST(text(log.since(2, severity::info)) == "3:c 4:d 5:e through 5 lost 0");
  BOOST_TEST(text(log.since(4, severity::info)) == "5:e through 5 lost 0");
}

BOOST_AUTO_TEST_CASE(less_severe_events_are_left_out) {
  event_log log{10, 1'000'000};
  log.add(1s, told("i", severity::info));
  log.add(2s, told("w", severity::warning));
  log.add(3s, told("e", severity::error));
  log.add(4s, told("i"));

  BOOST_TEST(text(log.since(0, severity::warning)) == "2:w 3:e through 4 lost 0");
  BOOST_TEST(text(log.since(2, severity::error)) == "3:e through 4 lost 0");
  BOOST_TEST(log.last(severity::info) == 4u);
  BOOST_TEST(log.last(severity::warning) == 3u);
  BOOST_TEST(log.last(severity::error) == 3u);
}

BOOST_AUTO_TEST_CASE(the_log_is_bounded_in_bytes_but_keeps_the_last) {
  event_log log{1000, 5000};
  for (int i = 0; i < 100; ++i) log.add(0s, told(std::string(1000, 'x')));
  BOOST_TEST(log.size() == 4u);

  log.add(0s, told(std::string(9000, 'y')));

  BOOST_TEST(log.size() == 1u);
  BOOST_TEST(log.since(0, severity::info).lost == 100u);
}

BOOST_AUTO_TEST_CASE(an_answer_is_bounded_and_says_where_to_go_on) {
  event_log log{10'000, 100'000'000};
  for (int i = 0; i < 2500; ++i) log.add(0s, told("x"));

  auto const first = log.since(0, severity::info);
  auto const second = log.since(first.through, severity::info);
  auto const third = log.since(second.through, severity::info);

  BOOST_TEST(first.through == 1000u);
  BOOST_TEST(first.entries.size() == 1000u);
  BOOST_TEST(second.entries.front().number == 1001u);
  BOOST_TEST(third.through == 2500u);
  BOOST_TEST(third.entries.size() == 500u);
}

BOOST_AUTO_TEST_CASE(an_answer_of_long_events_is_bounded_in_bytes_but_never_empty) {
  event_log log{10'000, 100'000'000};
  for (int i = 0; i < 3; ++i) log.add(0s, told(std::string(200'000, 'x')));
  log.add(0s, told(std::string(900'000, 'x')));

  BOOST_TEST(log.since(0, severity::info).through == 1u);
  BOOST_TEST(log.since(3, severity::info).entries.size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::core
