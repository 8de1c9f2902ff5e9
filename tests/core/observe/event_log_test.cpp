#include "coxswain/core/observe/event_log.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace coxswain::core {
namespace {

event entry(std::string text, severity level = severity::info) {
  return {.level = level, .text = std::move(text)};
}

// "2:b 3:c through 3 lost 1"
std::string text(events_answer const& a) {
  std::string all;
  for (auto const& entry : a.entries) {
    all += std::to_string(entry.number) + ':' + entry.what.text + ' ';
  }
  return all + "through " + std::to_string(a.through) + " lost " + std::to_string(a.lost);
}

constexpr wall_time noon{std::int64_t{12} * 60 * 60 * 1000, 60 * 60};

// Letters only, so that no two events are similar.
std::string unlike(int i) {
  std::string text;
  for (; i > 0; i /= 26) text += static_cast<char>('a' + i % 26);
  return text;
}

event about(std::uint32_t task, std::string text, severity level = severity::error) {
  event e = entry(std::move(text), level);
  e.task = task_id{task};
  return e;
}

BOOST_AUTO_TEST_SUITE(event_log_test)

BOOST_AUTO_TEST_CASE(ten_thousand_similar_events_become_one_with_a_count) {
  event_log log{{100, 1'000'000, 16}, noon};
  log.add(0s, entry("the cause", severity::error));
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    auto const who = "task " + std::to_string(i) + " (host-" + unlike(static_cast<int>(i)) + ")";
    log.add((i + 1) * 1ms, about(i, who + " failed: lost at 14:03:07." + std::to_string(i)), who);
  }

  auto const all = log.since(0, severity::error);

  BOOST_TEST_REQUIRE(all.entries.size() == 2u);
  BOOST_TEST(all.entries[0].what.text == "the cause");
  auto const& one = all.entries[1];
  BOOST_TEST(one.number == 10'001u);
  BOOST_TEST(one.first == 2u);
  BOOST_TEST(one.count == 10'000u);
  BOOST_TEST((one.at == 10'000ms));
  BOOST_TEST((one.first_at == 1ms));
  BOOST_TEST(one.tasks == "0-9999");
  BOOST_TEST(one.what.text.starts_with("task 9999 ("));
  BOOST_TEST(all.lost == 0u);
  BOOST_TEST(all.through == 10'001u);
}

BOOST_AUTO_TEST_CASE(up_to_sixteen_similar_events_stay_separate) {
  event_log log{{100, 1'000'000, 16}, noon};
  for (std::uint32_t i = 0; i < 16; ++i) log.add(0s, about(i, "lost " + std::to_string(i)));
  BOOST_TEST(log.size() == 16u);
  BOOST_TEST(log.since(0, severity::info).entries[15].first == 1u);

  log.add(0s, about(20, "lost 20"));

  auto const all = log.since(15, severity::info).entries;
  BOOST_TEST_REQUIRE(all.size() == 1u);
  BOOST_TEST(all[0].number == 17u);
  BOOST_TEST(all[0].count == 17u);
  BOOST_TEST(all[0].tasks == "0-15,20");
}

BOOST_AUTO_TEST_CASE(similar_events_over_a_minute_apart_stay_separate) {
  event_log log{{100, 1'000'000, 16}, noon};
  for (int i = 0; i < 17; ++i) log.add(i * 1min, entry("round 1 failed"));
  BOOST_TEST(log.size() == 1u);

  event_log calm{{100, 1'000'000, 16}, noon};
  for (int i = 0; i < 17; ++i) calm.add(i * (1min + 1ns), entry("round 1 failed"));
  BOOST_TEST(calm.size() == 17u);
}

BOOST_AUTO_TEST_CASE(events_differing_in_kind_severity_or_words_are_not_merged) {
  event_log log{{100, 1'000'000, 16}, noon};
  for (int i = 0; i < 10; ++i) {
    log.add(0s, entry("x 1"));
    log.add(0s, entry("x 1", severity::warning));
    log.add(0s, entry("y 1"));
    auto other = entry("x 1");
    other.kind = event_kind::waiting;
    log.add(0s, other);
  }

  BOOST_TEST(log.size() == 40u);
}

BOOST_AUTO_TEST_CASE(each_severity_and_the_job_failure_have_separate_capacity) {
  event_log log{{3, 1'000'000, 16}, noon};
  event failed = entry("the job has failed", severity::error);
  failed.kind = event_kind::job_failed;
  log.add(0s, failed);
  log.add(0s, entry("w", severity::warning));
  for (int i = 1; i <= 100; ++i) {
    log.add(0s, entry(unlike(i)));
    log.add(0s, entry(unlike(i), severity::error));
  }

  BOOST_TEST(text(log.since(std::nullopt, severity::error)) ==
             "1:the job has failed 198:" + unlike(98) + " 200:" + unlike(99) +
                 " 202:" + unlike(100) + " through 202 lost 0");
  BOOST_TEST(text(log.since(std::nullopt, severity::warning)).find(" 2:w ") != std::string::npos);
  BOOST_TEST(log.size() == 8u);
  BOOST_TEST(log.lost(197, severity::error) == 0u);
  BOOST_TEST(log.lost(195, severity::error) == 1u);
  BOOST_TEST(log.lost(194, severity::info) == 2u);
}

BOOST_AUTO_TEST_CASE(the_log_is_bounded_in_bytes_but_keeps_the_last) {
  event_log log{{1000, 10'000, 16}, noon};
  for (int i = 0; i < 100; ++i) log.add(0s, entry(std::string(1000, 'x') + unlike(i)));
  BOOST_TEST(log.size() > 1u);
  BOOST_TEST(log.size() < 5u);  // twice: the words shared by similar events are as long

  log.add(0s, entry(std::string(9000, 'y')));

  BOOST_TEST(log.size() == 1u);
  BOOST_TEST(log.since(0, severity::info).lost == 100u);
}

BOOST_AUTO_TEST_CASE(an_answer_is_bounded_and_returns_the_next_position) {
  event_log log{{10'000, 100'000'000, 16}, noon};
  for (int i = 0; i < 2500; ++i) log.add(0s, entry(unlike(i)));

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
  event_log log{{10'000, 100'000'000, 16}, noon};
  for (int i = 0; i < 3; ++i) log.add(0s, entry(std::string(200'000, 'x')));
  log.add(0s, entry(std::string(900'000, 'x')));

  BOOST_TEST(log.since(0, severity::info).through == 1u);
  BOOST_TEST(log.since(3, severity::info).entries.size() == 1u);
}

BOOST_AUTO_TEST_CASE(the_coordinators_log_shows_similar_events_when_their_number_has_doubled) {
  event_log log{{10'000, 1'000'000, 4}, noon};
  std::string shown;

  for (std::uint32_t i = 0; i < 20; ++i) {
    std::string const who = "task " + std::to_string(i);
    auto const logged = log.add(i * 100ms, about(i, who + " failed"), who);
    if (logged) shown += logged->text + '\n';
  }

  BOOST_TEST(shown ==
             "task 0 failed\ntask 1 failed\ntask 2 failed\ntask 3 failed\n"
             "task 7 failed [8 like this in 700 ms, of tasks 0-7]\n"
             "task 15 failed [16 like this in 1.5 s, of tasks 0-15]\n");
  BOOST_TEST(log.add(3s, entry("the cause"))->text == "the cause");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::core
