// Watching the events (§12.1, §12.4).

#include "tests/core/cluster.hpp"

namespace coxswain::test {
namespace {

using core::event_kind;
using core::severity;

call watch(cluster& c, caller who, std::optional<std::uint64_t> after = {},
           severity at_least = severity::info, duration timeout = without_limit) {
  return c.send(who, core::watch_events_args{after, at_least, timeout}, timeout);
}

core::events_answer const& events(cluster const& c, call of) {
  auto const* const a = c.body<core::events_answer>(of);
  BOOST_TEST_REQUIRE(a != nullptr, "no events but " << c.code(of));
  return *a;
}

std::uint64_t last(cluster& c, caller who) { return events(c, watch(c, who, 0)).through; }

// The only event of the reply.
core::event const& only(cluster const& c, call of) {
  BOOST_TEST_REQUIRE(events(c, of).entries.size() == 1u);
  return events(c, of).entries.front().what;
}

// The kind, task and barrier of each event.
std::string kinds(cluster& c, call of) {
  std::string seen;
  for (auto const& one : events(c, of).entries) {
    seen += std::to_string(static_cast<int>(one.what.kind));
    if (one.what.task) seen += ":" + std::to_string(one.what.task->value);
    if (!one.what.barrier.empty()) seen += ":" + one.what.barrier;
    seen += ' ';
  }
  return seen;
}

BOOST_AUTO_TEST_SUITE(coordinator_events_test)

BOOST_FIXTURE_TEST_CASE(logged_events_carry_a_number_and_a_time, empty_job<1>) {
  int const o = c.observer("host:1");
  c.at(3s);
  c.join({o, 0}, 1);

  auto const& seen = events(c, watch(c, o));

  BOOST_TEST_REQUIRE(seen.entries.size() == 2u);
  BOOST_TEST(seen.entries[0].number == 1u);
  BOOST_TEST(seen.through == 2u);
  BOOST_TEST(seen.lost == 0u);
  BOOST_TEST((seen.entries[1].at == 3s));
  BOOST_TEST((seen.entries[1].what.kind == event_kind::joined));
  BOOST_TEST(seen.entries[0].what.text + '\n' + seen.entries[1].what.text + '\n' == c.log());
}

BOOST_FIXTURE_TEST_CASE(a_watch_from_the_last_event_waits_for_the_next, job<2>) {
  auto const n = last(c, 0);
  auto const seen = watch(c, 0, n);
  BOOST_TEST(c.at(1h).code(seen) == "waits");

  BOOST_TEST((only(c.lose(1), seen).kind == event_kind::suspect));
  BOOST_TEST((only(c, seen).task == task_id{1}));
  BOOST_TEST((only(c, seen).level == severity::warning));
  BOOST_TEST(events(c, seen).through == n + 1);
  BOOST_TEST((events(c, seen).entries[0].at == 1h));
}

BOOST_FIXTURE_TEST_CASE(only_events_of_the_requested_severity_wake_a_watcher, job<2>) {
  auto const seen = watch(c, 0, last(c, 0), severity::error);
  auto const warned = watch(c, 0, last(c, 0), severity::warning);
  BOOST_TEST((only(c.lose(1), warned).kind == event_kind::suspect));
  BOOST_TEST(c.code(seen) == "waits");

  c.at(2s);

  auto const& update = events(c, seen).entries;
  BOOST_TEST_REQUIRE(update.size() == 2u);
  BOOST_TEST((update[0].what.kind == event_kind::failed));
  BOOST_TEST((update[1].what.kind == event_kind::job_failed));
  BOOST_TEST((update[1].what.task == task_id{1}));
}

BOOST_AUTO_TEST_CASE(a_request_for_dropped_events_returns_the_number_lost) {
  cluster c{1, {.events_max = 3}};
  auto const n = last(c, 0);
  for (int i = 0; i < 5; ++i) c.blink(0);

  auto const late = watch(c, 0, n);

  // Three of each: suspect, and back.
  BOOST_TEST(events(c, late).lost == 4u);
  BOOST_TEST(events(c, late).entries.size() == 6u);
  BOOST_TEST(events(c, late).through == n + 10);
  auto const severe = watch(c, 0, n, severity::warning);
  BOOST_TEST(events(c, severe).lost == 2u);
  BOOST_TEST(events(c, severe).entries.size() == 3u);
  BOOST_TEST(events(c, watch(c, 0)).lost == 0u);
  BOOST_TEST(c.code(watch(c, 0, n, severity::error)) == "waits");
}

BOOST_AUTO_TEST_CASE(the_job_error_cause_is_kept_after_many_later_events) {
  constexpr int tasks = 300;
  cluster c{tasks, core::config{.events_max = 20}};
  c.check_less();
  int const o = c.observer();
  for (int i = 1; i < tasks; ++i) {
    c.report_error(i, errc::internal, "boom " + std::to_string(i));
  }
  for (int i = 0; i < 100; ++i) c.blink(0);

  auto const& severe = events(c, watch(c, o, std::nullopt, severity::error)).entries;

  BOOST_TEST_REQUIRE(severe.size() == 2u);
  BOOST_TEST((severe[0].what.kind == event_kind::failed));
  BOOST_TEST((severe[1].what.kind == event_kind::job_failed));
  for (auto const& one : severe) BOOST_TEST((one.what.task == task_id{1}));
  BOOST_TEST(c.look().error->later_count == 298u);
  auto const& last = events(c, watch(c, o, std::nullopt, severity::warning)).entries.back();
  BOOST_TEST((last.what.kind == event_kind::suspect));
  BOOST_TEST(last.count == 100u);
}

BOOST_FIXTURE_TEST_CASE(a_watch_can_request_only_the_last_events_of_each_severity, job<3>) {
  for (int i = 0; i < 3; ++i) c.blink(i);

  auto const& all = events(c, c.send(0, core::watch_events_args{{}, severity::info, 0s, 1}, 0s));

  BOOST_TEST_REQUIRE(all.entries.size() == 2u);
  BOOST_TEST((all.entries[0].what.kind == event_kind::suspect));
  BOOST_TEST((all.entries[1].what.kind == event_kind::back));
}

BOOST_AUTO_TEST_CASE(events_and_texts_use_wall_clock_time) {
  cluster c{2, {.started = {1'795'438'987'212, 3600}}};
  int const o = c.observer();
  c.at(1s).lose(1).at(3s);

  auto const& severe = events(c, watch(c, o, std::nullopt, severity::error)).entries;

  BOOST_TEST_REQUIRE(severe.size() == 2u);
  BOOST_TEST(rfc3339(severe[0].time) == "2026-11-23T14:03:10.212+01:00");
  expect_words(severe[0].what.text,
               {"the connection of task 1 (host1:1001) was lost at 14:03:08.2 and"});
}

BOOST_FIXTURE_TEST_CASE(a_future_event_number_is_refused, job<1>) {
  auto const future = watch(c, 0, last(c, 0) + 1);

  BOOST_TEST(c.code(future) == "INVALID_ARGUMENT");
  expect_words(c.text(future), {"event", "does not exist yet"});
}

BOOST_FIXTURE_TEST_CASE(a_watch_without_events_is_answered_at_its_deadline, job<1>) {
  auto const n = last(c, 0);
  auto const seen = watch(c, 0, n, severity::info, 5s);
  BOOST_TEST(events(c.at(5s), seen).entries.empty());
  BOOST_TEST(events(c, seen).through == n);
}

BOOST_FIXTURE_TEST_CASE(an_event_below_the_severity_advances_the_position_at_the_deadline, job<2>) {
  auto const n = last(c, 0);
  auto const seen = watch(c, 0, n, severity::error, 1s);
  BOOST_TEST(events(c.lose(1).at(1s), seen).through == n + 1);
  BOOST_TEST(events(c, seen).entries.empty());
}

BOOST_FIXTURE_TEST_CASE(an_event_in_the_iteration_of_the_deadline_is_returned, job<1>) {
  auto const n = last(c, 0);
  auto const seen = watch(c, 0, n, severity::info, 5s);
  BOOST_TEST((only(c.stall(6s), seen).kind == event_kind::stalled));
  BOOST_TEST(events(c, seen).through == n + 1);
}

BOOST_AUTO_TEST_CASE(event_kinds_identify_what_happened_and_to_which_task) {
  auto c = cluster::without_clients(2, {.waiting_log_period = 1s});
  int const a = c.observer();
  int const b = c.observer();
  c.join({a, 0}, 1);
  c.join({b, 1}, 2);
  c.barrier(a, "epoch", 1500ms);
  c.at(2s).blink(b).stall(5s);
  c.hello({.job = "another"});
  c.leave(a);
  c.leave(b);

  // joining, joining, joined; waiting, round_failed; suspect, back; stalled; refused; left
  BOOST_TEST(kinds(c, watch(c, a)) == "14:0 14:1 1 8:epoch 6:epoch 4:1 5:1 10 9 2:0 2:1 2 ");
}

BOOST_AUTO_TEST_CASE(each_barrier_failure_is_one_event) {
  cluster c{3, {.recoverable = true}};
  int const o = c.observer();
  auto const n = last(c, o);
  c.barrier(0, "late", 1s);
  c.at(1s);
  c.barrier(0, "cancelled");
  c.cancel(o, "cancelled");
  c.barrier(0, "differs");
  c.barrier(1, "differs", 1s, {.among = {0, 1}});
  c.barrier(0, "lost", 60s, {.fail_when_lost = true});
  c.task_ended(1, {errc::aborted, "killed"});

  // round_failed, round_failed, round_failed; failed, round_failed
  BOOST_TEST(kinds(c, watch(c, o, n)) == "6:late 6:cancelled 6:differs 3:1 6:lost ");
}

BOOST_FIXTURE_TEST_CASE(each_change_of_a_task_and_of_the_job_is_one_event, job<3>) {
  int const o = c.observer();
  auto const n = last(c, o);
  c.barrier(0, "b");
  c.blink(0).lose(1).at(2s);
  c.task_ended(2, {errc::aborted, "killed"});

  // suspect, back; suspect; failed, job_failed, with which the open barriers fail; ended_with_job
  BOOST_TEST(kinds(c, watch(c, o, n)) == "4:0 5:0 4:1 3:1 7:1 23:2 ");
}

BOOST_FIXTURE_TEST_CASE(a_stop_ends_event_watches_unavailable, job<1>) {
  auto const seen = watch(c, 0, last(c, 0));

  BOOST_TEST(c.stop("maintenance").code(seen) == "UNAVAILABLE");
  expect_words(c.text(seen), {"maintenance"});
}

BOOST_FIXTURE_TEST_CASE(equal_event_watches_share_one_answer, job<3>) {
  auto const n = last(c, 0);
  auto const one = watch(c, 0, n);
  auto const two = watch(c, 1, n);

  c.lose(2);

  BOOST_TEST((c.answer_to(one) == c.answer_to(two)));
}

BOOST_FIXTURE_TEST_CASE(a_cancelled_event_watch_leaves_nothing, job<2>) {
  c.heartbeat(0);
  auto const n = last(c, 0);
  auto const before = c.look().memory_bytes;
  BOOST_TEST(c.cancel(watch(c, 0, n)).look().memory_bytes == before);
}

BOOST_AUTO_TEST_CASE(wrong_tokens_of_a_host_are_logged_once_in_ten_seconds) {
  auto c = cluster::without_clients(1, {.credentials = {{core::role::worker, "right"}}});
  int const observer = c.hello(core::hello_args{.token = "right"});
  auto const guess = [&](std::string peer) {
    auto const on = c.dial(std::move(peer));
    c.say(on, core::client_message{.what = core::hello_args{}});
  };

  for (int i = 0; i < 1'000; ++i) guess("10.0.0.7:" + std::to_string(i));
  guess("10.0.0.8:1");
  auto const at_once = watch(c, observer, 0);
  BOOST_TEST(events(c, at_once).entries.size() == 2u);
  BOOST_TEST(
      contains(events(c, at_once).entries[0].what.text, "connection from 10.0.0.7:0 refused"));

  c.pass(10s);
  auto const later = watch(c, observer, events(c, at_once).through);
  BOOST_TEST(
      only(c, later).text ==
      "999 more connections from 10.0.0.7 refused within 10 s for missing or invalid tokens");

  guess("10.0.0.7:1");
  guess("10.0.0.8:1");
  auto const next = watch(c, observer, events(c, later).through);
  BOOST_TEST(contains(only(c, next).text, "connection from 10.0.0.8:1 refused"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
