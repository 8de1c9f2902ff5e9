// What an unmodified JAX process observes, by section of the protocol's behaviours.

#include "tests/main/contains.hpp"
#include "tests/xla/harness.hpp"
#include "tests/xla/topologies.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <utility>
#include <vector>

namespace coxswain::xla {
namespace {

using coxswain::test::contains;
using test::global_topology;
using test::harness;
using test::local_topology;
using test::t0;

// The texts of the core's new events.
std::string events_of(harness& h) {
  std::vector<core::event> events;
  h.logic().take_events(events);
  std::string all;
  for (auto const& one : events) all += one.text + "\n";
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(xla_service_test)

BOOST_AUTO_TEST_CASE(registration_is_a_barrier_of_all_tasks) {
  harness h{2};
  auto const a = h.connect();
  auto const first = h.call(a, method::register_task, harness::by(0));
  BOOST_TEST(h.text(first) == "waits");

  auto const second = h.call(h.connect(), method::register_task, harness::by(1));
  BOOST_TEST(h.text(first) == "OK");
  BOOST_TEST(h.text(second) == "OK");
  BOOST_TEST(h.message(first) == encode_incarnation(test::coordinator_self));
}

BOOST_AUTO_TEST_CASE(both_generations_can_share_a_job) {
  harness h{2};
  auto const a = h.connect();
  auto const b = h.connect();
  h.call(a, method::register_task, harness::by(0));
  h.of = generation::second;
  auto const joined = h.call(b, method::register_task, harness::by(1));
  BOOST_TEST(h.text(joined) == "OK");
  auto const second = h.call(b, method::barrier, harness::meet(1, "b"));
  h.of = generation::third;
  auto const third = h.call(a, method::barrier, harness::meet(0, "b"));
  BOOST_TEST(h.text(second) == "OK");
  BOOST_TEST(h.text(third) == "OK");
}

BOOST_AUTO_TEST_CASE(a_join_times_out_before_its_client_does) {
  harness h{3};
  auto const a = h.connect();
  auto const first = h.call(a, method::register_task, harness::by(0), 35s);
  h.wait_until(t0 + 30s - 1ns);
  BOOST_TEST(h.text(first) == "waits");
  h.wait_until(t0 + 30s);
  BOOST_TEST(h.code(first) == "DEADLINE_EXCEEDED");
  BOOST_TEST(contains(h.text(first), "2 of 3 tasks are missing: 1 ("));
  BOOST_TEST(h.is_service_error(first));
}

BOOST_AUTO_TEST_CASE(a_register_waits_at_most_the_coordinators_timeout) {
  harness h{2, false, {.join_timeout_max = 10s}};
  auto const first = h.call(h.connect(), method::register_task, harness::by(0), 305s);
  h.wait_until(t0 + 10s - 1ns);
  BOOST_TEST(h.text(first) == "waits");
  h.wait_until(t0 + 10s);
  BOOST_TEST(h.code(first) == "DEADLINE_EXCEEDED");
}

BOOST_AUTO_TEST_CASE(a_repeated_registration_succeeds_at_once) {
  harness h{1};
  auto const c = h.start(1).front();
  auto const again = h.call(c, method::register_task, harness::by(0));
  BOOST_TEST(h.text(again) == "OK");
  BOOST_TEST(h.entrance().task_sessions() == 1U);
}

BOOST_AUTO_TEST_CASE(a_repeated_registration_replaces_the_older_call) {
  harness h{2};
  auto const a = h.connect();
  auto const first = h.call(a, method::register_task, harness::by(0));
  auto const again = h.call(a, method::register_task, harness::by(0));
  BOOST_TEST(h.code(first) == "CANCELLED");
  h.call(a, method::register_task, harness::by(1));
  BOOST_TEST(h.text(again) == "OK");
}

BOOST_AUTO_TEST_CASE(a_newer_incarnation_ends_the_older_join) {
  harness h{2};
  auto const a = h.connect();
  auto const older = h.call(a, method::register_task, harness::by(0));
  auto newer = harness::by(0);
  newer.self = incarnation{99};
  auto const second = h.call(a, method::register_task, newer);
  BOOST_TEST(h.code(older) == "ALREADY_EXISTS");
  BOOST_TEST(h.is_service_error(older));
  h.call(a, method::register_task, harness::by(1));
  BOOST_TEST(h.text(second) == "OK");
}

BOOST_AUTO_TEST_CASE(a_registration_survives_its_connection) {
  harness h{2};
  auto const a = h.connect();
  h.call(a, method::register_task, harness::by(0));
  h.wait(1s);
  h.close(a);
  h.wait(1s);
  auto const again = h.call(h.connect(), method::register_task, harness::by(0));
  BOOST_TEST(h.text(again) == "waits");
  h.call(h.connect(), method::register_task, harness::by(1));
  BOOST_TEST(h.text(again) == "OK");
}

BOOST_AUTO_TEST_CASE(a_heartbeat_is_answered_with_the_same_incarnation) {
  harness h{1};
  auto const c = h.start(1).front();
  for (int i = 0; i < 5; ++i) {
    h.wait(50s);
    h.pong(c);
    auto const beat = h.call(c, method::heartbeat, harness::by(0));
    BOOST_TEST(h.message(beat) == encode_incarnation(test::coordinator_self));
  }
  auto outsider = harness::by(0);
  outsider.self = incarnation{5};
  BOOST_TEST(h.code(h.call(c, method::heartbeat, outsider)) == "ABORTED");
  BOOST_TEST(h.code(h.call(c, method::heartbeat, harness::by(7))) == "INVALID_ARGUMENT");
}

BOOST_AUTO_TEST_CASE(heartbeats_too_slow_for_the_coordinators_timeout_are_logged_once) {
  harness h{1, false, {.heartbeat_timeout = 90s}};
  auto const c = h.start(1).front();
  auto const beat_after = [&](duration d) {
    for (; d > 30s; d -= 30s) {
      h.wait(30s);
      h.pong(c);
    }
    h.wait(d);
    BOOST_TEST(h.text(h.call(c, method::heartbeat, harness::by(0))) == "OK");
  };
  beat_after(80s);  // the first one may come at any time
  beat_after(60s);
  BOOST_TEST(h.logged.empty());

  beat_after(60s + 1ns);
  BOOST_TEST_REQUIRE(h.logged.size() == 1U);
  for (auto const word :
       {"task 0 from 10.0.0.1:", "no heartbeat for 60 s", "the coordinator's is 90 s",
        "heartbeat_timeout_seconds", "--heartbeat-timeout"}) {
    BOOST_TEST(contains(h.logged.front(), word), h.logged.front());
  }
  beat_after(70s);
  BOOST_TEST(h.logged.size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_wrong_service_incarnation_fails_every_method_but_register) {
  harness h{1};
  auto const c = h.start(1).front();
  for (std::size_t i = 0; i < methods; ++i) {
    auto const what = static_cast<method>(i);
    if (what == method::register_task) continue;
    auto asked = harness::about(0, "a");
    asked.service = incarnation{1};
    auto const one = h.call(c, what, asked);
    BOOST_TEST(h.text(one) == "INTERNAL: wrong service incarnation: requested 1, currently 77");
    BOOST_TEST(contains(h.how(one).details, "ServiceMismatchError"));
    BOOST_TEST(h.is_service_error(one));
  }
}

BOOST_AUTO_TEST_CASE(a_lost_task_answers_all_polls_within_the_grace_period) {
  harness h{3};
  auto const all = h.start(3);
  std::vector<call_id> polls;
  for (std::uint32_t i = 0; i < 3; ++i) {
    polls.push_back(h.call(all[i], method::poll_for_error, harness::by(i)));
  }
  h.wait(10s);
  h.close(all[1]);
  h.wait_until(t0 + 10s + 200ms - 1ns);
  BOOST_TEST(h.text(polls[0]) == "waits");
  h.wait_until(t0 + 10s + 200ms);
  for (auto const i : {0, 2}) {
    BOOST_TEST(h.code(polls[static_cast<std::size_t>(i)]) == "UNAVAILABLE");
    BOOST_TEST(contains(h.text(polls[static_cast<std::size_t>(i)]), "Task 1 heartbeat timeout"));
    // CoordinationServiceError { source_task_id: 1 }
    BOOST_TEST(contains(h.how(polls[static_cast<std::size_t>(i)]).details, "\x12\x02\x20\x01"));
  }
  auto const late = h.call(all[0], method::poll_for_error, harness::by(0));
  BOOST_TEST(h.code(late) == "UNAVAILABLE");
  auto const beat = h.call(all[2], method::heartbeat, harness::by(2));
  BOOST_TEST(h.code(beat) == "ABORTED");
  auto claimant = harness::by(1);
  claimant.self = incarnation{99};
  auto const back = h.call(h.connect(), method::register_task, claimant);
  BOOST_TEST(h.code(back) == "FAILED_PRECONDITION");
  BOOST_TEST(h.is_service_error(back));
}

BOOST_AUTO_TEST_CASE(the_label_of_a_task_is_shown_once) {
  harness h{2};
  h.of = generation::second;
  auto const all = h.start(2);
  BOOST_TEST(contains(events_of(h),
                      "task 1 (jax 0.7.1-0.9.0, 10.0.0.1:1002) from 10.0.0.1:1002 is "
                      "joining"));
  h.call(all[1], method::poll_for_error, harness::by(1));
  auto const waits = h.call(all[0], method::barrier, harness::meet(0, "b"));
  h.close(all[1]);
  h.wait(1s);
  auto const log = events_of(h);
  BOOST_TEST(contains(log, "task 1 is suspect"));
  BOOST_TEST(contains(log,
                      "task 1 failed: UNAVAILABLE: the connection of task 1 (jax 0.7.1-0.9.0, "
                      "10.0.0.1:1002) was closed"));
  BOOST_TEST(contains(h.text(waits), "task 1 failed: UNAVAILABLE: the connection of task 1 (jax "));
}

BOOST_AUTO_TEST_CASE(a_lost_task_without_a_poll_has_until_its_heartbeat_timeout) {
  harness h{2};
  auto const all = h.start(2);
  h.close(all[0]);
  h.wait(50s);
  auto const beat = h.call(h.connect(), method::heartbeat, harness::by(0));
  BOOST_TEST(h.text(beat) == "OK");
  BOOST_TEST(!h.logic().error());
}

BOOST_AUTO_TEST_CASE(a_task_that_polls_elsewhere_outlives_its_other_connections) {
  harness h{1};
  auto const first = h.start(1).front();
  auto const second = h.connect();
  auto const poll = h.call(second, method::poll_for_error, harness::by(0));
  h.call(first, method::heartbeat, harness::by(0));
  events_of(h);
  h.close(first);
  h.wait(10s);
  BOOST_TEST(h.text(poll) == "waits");
  BOOST_TEST(events_of(h) == "");
}

BOOST_AUTO_TEST_CASE(a_task_whose_poll_was_lost_has_the_short_grace_whatever_else_it_has) {
  harness h{1};
  auto const first = h.start(1).front();
  auto const second = h.connect();
  h.call(first, method::poll_for_error, harness::by(0));
  h.call(second, method::heartbeat, harness::by(0));
  h.close(first);
  h.wait(200ms - 1ns);
  BOOST_TEST(!h.logic().error());
  h.wait(1ns);
  BOOST_TEST(h.logic().error().has_value());
}

BOOST_AUTO_TEST_CASE(a_second_poll_replaces_the_first) {
  harness h{1};
  auto const c = h.start(1).front();
  auto const first = h.call(c, method::poll_for_error, harness::by(0));
  auto const second = h.call(c, method::poll_for_error, harness::by(0));
  BOOST_TEST(h.code(first) == "CANCELLED");
  BOOST_TEST(h.text(second) == "waits");
}

BOOST_AUTO_TEST_CASE(shutting_down_is_a_barrier_and_ends_the_polls_first) {
  harness h{2};
  auto const all = h.start(2);
  auto const poll = h.call(all[0], method::poll_for_error, harness::by(0));
  auto const first = h.call(all[0], method::shutdown_task, harness::by(0), 305s);
  BOOST_TEST(h.text(first) == "waits");
  auto const second = h.call(all[1], method::shutdown_task, harness::by(1), 305s);
  BOOST_TEST(h.text(first) == "OK");
  BOOST_TEST(h.text(second) == "OK");
  BOOST_TEST(h.code(poll) == "CANCELLED");
  BOOST_TEST(h.place(poll) < h.place(first));
  BOOST_TEST(h.logic().done());
  BOOST_TEST(h.logic().drained());
  // After that it may be destroyed in any order.
  BOOST_TEST(h.text(h.call(all[0], method::heartbeat, harness::by(0))) == "OK");
  h.close(all[0]);
  h.close(all[1]);
  BOOST_TEST(h.entrance().task_sessions() == 0U);
  BOOST_TEST(h.entrance().open_calls() == 0U);
}

BOOST_AUTO_TEST_CASE(a_shutdown_timeout_fails_the_job_and_names_the_missing_task) {
  harness h{2};
  auto const all = h.start(2);
  auto const poll = h.call(all[1], method::poll_for_error, harness::by(1));
  auto const leaves = h.call(all[0], method::shutdown_task, harness::by(0), 15s);
  h.wait(10s);
  BOOST_TEST(h.code(leaves) == "INTERNAL");
  BOOST_TEST(contains(h.text(leaves), "Shutdown barrier has failed.\nBarrier result: 'INTERNAL: "));
  BOOST_TEST(contains(h.text(leaves), "timed out"));
  BOOST_TEST(h.code(poll) == "FAILED_PRECONDITION");  // the failed task's own poll
}

BOOST_AUTO_TEST_CASE(with_a_shutdown_timeout_of_zero_a_task_leaves_alone_and_can_rejoin) {
  harness h{2};
  auto const all = h.start(2);
  BOOST_TEST(h.text(h.call(all[0], method::shutdown_task, harness::by(0), 5100ms)) == "OK");
  auto again = harness::by(0);
  again.self = incarnation{99};
  BOOST_TEST(h.text(h.call(all[0], method::register_task, again)) == "OK");
  BOOST_TEST(!h.logic().error());
}

BOOST_AUTO_TEST_CASE(a_task_that_dies_during_the_shutdown_is_named) {
  harness h{2};
  auto const all = h.start(2);
  h.call(all[1], method::poll_for_error, harness::by(1));
  auto const leaves = h.call(all[0], method::shutdown_task, harness::by(0), 305s);
  h.close(all[1]);
  h.wait(200ms);
  BOOST_TEST(h.code(leaves) == "INTERNAL");
  BOOST_TEST(contains(h.text(leaves), "heartbeat timeout"));
  BOOST_TEST(contains(h.text(leaves), "task 1 "));
}

BOOST_AUTO_TEST_CASE(barriers_echo_the_counters_of_clients) {
  harness h{2};
  auto const all = h.start(2);
  for (std::int64_t round = 0; round < 3; ++round) {
    auto const first = h.call(all[0], method::barrier, harness::meet(0, "b", round));
    auto const second = h.call(all[1], method::barrier, harness::meet(1, "b", round));
    BOOST_TEST(h.message(first) == encode_counter(round));
    BOOST_TEST(h.message(second) == encode_counter(round));
  }
  auto const waits = h.call(all[0], method::barrier, harness::meet(0, "b", 3));
  auto const cancel = h.call(all[0], method::cancel_barrier, harness::about(0, "b"));
  BOOST_TEST(h.text(cancel) == "OK");
  BOOST_TEST(h.code(waits) == "CANCELLED");
  BOOST_TEST(contains(h.how(waits).details, "BarrierError"));
}

BOOST_AUTO_TEST_CASE(a_barrier_timeout_names_the_missing_tasks) {
  harness h{2};
  auto const all = h.start(2);
  auto const waits = h.call(all[0], method::barrier, harness::meet(0, "b", 4, 1000));
  h.wait(1s);
  BOOST_TEST(h.text(waits).starts_with("DEADLINE_EXCEEDED: Barrier timed out. Barrier 'b'"));
  BOOST_TEST(contains(h.text(waits), "1 (connected, last heard"));
  BOOST_TEST(contains(h.text(waits), "jax 0.10 or newer, 10.0.0.1:100"));
  BOOST_TEST(contains(h.how(waits).details, std::string{"\x0a\x01"} + "b" + "\x10\x04"));
  // The straggler of that round gets the same.
  auto const late = h.call(all[1], method::barrier, harness::meet(1, "b", 4, 1000));
  BOOST_TEST(h.code(late) == "DEADLINE_EXCEEDED");
}

BOOST_AUTO_TEST_CASE(a_repeated_barrier_call_replaces_the_older_one_or_gets_its_outcome) {
  harness h{2};
  auto const all = h.start(2);
  auto const first = h.call(all[0], method::barrier, harness::meet(0, "b"));
  auto const again = h.call(all[0], method::barrier, harness::meet(0, "b"));
  BOOST_TEST(h.code(first) == "CANCELLED");
  h.call(all[1], method::barrier, harness::meet(1, "b"));
  BOOST_TEST(h.text(again) == "OK");
  auto const later = h.call(all[0], method::barrier, harness::meet(0, "b"));
  BOOST_TEST(h.text(later) == "OK");
}

BOOST_AUTO_TEST_CASE(only_the_call_of_a_non_participant_is_refused) {
  harness h{3};
  auto const all = h.start(3);
  auto with = [](request asked) {
    asked.tasks = {{0}, {1}};
    return asked;
  };
  auto const wrong = h.call(all[2], method::barrier, with(harness::meet(2, "b")));
  BOOST_TEST(h.text(wrong) ==
             "INVALID_ARGUMENT: A non-participating task (2) called the barrier: b");
  auto const first = h.call(all[0], method::barrier, with(harness::meet(0, "b")));
  auto const second = h.call(all[1], method::barrier, with(harness::meet(1, "b")));
  BOOST_TEST(h.text(first) == "OK");
  BOOST_TEST(h.text(second) == "OK");
}

BOOST_AUTO_TEST_CASE(different_participants_for_one_barrier_are_a_conflict) {
  harness h{2};
  auto const all = h.start(2);
  auto alone = harness::meet(0, "b");
  alone.tasks = {{0}, {1}};
  auto const first = h.call(all[0], method::barrier, alone);
  auto other = harness::meet(1, "b");
  other.tasks = {{1}};
  auto const second = h.call(all[1], method::barrier, other);
  BOOST_TEST(h.code(second) == "INVALID_ARGUMENT");
  BOOST_TEST(contains(h.text(second), "Conflicting tasks specified"));
  BOOST_TEST(contains(h.text(first), "Conflicting tasks specified"));
}

BOOST_AUTO_TEST_CASE(key_errors_have_the_texts_that_programs_match) {
  harness h{1};
  auto const c = h.start(1).front();
  auto const get = h.call(c, method::get_key_value, harness::about(0, "/k"));
  BOOST_TEST(h.text(get) == "waits");
  BOOST_TEST(h.text(h.call(c, method::insert_key_value, harness::about(0, "/k", "v"))) == "OK");
  BOOST_TEST(contains(h.message(get), "v"));
  auto const twice = h.call(c, method::insert_key_value, harness::about(0, "/k", "w"));
  BOOST_TEST(h.text(twice) == "ALREADY_EXISTS: key /k already exists.");
  BOOST_TEST(h.how(twice).details == "");
  auto over = harness::about(0, "/k", "w");
  over.overwrite = true;
  BOOST_TEST(h.text(h.call(c, method::insert_key_value, over)) == "OK");
  auto const none = h.call(c, method::try_get_key_value, harness::about(0, "none"));
  BOOST_TEST(h.text(none) == "NOT_FOUND: Config key none not found.");
  BOOST_TEST(h.is_service_error(none));
}

BOOST_AUTO_TEST_CASE(increments_are_decimal_text) {
  harness h{1};
  auto const c = h.start(1).front();
  auto step = harness::about(0, "n");
  step.number = -3;
  BOOST_TEST(contains(h.message(h.call(c, method::increment_key_value, step)), "-3"));
  h.call(c, method::insert_key_value, harness::about(0, "text", "abc"));
  step.name = "text";
  auto const wrong = h.call(c, method::increment_key_value, step);
  BOOST_TEST(h.code(wrong) == "FAILED_PRECONDITION");
  BOOST_TEST(h.is_service_error(wrong));
}

BOOST_AUTO_TEST_CASE(directories_are_listed_and_removed_recursively) {
  harness h{1};
  auto const c = h.start(1).front();
  for (auto const* const key : {"a/2", "a/1", "a", "b"}) {
    h.call(c, method::insert_key_value, harness::about(0, key, "x"));
  }
  std::string expected;
  append_listed(expected, "a/1", "x");
  append_listed(expected, "a/2", "x");
  for (auto const* const name : {"a", "a/", "/a/"}) {
    auto const list = h.call(c, method::get_key_value_dir, harness::about(0, name));
    BOOST_TEST(h.message(list) == expected);
  }
  BOOST_TEST(h.text(h.call(c, method::delete_key_value, harness::about(0, "/"))) == "OK");
  BOOST_TEST(h.text(h.call(c, method::delete_key_value, harness::about(0, "a"))) == "OK");
  auto const rest = h.call(c, method::try_get_key_value, harness::about(0, "a"));
  BOOST_TEST(h.code(rest) == "NOT_FOUND");
  BOOST_TEST(h.text(h.call(c, method::try_get_key_value, harness::about(0, "b"))) == "OK");
}

BOOST_AUTO_TEST_CASE(a_large_directory_is_listed_and_removed_in_pages) {
  harness h{1};
  auto const c = h.start(1).front();
  std::string expected;
  for (int i = 100'000; i < 120'500; ++i) {
    auto const key = "d/" + std::to_string(i);
    h.call(c, method::insert_key_value, harness::about(0, key, "x"));
    append_listed(expected, key, "x");
  }
  h.entrance().begin();
  auto const list = h.call(c, method::get_key_value_dir, harness::about(0, "d"));
  BOOST_TEST(h.text(list) == "waits");  // for the next iteration
  h.wait(1ms);
  BOOST_TEST((h.message(list) == expected));
  auto const removed = h.call(c, method::delete_key_value, harness::about(0, "d"));
  h.wait(1ms);
  BOOST_TEST(h.text(removed) == "OK");
  BOOST_TEST(h.logic().look(h.now).keys == 0U);
}

BOOST_AUTO_TEST_CASE(a_listing_beyond_the_limit_is_refused) {
  harness h{1};
  auto const c = h.start(1).front();
  for (int i = 0; i < 3; ++i) {
    h.call(c, method::insert_key_value,
           harness::about(0, "d/" + std::to_string(i), std::string(400'000, 'x')));
  }
  auto const list = h.call(c, method::get_key_value_dir, harness::about(0, "d"));
  BOOST_TEST(h.code(list) == "RESOURCE_EXHAUSTED");
}

BOOST_AUTO_TEST_CASE(watches_report_all_tasks_and_their_version) {
  harness h{2};
  auto const all = h.start(2);
  auto first = harness::by(0);
  first.number = -1;
  auto const now = h.call(all[0], method::watch_tasks, first);
  BOOST_TEST(h.text(now) == "OK");
  first.number = 1'000'000;  // of another coordinator
  BOOST_TEST(h.text(h.call(all[0], method::watch_tasks, first)) == "OK");
  auto const version = h.message(now).back();
  first.number = version;
  auto const next = h.call(all[0], method::watch_tasks, first);
  BOOST_TEST(h.text(next) == "waits");
  h.call(all[1], method::poll_for_error, harness::by(1));
  h.close(all[1]);
  BOOST_TEST(h.text(next) == "OK");
}

BOOST_AUTO_TEST_CASE(alive_tasks_come_with_their_incarnations) {
  harness h{3};
  auto const all = h.start(3);
  std::vector<call_id> calls;
  for (std::uint32_t i = 0; i < 2; ++i) {
    auto asked = harness::by(i);
    asked.tasks = {{0}, {1}};
    calls.push_back(h.call(all[i], method::get_alive_tasks, asked));
  }
  auto const expected =
      encode_alive(generation::third, {{0}, {1}}, {incarnation{10}, incarnation{11}});
  BOOST_TEST(h.message(calls[0]) == expected);
  BOOST_TEST(h.message(calls[1]) == expected);
  auto foreign = harness::by(2);
  foreign.tasks = {{0}, {1}};
  auto const refused = h.call(all[2], method::get_alive_tasks, foreign);
  BOOST_TEST(h.code(refused) == "INVALID_ARGUMENT");
  BOOST_TEST(h.how(refused).details == "");
}

BOOST_AUTO_TEST_CASE(the_second_generation_lists_alive_tasks_by_name) {
  harness h{1};
  h.of = generation::second;
  auto const c = h.connect();
  auto me = harness::by(0);
  me.task->job = "jax_worker";
  h.call(c, method::register_task, me);
  me.tasks = {*me.task};
  auto const alive = h.call(c, method::get_alive_tasks, me);
  BOOST_TEST(h.message(alive) ==
             encode_alive(generation::second, {{0, "jax_worker"}}, {incarnation{10}}));
}

BOOST_AUTO_TEST_CASE(a_reported_error_reaches_all_polls_unchanged) {
  harness h{2};
  auto const all = h.start(2);
  auto const poll = h.call(all[0], method::poll_for_error, harness::by(0));
  auto report = harness::by(1);
  report.code = 13;
  report.text = "hang";
  BOOST_TEST(h.text(h.call(all[1], method::report_error, report)) == "OK");
  BOOST_TEST(h.text(poll) == "INTERNAL: Task 1 failed: hang");
  // is_reported_error, and the task
  BOOST_TEST(contains(h.how(poll).details, "\x12\x04\x18\x01\x20\x01"));
}

BOOST_AUTO_TEST_CASE(a_job_error_with_code_cancelled_reaches_polls_as_internal) {
  harness h{2};
  auto const all = h.start(2);
  auto const poll = h.call(all[0], method::poll_for_error, harness::by(0));
  auto report = harness::by(1);
  report.code = 1;
  report.text = "x";
  h.call(all[1], method::report_error, report);
  BOOST_TEST(h.code(poll) == "INTERNAL");
}

BOOST_AUTO_TEST_CASE(a_cancelled_poll_loses_only_its_own_task) {
  harness h{2};
  auto const c = h.connect();
  h.start(2, c);
  auto const dies = h.call(c, method::poll_for_error, harness::by(0));
  auto const lives = h.call(c, method::poll_for_error, harness::by(1));
  h.cancel(dies);
  h.wait(200ms - 1ns);
  BOOST_TEST(h.text(lives) == "waits");
  h.wait(1ns);
  BOOST_TEST(h.code(lives) == "UNAVAILABLE");
  BOOST_TEST(contains(h.text(lives), "Task 0"));
}

BOOST_AUTO_TEST_CASE(a_poll_ended_by_our_goaway_is_not_a_lost_task) {
  harness h{2};
  auto const c = h.connect();
  h.start(2, c);
  auto const poll = h.call(c, method::poll_for_error, harness::by(0));
  h.cancel(poll, true);
  h.wait(3s);
  BOOST_TEST(!h.logic().error());
}

BOOST_AUTO_TEST_CASE(a_silent_client_is_pinged_and_its_pong_counts_as_a_heartbeat) {
  harness h{1};
  auto const c = h.start(1).front();
  h.call(c, method::poll_for_error, harness::by(0));
  h.wait(34s);
  BOOST_TEST(h.pings.size() == 1U);
  for (int i = 0; i < 10; ++i) {
    h.pong(c);
    h.wait(34s);
  }
  BOOST_TEST(!h.logic().error());
  h.wait(100s);
  BOOST_TEST(!h.goodbyes.empty());
}

BOOST_AUTO_TEST_CASE(the_holder_of_a_task_is_probed_with_a_ping) {
  harness h{1};
  auto const c = h.start(1).front();
  h.call(c, method::poll_for_error, harness::by(0));
  auto claimant = harness::by(0);
  claimant.self = incarnation{99};
  auto const joins = h.call(h.connect(), method::register_task, claimant);
  BOOST_TEST(h.text(joins) == "waits");
  BOOST_TEST(h.pings.size() == 1U);
  h.pong(c);
  h.wait(200ms);
  BOOST_TEST(h.code(joins) == "ABORTED");
  BOOST_TEST(h.is_service_error(joins));
  BOOST_TEST(!h.logic().error());
}

BOOST_AUTO_TEST_CASE(the_first_generation_is_refused_with_a_clear_reason) {
  harness h{1};
  h.of = generation::second;
  auto const c = h.start(1).front();
  auto const waits = h.call(c, method::barrier, harness::meet(0, "PjRT_Client_Connect"));
  BOOST_TEST(h.code(waits) == "FAILED_PRECONDITION");
  BOOST_TEST(contains(h.text(waits), "use jaxlib 0.4.36 or newer"));
}

BOOST_AUTO_TEST_CASE(another_job_is_refused) {
  harness h{1};
  h.of = generation::second;
  auto me = harness::by(0);
  me.task->job = "other";
  auto const c = h.connect();
  BOOST_TEST(h.code(h.call(c, method::register_task, me)) == "INVALID_ARGUMENT");
  me.task->job = "jax_worker";
  BOOST_TEST(h.text(h.call(c, method::register_task, me)) == "OK");
}

BOOST_AUTO_TEST_CASE(a_preemption_notice_sets_the_key_that_jax_waits_for) {
  harness h{2};
  auto const all = h.start(2);
  auto const notice =
      h.call(all[1], method::get_key_value, harness::about(1, "RECEIVED_PREEMPTION_NOTICE"));
  BOOST_TEST(h.logic().put_in(h.now, core::preempt_args{task_id{0}, 60s}).ok());
  h.settle();
  BOOST_TEST(h.text(notice) == "OK");
  BOOST_TEST(contains(h.message(notice), "1970-01-01T00:01:00.000+00:00"));
  auto const log = events_of(h);
  BOOST_TEST(contains(log, "JAX tasks agree on a step among themselves"));
  BOOST_TEST(!contains(log, "stop at step"));
}

BOOST_AUTO_TEST_CASE(jax_does_not_wait_for_a_preemption_that_others_prepare_for) {
  core::config early;
  early.preemption_lead = 2h;
  harness h{1, false, early};
  auto const c = h.start(1).front();
  auto const notice =
      h.call(c, method::get_key_value, harness::about(0, "RECEIVED_PREEMPTION_NOTICE"));
  BOOST_TEST(h.logic().put_in(h.now, core::preempt_args{task_id{0}, 1h}).ok());
  h.settle();
  BOOST_TEST(contains(h.message(notice), "1970-01-01T00:15:00.000+00:00"));
}

BOOST_AUTO_TEST_CASE(a_notice_of_jax_is_one_of_the_core) {
  using notice = std::pair<char const*, char const*>;
  for (auto const of : {generation::second, generation::third}) {
    for (auto const& [when, words] :
         {notice{"1970-01-01T01:00:07.5+01:00", "will be preempted in 7.5"},
          notice{"1970-01-01T00:00:00Z", "will be preempted in 0"},
          notice{"soon", "will be preempted in 0"}}) {
      harness h{2};
      h.of = of;
      auto const all = h.start(2);
      auto const sets = harness::about(1, "RECEIVED_PREEMPTION_NOTICE", when);
      BOOST_TEST(h.text(h.call(all[1], method::insert_key_value, sets)) == "OK");
      BOOST_TEST(h.text(h.call(all[0], method::insert_key_value,
                               harness::about(0, "RECEIVED_PREEMPTION_NOTICE", "later"))) ==
                 "ALREADY_EXISTS: key RECEIVED_PREEMPTION_NOTICE already exists.");
      auto const log = events_of(h);
      BOOST_TEST(contains(log, words));
      BOOST_TEST(contains(log, "task 1 will be preempted"));
    }
  }
}

// The second generation does not say who sets a key.
BOOST_AUTO_TEST_CASE(a_notice_on_a_shared_connection_is_about_all_of_its_tasks) {
  harness h{3};
  h.of = generation::second;
  auto const shared = h.connect();
  std::vector<call_id> joins;
  for (std::uint32_t i = 0; i < 2; ++i) {
    joins.push_back(h.call(shared, method::register_task, harness::by(i)));
  }
  h.call(h.connect(), method::register_task, harness::by(2));
  events_of(h);
  request sets;
  sets.name = "RECEIVED_PREEMPTION_NOTICE";
  sets.value = "1970-01-01T00:00:30Z";
  h.call(shared, method::insert_key_value, sets);
  auto const log = events_of(h);
  BOOST_TEST(contains(log, "task 0 will be preempted"));
  BOOST_TEST(contains(log, "task 1 will be preempted"));
  BOOST_TEST(!contains(log, "task 2"));
}

BOOST_AUTO_TEST_CASE(the_agreement_of_jax_is_of_its_own_tasks) {
  core::config open;
  open.join_barrier = false;
  harness h{3, false, open};  // task 1 is not one of JAX
  auto const first = h.connect();
  auto const last = h.connect();
  h.call(first, method::register_task, harness::by(0));
  h.call(last, method::register_task, harness::by(2));

  auto const one = h.call(first, method::barrier, harness::meet(0, "PREEMPTION_SYNC_BARRIER"));
  BOOST_TEST(h.text(one) == "waits");
  auto const other = h.call(last, method::barrier, harness::meet(2, "PREEMPTION_SYNC_BARRIER"));
  BOOST_TEST(h.text(one) == "OK");
  BOOST_TEST(h.text(other) == "OK");
}

BOOST_AUTO_TEST_CASE(waiting_for_a_preemption_is_not_a_deadlock) {
  harness h{2};
  auto const all = h.start(2);
  for (std::uint32_t i = 0; i < 2; ++i) {
    h.call(all[i], method::get_key_value, harness::about(i, "RECEIVED_PREEMPTION_NOTICE"));
    h.call(all[i], method::poll_for_error, harness::by(i));
  }
  h.wait(10s);
  BOOST_TEST(h.logic().why(h.now).stuck == "");
}

BOOST_AUTO_TEST_CASE(deadlocked_tasks_are_found) {
  harness h{2};
  auto const all = h.start(2);
  h.call(all[0], method::barrier, harness::meet(0, "one"));
  h.call(all[1], method::barrier, harness::meet(1, "two"));
  h.wait(1s);
  BOOST_TEST(h.logic().why(h.now).stuck != "");
}

BOOST_AUTO_TEST_CASE(a_recoverable_task_rejoins_without_affecting_others) {
  harness h{2, false, {.recoverable = true}};
  auto const all = h.start(2);
  auto const poll = h.call(all[0], method::poll_for_error, harness::by(0));
  h.call(all[1], method::poll_for_error, harness::by(1));
  h.close(all[1]);
  h.wait(3s);
  BOOST_TEST(h.text(poll) == "waits");
  auto again = harness::by(1);
  again.self = incarnation{99};
  auto const c = h.connect();
  BOOST_TEST(h.text(h.call(c, method::register_task, again)) == "OK");
  auto meets = harness::meet(1, "b", 0);
  meets.self = incarnation{99};
  auto const first = h.call(c, method::barrier, meets);
  auto const second = h.call(all[0], method::barrier, harness::meet(0, "b", 0));
  BOOST_TEST(h.text(first) == "OK");
  BOOST_TEST(h.text(second) == "OK");
  h.wait(200s);
  BOOST_TEST(h.entrance().task_sessions() <= 3U);
}

// Task 0 of two, whose processes insert keys.
struct returning_task {
  explicit returning_task(generation of) {
    h.of = of;
    at = h.start(2);
  }
  void come_back() {
    h.close(at[0]);
    h.wait(3s);
    at[0] = h.connect();
    self.value += 100;
    BOOST_TEST(h.text(h.call(at[0], method::register_task, about(self))) == "OK");
  }
  std::string put(std::string key, std::string value, bool overwrites = false) {
    auto asked = about(self);
    asked.name = std::move(key);
    asked.value = std::move(value);
    asked.overwrite = overwrites;
    return h.text(h.call(at[0], method::insert_key_value, asked));
  }
  bool holds(std::string const& key, std::string const& value) {
    auto const got = h.call(at[1], method::get_key_value, harness::about(1, key));
    return contains(h.message(got), value);
  }
  request about(incarnation by) const {
    auto made = harness::by(0);
    made.self = by;
    return made;
  }

  harness h{2, false, {.recoverable = true}};
  incarnation self{10};
  std::vector<connection_id> at;
};

std::string exists(std::string const& key) {
  return "ALREADY_EXISTS: key " + key + " already exists.";
}

std::string const local_key = "cpu:local_topology/cpu/0";
std::string const global_key = "cpu:global_topology/cpu";

BOOST_AUTO_TEST_CASE(a_process_that_returns_on_another_machine_keeps_its_topologies) {
  for (auto const of : {generation::second, generation::third}) {
    returning_task t{of};
    auto const other = local_topology(1, "a", 1);
    auto const local = local_topology(0, "a", 2);
    auto const global = global_topology({local, other});
    for (int i = 0; i < 3; ++i) {
      auto const now = local_topology(0, "boot " + std::to_string(i), 2);
      auto const all = global_topology({now, other});
      BOOST_TEST(t.put(local_key, i == 0 ? local : now) == "OK");
      BOOST_TEST(t.put(local_key, now) == exists(local_key));
      BOOST_TEST(t.put(global_key, i == 0 ? global : all) == "OK");
      BOOST_TEST(t.put(global_key, all) == exists(global_key));
      BOOST_TEST(t.holds(local_key, local));
      BOOST_TEST(t.holds(global_key, global));
      t.come_back();
    }
  }
}

BOOST_AUTO_TEST_CASE(a_process_that_returns_with_other_devices_is_refused) {
  returning_task t{generation::third};
  auto const local = local_topology(0, "a", 2);
  auto const global = global_topology({local, local_topology(1, "a", 1)});
  BOOST_TEST(t.put(local_key, local) == "OK");
  BOOST_TEST(t.put(global_key, global) == "OK");
  t.come_back();

  for (auto const& more : {local_topology(0, "a", 3), local_topology(0, "b", 1)}) {
    auto const refused = t.put(local_key, more);
    BOOST_TEST(contains(refused, exists(local_key)));
    BOOST_TEST(contains(refused, "had other devices: 2, this one has "));
    auto const of_all = t.put(global_key, global_topology({more, local_topology(1, "a", 1)}));
    BOOST_TEST(contains(of_all, exists(global_key)));
    BOOST_TEST(contains(of_all, "had other devices: 3, this one has "));
  }
  BOOST_TEST(t.holds(local_key, local));
  BOOST_TEST(t.holds(global_key, global));

  t.come_back();
  BOOST_TEST(t.put(local_key, local) == "OK");
  BOOST_TEST(t.put(global_key, global) == "OK");
}

BOOST_AUTO_TEST_CASE(a_topology_that_another_task_has_inserted_is_its_own) {
  returning_task t{generation::third};
  auto const local = local_topology(0, "a", 2);
  BOOST_TEST(t.put(local_key, local) == "OK");

  auto const by_other = harness::about(1, local_key, local);
  BOOST_TEST(t.h.text(t.h.call(t.at[1], method::insert_key_value, by_other)) == exists(local_key));
  BOOST_TEST(t.put(local_key, local_topology(0, "b", 1), true) == "OK");
  BOOST_TEST(t.holds(local_key, local_topology(0, "b", 1)));
}

BOOST_AUTO_TEST_CASE(a_process_that_returns_inserts_the_same_keys_again) {
  returning_task t{generation::third};
  BOOST_TEST(t.put("k", "v") == "OK");
  BOOST_TEST(t.put("k", "v") == exists("k"));
  t.come_back();

  BOOST_TEST(t.put("k", "w") == exists("k"));
  BOOST_TEST(t.put("k", "v") == "OK");
}

BOOST_AUTO_TEST_CASE(a_final_stop_ends_polls_with_a_service_error) {
  harness h{1};
  auto const c = h.start(1).front();
  auto const poll = h.call(c, method::poll_for_error, harness::by(0));
  auto const get = h.call(c, method::get_key_value, harness::about(0, "k"));
  BOOST_TEST(h.logic().put_in(h.now, core::stopped{"done"}).ok());
  h.settle();
  BOOST_TEST(h.code(poll) == "UNAVAILABLE");
  BOOST_TEST(h.is_service_error(poll));
  BOOST_TEST(h.code(get) == "CANCELLED");
  BOOST_TEST(h.goodbyes.size() == 1U);
}

BOOST_AUTO_TEST_CASE(cancelled_calls_leave_nothing_behind) {
  harness h{2};
  auto const all = h.start(2);
  std::vector<call_id> calls;
  for (int i = 0; i < 100; ++i) {
    calls.push_back(
        h.call(all[0], method::get_key_value, harness::about(0, "k" + std::to_string(i))));
  }
  calls.push_back(h.call(all[0], method::barrier, harness::meet(0, "b")));
  for (auto const one : calls) h.cancel(one);
  BOOST_TEST(h.entrance().open_calls() == 0U);
  BOOST_TEST(h.logic().look(h.now).waiting_gets == 0U);
  BOOST_TEST(h.logic().look(h.now).barriers.empty());
}

BOOST_AUTO_TEST_CASE(no_state_is_kept_for_tasks_outside_the_job) {
  harness h{1};
  auto const c = h.connect();
  for (std::uint32_t task = 1; task < 100; ++task) {
    auto asked = harness::by(task);
    asked.self = incarnation{task + 1000};
    BOOST_TEST(h.code(h.call(c, method::register_task, asked)) == "INVALID_ARGUMENT");
  }
  h.entrance().check_invariants();
  BOOST_TEST(h.entrance().task_sessions() == 0U);
}

BOOST_AUTO_TEST_CASE(calls_without_a_register_are_refused) {
  harness h{1};
  auto const c = h.connect();
  for (auto const what : {method::shutdown_task, method::poll_for_error, method::barrier,
                          method::cancel_barrier, method::get_alive_tasks, method::report_error}) {
    auto const one = h.call(c, what, harness::about(0, "b"));
    BOOST_TEST(h.code(one) == "FAILED_PRECONDITION");
    BOOST_TEST(h.is_service_error(one));
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(strict_xla_service_test)

BOOST_AUTO_TEST_CASE(a_non_participant_fails_the_barrier_for_all) {
  harness h{3, true};
  auto const all = h.start(3);
  auto with = [](request asked) {
    asked.tasks = {{0}, {1}};
    return asked;
  };
  auto const first = h.call(all[0], method::barrier, with(harness::meet(0, "b")));
  auto const wrong = h.call(all[2], method::barrier, with(harness::meet(2, "b")));
  auto const late = h.call(all[1], method::barrier, with(harness::meet(1, "b")));
  for (auto const one : {first, wrong, late}) {
    BOOST_TEST(h.text(one) ==
               "INVALID_ARGUMENT: A non-participating task (2) called the barrier: b::0");
    BOOST_TEST(contains(h.how(one).details, "BarrierError"));
  }
}

BOOST_AUTO_TEST_CASE(after_a_strict_failure_the_next_instance_needs_nobody_from_the_last) {
  harness h{2, true};
  auto const all = h.start(2);
  auto const quick = h.call(all[0], method::barrier, harness::meet(0, "b", 0, 1000));
  h.wait(1s);
  auto const late = h.call(all[1], method::barrier, harness::meet(1, "b", 0));
  for (auto const one : {quick, late}) BOOST_TEST(h.code(one) == "DEADLINE_EXCEEDED");
  auto const first = h.call(all[1], method::barrier, harness::meet(1, "b", 1));
  BOOST_TEST(h.text(first) == "waits");
  auto const second = h.call(all[0], method::barrier, harness::meet(0, "b", 1));
  for (auto const one : {first, second}) BOOST_TEST(h.message(one) == encode_counter(1));
  auto const again = h.call(all[0], method::barrier, harness::meet(0, "b", 1));
  BOOST_TEST(h.message(again) == encode_counter(1));
}

BOOST_AUTO_TEST_CASE(the_latest_strict_call_of_a_task_waits_whatever_its_counter) {
  harness h{2, true};
  auto const all = h.start(2);
  auto const first = h.call(all[0], method::barrier, harness::meet(0, "b", 0));
  auto const second = h.call(all[0], method::barrier, harness::meet(0, "b", 0));
  BOOST_TEST(h.code(first) == "CANCELLED");
  BOOST_TEST(h.how(first).details.empty());
  auto const third = h.call(all[0], method::barrier, harness::meet(0, "b", 1));
  BOOST_TEST(h.code(second) == "CANCELLED");
  BOOST_TEST(h.code(third) == "INTERNAL");
}

BOOST_AUTO_TEST_CASE(a_restarted_recoverable_task_joins_the_open_strict_instance) {
  harness h{2, true, {.recoverable = true}};
  auto const all = h.start(2);
  for (std::uint32_t task = 0; task < 2; ++task) {
    h.call(all[task], method::barrier, harness::meet(task, "b", 0));
  }
  h.call(all[1], method::barrier, harness::meet(1, "b", 1));
  auto again = harness::by(1);
  again.self = incarnation{99};
  auto const next = h.connect();
  BOOST_TEST(h.text(h.call(next, method::register_task, again)) == "OK");
  auto asked = harness::meet(1, "b", 0);
  asked.self = incarnation{99};
  auto const first = h.call(next, method::barrier, asked);
  BOOST_TEST(h.text(first) == "waits");
  auto const second = h.call(all[0], method::barrier, harness::meet(0, "b", 1));
  for (auto const one : {first, second}) BOOST_TEST(h.message(one) == encode_counter(1));
}

BOOST_AUTO_TEST_CASE(a_second_incarnation_beside_a_live_holder_fails_the_job) {
  harness h{2, true};
  auto const all = h.start(2);
  auto const poll = h.call(all[1], method::poll_for_error, harness::by(1));
  auto again = harness::by(0);
  again.self = incarnation{99};
  auto const own = h.call(all[0], method::poll_for_error, harness::by(0));
  auto const newer = h.connect();
  auto const joins = h.call(newer, method::register_task, again);
  for (auto const one : {joins, poll, own}) BOOST_TEST(h.code(one) == "ABORTED");

  auto meets = harness::meet(0, "b");
  meets.self = again.self;
  BOOST_TEST(h.code(h.call(newer, method::heartbeat, again)) == "ABORTED");
  BOOST_TEST(h.code(h.call(newer, method::barrier, meets)) == "INTERNAL");
  BOOST_TEST(h.code(h.call(newer, method::poll_for_error, again)) == "FAILED_PRECONDITION");
  auto const leaves = h.call(newer, method::shutdown_task, again);
  BOOST_TEST(contains(h.text(leaves), "INTERNAL: Shutdown barrier has failed"));
  BOOST_TEST(h.code(h.call(all[1], method::shutdown_task, harness::by(1))) == "INTERNAL");
}

BOOST_AUTO_TEST_CASE(a_recoverable_holder_is_replaced_without_a_probe) {
  harness h{2, true, {.recoverable = true}};
  auto const all = h.start(2);
  auto again = harness::by(0);
  again.self = incarnation{99};
  BOOST_TEST(h.text(h.call(h.connect(), method::register_task, again)) == "OK");
  BOOST_TEST(h.pings.empty());
  BOOST_TEST(h.code(h.call(all[0], method::heartbeat, harness::by(0))) == "ABORTED");
}

// Two services, as in a job with relays: each sees its own JAX processes only.
struct two_services {
  explicit two_services(std::uint32_t num_tasks, core::config config = {})
      : h{num_tasks, false, std::move(config), 2} {
    std::vector<call_id> joins;
    for (std::uint32_t task = 0; task < num_tasks; ++task) {
      at.push_back(h.connect(task % 2));
      joins.push_back(h.call(at.back(), method::register_task, harness::by(task)));
    }
    for (auto const one : joins) BOOST_REQUIRE_EQUAL(h.text(one), "OK");
  }
  harness h;
  std::vector<connection_id> at;  // of each task
};

BOOST_AUTO_TEST_CASE(jax_tasks_at_two_services_agree_on_a_step) {
  two_services j{4};
  auto const notice =
      j.h.call(j.at[0], method::get_key_value, harness::about(0, "RECEIVED_PREEMPTION_NOTICE"));
  j.h.call(j.at[3], method::insert_key_value,
           harness::about(3, "RECEIVED_PREEMPTION_NOTICE", "1970-01-01T00:00:00Z"));
  BOOST_TEST(j.h.text(notice) == "OK");
  std::vector<call_id> all;
  for (std::uint32_t task = 0; task < 4; ++task) {
    all.push_back(
        j.h.call(j.at[task], method::barrier, harness::meet(task, "PREEMPTION_SYNC_BARRIER")));
    BOOST_TEST(j.h.text(all.front()) == (task < 3 ? "waits" : "OK"));
  }
  for (auto const one : all) BOOST_TEST(j.h.text(one) == "OK");
}

BOOST_AUTO_TEST_CASE(a_preemption_after_a_jax_task_has_left_is_agreed_at_both_services) {
  two_services j{3, {.leave_barrier = false}};
  for (std::uint32_t task = 0; task < 3; ++task) {
    j.h.call(j.at[task], method::barrier, harness::meet(task, "PREEMPTION_SYNC_BARRIER"));
  }
  j.h.call(j.at[2], method::shutdown_task, harness::by(2));
  auto const zero =
      j.h.call(j.at[0], method::barrier, harness::meet(0, "PREEMPTION_SYNC_BARRIER", 1));
  auto const one =
      j.h.call(j.at[1], method::barrier, harness::meet(1, "PREEMPTION_SYNC_BARRIER", 1));
  BOOST_TEST(j.h.text(zero) == "OK");
  BOOST_TEST(j.h.text(one) == "OK");
}

BOOST_AUTO_TEST_CASE(an_error_reported_at_one_service_is_a_reported_one_at_the_other) {
  two_services j{2};
  auto const poll = j.h.call(j.at[0], method::poll_for_error, harness::by(0));
  auto report = harness::by(1);
  report.code = 14;
  report.text = "the disk is gone";
  j.h.call(j.at[1], method::report_error, report);
  BOOST_TEST(j.h.text(poll) == "UNAVAILABLE: Task 1 failed: the disk is gone");
  BOOST_TEST(contains(j.h.how(poll).details, "\x12\x04\x18\x01\x20\x01"));
}

BOOST_AUTO_TEST_CASE(a_process_replaced_at_another_service_learns_it) {
  two_services j{2, {.recoverable = true}};
  auto const poll = j.h.call(j.at[0], method::poll_for_error, harness::by(0));
  auto again = harness::by(0);
  again.self = incarnation{99};
  j.h.call(j.h.connect(1), method::register_task, again);
  j.h.wait(j.h.logic().options().reconnect_grace + 1s);
  BOOST_TEST(j.h.text(poll) == "ABORTED: task 0 was replaced by a new incarnation");
  BOOST_TEST(j.h.code(j.h.call(j.at[0], method::heartbeat, harness::by(0))) == "ABORTED");
}

BOOST_AUTO_TEST_CASE(tasks_at_both_services_are_alive) {
  two_services j{3};
  std::vector<call_id> all;
  for (std::uint32_t task = 0; task < 3; ++task) {
    auto query = harness::by(task);
    query.tasks = {{0}, {1}, {2}};
    all.push_back(j.h.call(j.at[task], method::get_alive_tasks, query));
  }
  for (auto const one : all) {
    BOOST_TEST(j.h.message(one) ==
               encode_alive(generation::third, {{0}, {1}, {2}},
                            {incarnation{10}, incarnation{11}, incarnation{12}}));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::xla
