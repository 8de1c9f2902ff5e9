// The messages to watchers.

#include "coxswain/status/live_feed.hpp"
#include "coxswain/status/json.hpp"

#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <vector>

namespace coxswain::status_page {
namespace {

// A job changed by hand, and its feed.
struct world {
  explicit world(std::uint32_t tasks = 3) { resize(tasks); }

  // Another epoch: tasks that have not changed yet.
  void resize(std::uint32_t tasks) {
    job.tasks.clear();
    for (std::uint32_t i = 0; i < tasks; ++i) {
      core::snapshot::task t{.id = task_id{i}};
      job.tasks.push_back(t);
    }
  }

  bool look() {
    return feed.look(std::make_shared<core::snapshot const>(job),
                     std::make_shared<core::why_answer const>(why), events);
  }
  json::object next_update(live_feed::place& to) {
    auto const text = feed.next(to);
    BOOST_TEST_REQUIRE(text);
    return json::parse(*text).as_object();
  }
  core::events_answer events_after(std::optional<std::uint64_t> after, std::size_t last) const {
    core::events_answer found;
    for (auto number = after.value_or(events - std::min<std::uint64_t>(events, last)) + 1;
         number <= events; ++number) {
      found.entries.push_back({number, {}, {}});
    }
    found.through = events;
    return found;
  }

  core::snapshot job;
  core::why_answer why;
  std::uint64_t events{};
  text_pool texts{1 << 20};
  live_feed feed{texts, [this](std::optional<std::uint64_t> after, std::size_t last) {
                   return events_after(after, last);
                 }};
};

BOOST_AUTO_TEST_SUITE(live_feed_test)

BOOST_FIXTURE_TEST_CASE(the_first_message_has_the_job_and_200_events_of_each_severity, world) {
  events = 500;
  BOOST_TEST(look());
  live_feed::place me;

  auto const first = next_update(me);

  BOOST_TEST(first.at("type") == "state");
  BOOST_TEST(first.at("state").at("tasks").as_array().size() == 3u);
  BOOST_TEST(first.at("state").at("barriers").as_array().empty());
  BOOST_TEST(first.at("why").at("waits").as_array().empty());
  BOOST_TEST(first.at("events").as_array().size() == 200u);
  BOOST_TEST(first.at("events").at(0).at("number") == 301);
  BOOST_TEST(!feed.next(me));
}

BOOST_FIXTURE_TEST_CASE(later_messages_have_only_changes, world) {
  look();
  live_feed::place me;
  next_update(me);

  job.tasks[1].state = task_state::failed;
  events = 1;
  BOOST_TEST(look());
  auto const update = next_update(me);

  BOOST_TEST(update.at("type") == "update");
  BOOST_TEST_REQUIRE(update.at("tasks").as_array().size() == 1u);
  BOOST_TEST(update.at("tasks").at(0).at("task") == 1);
  BOOST_TEST(update.at("tasks").at(0).at("state") == "failed");
  BOOST_TEST(update.at("events").as_array().size() == 1u);
  BOOST_TEST(!update.contains("why"));
  BOOST_TEST(update.at("summary").at("num_tasks") == 3);
  BOOST_TEST(!feed.next(me));
}

BOOST_FIXTURE_TEST_CASE(elapsed_time_alone_is_no_change, world) {
  job.barriers.push_back({"b", {}, {}, 1, 3, "1-2", 0, 1s, 9s});
  why.waits.push_back({});
  look();
  live_feed::place me;
  next_update(me);

  job.uptime = 5s;
  job.tasks[0].last_heard = 3s;
  job.barriers[0].age = 2s;
  job.barriers[0].remaining = 8s;
  why.waits[0].age = 2s;
  BOOST_TEST(!look());
  BOOST_TEST(!feed.next(me));

  job.barriers[0].arrived = 2;
  BOOST_TEST(look());
  BOOST_TEST(next_update(me).at("barriers").at(0).at("age_ms").to_number<double>() == 2000.0);
}

BOOST_FIXTURE_TEST_CASE(a_new_watcher_of_an_unchanged_job_gets_its_present_ages, world) {
  job.barriers.push_back({"b", {}, {}, 1, 3, "1-2", 0, 1s, 9s});
  look();
  live_feed::place first;
  next_update(first);

  job.uptime = 8s;
  job.barriers[0].age = 9s;
  BOOST_TEST(!look());
  live_feed::place late;
  auto const state = next_update(late).at("state");

  BOOST_TEST(state.at("uptime_ms").to_number<double>() == 8000.0);
  BOOST_TEST(state.at("barriers").at(0).at("age_ms").to_number<double>() == 9000.0);
  BOOST_TEST(!feed.next(first));
}

BOOST_FIXTURE_TEST_CASE(a_barrier_has_the_time_after_which_tasks_are_missing, world) {
  job.barriers.push_back({"half", {}, {}, 2, 4, "2-3", 0, 1s, 9s});
  job.barriers.push_back({"few", {}, {}, 1, 4, "1-3", 0, 1s, 9s});
  look();
  live_feed::place me;

  auto const barriers = next_update(me).at("state").at("barriers");

  BOOST_TEST(barriers.at(0).at("missing_after_ms").to_number<double>() == 2000.0);
  BOOST_TEST(barriers.at(1).at("missing_after_ms").to_number<double>() == 10000.0);
}

BOOST_FIXTURE_TEST_CASE(a_slow_watcher_gets_all_missed_changes_in_one_message, world) {
  look();
  live_feed::place slow;
  live_feed::place quick;
  next_update(slow);
  next_update(quick);
  for (std::size_t i = 0; i < 3; ++i) {
    job.tasks[i].state = task_state::connected;
    events = i + 1;
    look();
    BOOST_TEST(next_update(quick).at("tasks").as_array().size() == 1u);
  }

  auto const merged = next_update(slow);

  BOOST_TEST(merged.at("tasks").as_array().size() == 3u);
  BOOST_TEST(merged.at("events").as_array().size() == 3u);
  BOOST_TEST(!feed.next(slow));
}

BOOST_FIXTURE_TEST_CASE(watchers_at_the_same_position_share_one_text, world) {
  look();
  live_feed::place a;
  live_feed::place b;
  BOOST_TEST((feed.next(a) == feed.next(b)));
  job.keys = 1;
  look();
  BOOST_TEST((feed.next(a) == feed.next(b)));
}

BOOST_FIXTURE_TEST_CASE(a_task_becoming_overdue_is_a_change, world) {
  job.tasks[1].progress = core::task_progress{7, 1s, false};
  look();
  live_feed::place me;
  next_update(me);

  job.tasks[1].progress->age = 59s;
  BOOST_TEST(!look());
  job.tasks[1].progress->overdue = true;
  BOOST_TEST(look());

  auto const update = next_update(me);
  BOOST_TEST_REQUIRE(update.at("tasks").as_array().size() == 1u);
  BOOST_TEST(update.at("tasks").at(0).at("no_progress").as_bool());
}

BOOST_FIXTURE_TEST_CASE(only_new_finished_rounds_are_sent, world) {
  job.rounds.push_back({1, "b", round_number{1}, 1s, 3, errc::ok, 2ms, 1ms, task_id{2}});
  look();
  live_feed::place me;
  BOOST_TEST(next_update(me).at("state").at("rounds").at(0).at("last_task") == 2);
  job.rounds.push_back({2, "b", round_number{2}, 2s, 3, errc::aborted, 0s, 0s, std::nullopt});
  look();

  auto const update = next_update(me);

  BOOST_TEST_REQUIRE(update.at("rounds").as_array().size() == 1u);
  BOOST_TEST(update.at("rounds").at(0).at("number") == 2);
  BOOST_TEST(update.at("rounds").at(0).at("outcome") == "ABORTED");
}

BOOST_FIXTURE_TEST_CASE(at_most_100_barriers_are_sent, world) {
  look();
  live_feed::place me;
  next_update(me);
  job.barriers.resize(150);
  look();

  auto const update = next_update(me);

  BOOST_TEST(update.at("barriers").as_array().size() == 100u);
  BOOST_TEST(update.at("barriers_more") == 50);
}

BOOST_FIXTURE_TEST_CASE(a_change_of_the_missing_tasks_is_sent, world) {
  look();
  live_feed::place me;
  next_update(me);
  why.stuck = "task 1 can never go on";
  look();
  BOOST_TEST(next_update(me).at("why").at("stuck") == "task 1 can never go on");
}

BOOST_FIXTURE_TEST_CASE(the_whole_job_is_sent_again_when_the_number_of_tasks_has_changed, world) {
  look();
  live_feed::place me;
  next_update(me);
  for (std::uint32_t const tasks : {2U, 5U}) {
    resize(tasks);
    BOOST_TEST(look());
    auto const again = next_update(me);
    BOOST_TEST(again.at("type") == "state");
    BOOST_TEST(again.at("state").at("tasks").as_array().size() == tasks);
    BOOST_TEST(!feed.next(me));

    job.tasks[tasks - 1].state = task_state::failed;
    BOOST_TEST(look());
    auto const update = next_update(me);
    BOOST_TEST(update.at("type") == "update");
    BOOST_TEST_REQUIRE(update.at("tasks").as_array().size() == 1u);
    BOOST_TEST(update.at("tasks").at(0).at("task") == tasks - 1);
  }
}

BOOST_FIXTURE_TEST_CASE(watchers_of_all_positions_get_the_whole_job_after_a_change_of_its_size,
                        world) {
  look();
  live_feed::place slow;
  live_feed::place quick;
  live_feed::place fresh;
  next_update(slow);
  next_update(quick);
  job.tasks[0].state = task_state::failed;
  look();
  next_update(quick);
  resize(4);
  look();
  job.keys = 7;
  look();

  for (auto* const one : {&slow, &quick, &fresh}) {
    auto const whole = next_update(*one);
    BOOST_TEST(whole.at("type") == "state");
    BOOST_TEST(whole.at("state").at("tasks").as_array().size() == 4u);
    BOOST_TEST(!feed.next(*one));
  }
}

// A reader, who must know the same as one that has just come.
struct reader {
  live_feed::place at;
  json::array tasks;

  void take(json::object const& message) {
    if (message.at("type") == "state") {
      tasks = message.at("state").at("tasks").as_array();
      return;
    }
    for (auto const& one : message.at("tasks").as_array()) {
      tasks.at(one.at("task").to_number<std::size_t>()) = one;
    }
  }
};

BOOST_FIXTURE_TEST_CASE(readers_know_all_tasks_through_1000_random_epochs, world) {
  std::minstd_rand random{7};
  auto const below = [&random](std::uint32_t limit) {
    return static_cast<std::uint32_t>(random() % limit);
  };
  std::vector<reader> readers(5);
  for (int epoch = 0; epoch < 1000; ++epoch) {
    resize(below(40));
    for (auto looks = 1 + below(4); looks > 0; --looks) {
      if (!job.tasks.empty()) {
        auto& one = job.tasks[below(static_cast<std::uint32_t>(job.tasks.size()))];
        one.state = static_cast<task_state>(below(4));
        one.self = incarnation{below(1'000'000)};
      }
      events += below(3);
      look();
      for (auto& one : readers) {
        if (below(3) == 0) continue;  // it is slow
        if (auto const text = feed.next(one.at)) one.take(json::parse(*text).as_object());
        BOOST_TEST_REQUIRE(one.tasks == state_of(job).at("tasks").as_array());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(messages_are_counted_while_referenced) {
  text_pool texts{10};
  auto const one = texts.share("12345");
  BOOST_TEST(!texts.is_full());
  {
    auto const other = texts.share("67890");
    BOOST_TEST(texts.is_full());
  }
  BOOST_TEST(texts.bytes() == 5u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::status_page
