// Leaving: §1.3, and §1.8.8 to 3.24.

#include "tests/core/cluster.hpp"

namespace coxswain::test {
namespace {

BOOST_AUTO_TEST_SUITE(coordinator_leave_test)

BOOST_FIXTURE_TEST_CASE(clients_shutdown_successfully_without_an_error, job<3>) {
  for (int i = 0; i < 3; ++i) c.leave(i);

  BOOST_TEST(c.replies() == "0:OK 1:OK 2:OK");
  for (int i = 0; i < 3; ++i) {
    BOOST_TEST(c.pushed<job_error>(i).empty());
    BOOST_TEST(c.state_of(static_cast<std::uint32_t>(i)) == "left");
  }
  BOOST_TEST(c.logic().done());
}

BOOST_AUTO_TEST_CASE(shutdown_with_barrier_barrier_succeeds_and_both_may_register_again) {
  cluster c{2};
  c.leave(0);
  c.leave(1);
  c.join({0, 0}, 500);
  BOOST_TEST(c.after(c.join({1, 1}, 501)).replies() == "0:OK 1:OK 0:OK 1:OK");
  BOOST_TEST(c.state_of(0) == "connected");
  BOOST_TEST(!c.logic().done());
  BOOST_TEST(c.after(c.leave(0)).replies() == "");
  BOOST_TEST(c.after(c.leave(1)).replies() == "0:OK 1:OK");
}

// §1.8.8: INTERNAL with the cause, for all tasks.
BOOST_FIXTURE_TEST_CASE(shutdown_with_barrier_barrier_fails_internal_and_the_job_with_it, job<3>) {
  auto const one = c.leave(0, 60s);
  c.at(1s);
  auto const hasty = c.leave(1, 20s);

  BOOST_TEST(c.at(21s - 1ns).replies() == "");
  BOOST_TEST(c.at(21s).replies() == "0:INTERNAL 1:INTERNAL");
  expect_words(c.text(one),
               {"INTERNAL: Barrier timed out. Shutdown barrier", "21 s",
                "1 of 3 tasks is missing: 2 (connected", "host2:1002", "2/3", "task 0 first"});
  BOOST_TEST(c.text(hasty) == c.text(one));
  expect_words(c.error(), {"task 2: INTERNAL: Barrier timed out. Shutdown barrier"});
  auto const errors = c.pushed<job_error>(2);
  BOOST_TEST_REQUIRE(errors.size() == 1u);
  BOOST_TEST((errors[0].cause.task == task_id{2}));
  BOOST_TEST((errors[0].cause.why.code() == errc::internal));
  auto const* const details = c.body<barrier_failure>(hasty);
  BOOST_TEST_REQUIRE(details);
  BOOST_TEST(details->missing == "2");
}

BOOST_AUTO_TEST_CASE(a_leave_waits_at_most_the_coordinators_timeout) {
  cluster c{2, {.leave_timeout_max = 10s}};
  auto const patient = c.leave(0, 300s);
  BOOST_TEST(c.at(10s - 1ns).code(patient) == "waits");
  BOOST_TEST(c.at(10s).code(patient) == "INTERNAL");

  cluster hasty{2, {.leave_timeout_max = 10s}};
  auto const first = hasty.leave(0, 2s);
  BOOST_TEST(hasty.at(2s - 1ns).code(first) == "waits");
  BOOST_TEST(hasty.at(2s).code(first) == "INTERNAL");

  cluster alone{2, {.leave_timeout_max = 0s}};
  BOOST_TEST(alone.code(alone.leave(0, 300s)) == "OK");
}

// Upstream refuses the missing task's heartbeats from then on.
BOOST_AUTO_TEST_CASE(
    shutdown_with_barrier_barrier_fails_without_client_connection_set_task_to_error) {
  cluster c{2};
  auto const zero = c.leave(0, 1s);
  c.at(2s);
  BOOST_TEST(c.code(zero) == "INTERNAL");

  c.heartbeat(1);

  BOOST_TEST(c.goodbye(1) == "none");
  BOOST_TEST(c.state_of(1) == "connected");
  BOOST_TEST(c.code(c.barrier(1, "b")) == "FAILED_PRECONDITION");
}

BOOST_AUTO_TEST_CASE(tasks_with_a_failed_leave_have_left_and_the_missing_one_leaves_alone) {
  cluster c{2};
  c.leave(0, 5s);
  BOOST_TEST(c.at(5s).state_of(0) == "left");
  BOOST_TEST(c.state_of(1) == "connected");
  BOOST_TEST(!c.logic().done());

  auto const late = c.leave(1);

  BOOST_TEST(c.code(late) == "FAILED_PRECONDITION");
  expect_words(c.text(late),
               {"the job has failed: task 1 (host1:1001) failed: INTERNAL: Barrier timed out."});
  BOOST_TEST(c.state_of(1) == "left");
  BOOST_TEST(c.logic().done());
}

BOOST_FIXTURE_TEST_CASE(if_a_participant_dies_the_leave_fails_at_once_and_names_it, job<3>) {
  auto const one = c.leave(0);
  auto const two = c.leave(1);
  BOOST_TEST(c.bye(2, true).replies() == "0:INTERNAL 1:INTERNAL");
  expect_words(c.text(one), {"task 2 (host2:1002) failed", "destroyed without leaving"});
  static_cast<void>(two);
  BOOST_TEST(c.logic().done());
}

BOOST_AUTO_TEST_CASE(
    clients_terminate_shutdown_if_any_client_goes_away_without_error_polling_which_d19_replaced) {
  cluster c{3};
  c.leave(0);
  c.leave(1);
  c[2].beats = false;

  c.at(100s);

  BOOST_TEST(c.replies() == "0:INTERNAL 1:INTERNAL");
}

BOOST_FIXTURE_TEST_CASE(a_leave_with_timeout_zero_leaves_alone, job<2>) {
  BOOST_TEST(c.code(c.leave(0, 0s)) == "OK");
  BOOST_TEST(c.state_of(0) == "left");
  BOOST_TEST(c.at(10s).error() == "none");
  BOOST_TEST(c.code(c.leave(1)) == "OK");
}

BOOST_FIXTURE_TEST_CASE(leaving_alone_as_the_last_task_releases_the_others, job<3>) {
  c.leave(0);
  BOOST_TEST(c.after(c.leave(1, 0s)).replies() == "1:OK");
  BOOST_TEST(c.after(c.leave(2, 0s)).replies() == "2:OK 0:OK");
  BOOST_TEST(c.logic().done());
}

BOOST_FIXTURE_TEST_CASE(leaving_alone_replaces_a_waiting_leave, job<3>) {
  auto const waits = c.leave(0);
  c.leave(1);
  auto const alone = c.leave(0, 0s);

  BOOST_TEST(c.code(waits, alone) == "CANCELLED OK");
  BOOST_TEST(c.after(c.leave(2, 0s)).replies() == "0:CANCELLED 0:OK 2:OK 1:OK");
}

BOOST_AUTO_TEST_CASE(without_the_leave_barrier_each_task_leaves_alone) {
  cluster c{2, {.leave_barrier = false}};

  BOOST_TEST(c.after(c.leave(1)).replies() == "1:OK");
  BOOST_TEST(c.state_of(0) == "connected");
  BOOST_TEST(!c.logic().done());
  BOOST_TEST(c.after(c.leave(0)).replies() == "0:OK");
  BOOST_TEST(c.logic().done());
}

BOOST_AUTO_TEST_CASE(shutdown_heartbeats_are_accepted_for_a_grace_period_without_end) {
  cluster c{1};
  c.leave(0);

  BOOST_TEST(c.at(1h).goodbye(0) == "none");
  BOOST_TEST(c.look().sessions == 1u);
}

BOOST_FIXTURE_TEST_CASE(a_second_leave_is_refused, job<1>) {
  c.leave(0);
  c.replies();

  auto const second = c.leave({0, 0});

  BOOST_TEST(c.code(second) == "FAILED_PRECONDITION");
  expect_words(c.text(second), {"task 0", "has left"});
}

BOOST_FIXTURE_TEST_CASE(a_repeated_leave_of_a_task_counts_once, job<2>) {
  auto const older = c.leave(0, 5s);
  auto const newer = c.leave(0, 60s);
  BOOST_TEST(c.code(older) == "CANCELLED");

  BOOST_TEST(c.at(10s).code(newer) == "waits");
  BOOST_TEST(c.after(c.leave(1)).code(newer) == "OK");
}

BOOST_FIXTURE_TEST_CASE(a_cancelled_leave_removes_its_arrival_and_deadline, job<3>) {
  auto const patient = c.leave(0, 60s);
  auto const hasty = c.leave(1, 5s);
  BOOST_TEST(c.cancel(hasty).at(6s).code(patient) == "waits");
  BOOST_TEST(c.state_of(1) == "connected");
  BOOST_TEST(c.after(c.leave(2)).code(patient) == "waits");

  BOOST_TEST(c.after(c.leave(1)).code(patient) == "OK");
}

BOOST_FIXTURE_TEST_CASE(a_leave_cancelled_by_all_leaves_no_state, job<2>) {
  BOOST_TEST(c.cancel(c.leave(0, 5s)).at(20s).error() == "none");
  BOOST_TEST(c.look().barriers.empty());
  BOOST_TEST(c.state_of(0) == "connected");
}

BOOST_FIXTURE_TEST_CASE(a_suspect_leaving_task_leaves_with_the_others, job<2>) {
  auto const one = c.leave(0);
  c.lose(0);
  BOOST_TEST(c.after(c.leave(1)).replies() == "1:OK");
  BOOST_TEST(c.state_of(0) == "left");

  BOOST_TEST(c.resume(0).code(one) == "OK");
}

BOOST_FIXTURE_TEST_CASE(a_task_that_left_never_becomes_suspect, job<2>) {
  c.leave(0);
  c.leave(1);
  BOOST_TEST(c.lose(0).state_of(0) == "left");

  BOOST_TEST(c.at(10s).error() == "none");
  BOOST_TEST(c.state_of(0) == "left");
}

BOOST_AUTO_TEST_CASE(shutdown_fails_ongoing_barrier) {
  cluster c{2, {.leave_barrier = false}};
  auto const waiting = c.barrier(0, "b", without_limit);

  BOOST_TEST(c.after(c.leave(0)).replies() == "0:INTERNAL 0:OK");
  expect_words(c.text(waiting), {"Barrier 'b' round 1 failed", "task 0", "left"});
}

BOOST_AUTO_TEST_CASE(reset_fails_ongoing_barrier_of_others_that_wait_for_it) {
  cluster c{3, {.leave_barrier = false}};
  auto const two = c.barrier(2, "all");
  auto const pair = c.barrier(1, "pair", 300s, {.among = {1, 2}});

  BOOST_TEST(c.after(c.leave(0)).code(two) == "INTERNAL");
  BOOST_TEST(c.code(pair) == "waits");
  BOOST_TEST(c.error() == "none");
}

BOOST_AUTO_TEST_CASE(a_barrier_with_a_participant_that_left_fails) {
  cluster c{2, {.leave_barrier = false}};
  c.leave(0);

  auto const hopeless = c.barrier(1, "b");

  BOOST_TEST(c.code(hopeless) == "INTERNAL");
  expect_words(c.text(hopeless), {"'b'", "task 0 (host0:1000) has left"});
  BOOST_TEST(c.code(c.barrier(1, "b", 300s, {.among = {1}})) == "OK");
}

BOOST_FIXTURE_TEST_CASE(a_task_can_wait_at_a_barrier_and_leave_at_once, job<2>) {
  auto const waiting = c.barrier(0, "b");
  auto const leaving = c.leave(0);
  BOOST_TEST(c.code(waiting) == "waits");
  BOOST_TEST(c.after(c.barrier(1, "b")).code(waiting) == "OK");
  BOOST_TEST(c.code(leaving) == "waits");

  BOOST_TEST(c.after(c.leave(1)).code(leaving) == "OK");
}

BOOST_FIXTURE_TEST_CASE(waiting_calls_of_a_leaving_task_end_cancelled, job<1>) {
  auto const own = c.get(0, "k");
  int const o = c.observer();
  auto const observers = c.get(o, "k");

  BOOST_TEST(c.after(c.leave(0)).code(own) == "CANCELLED");
  expect_words(c.text(own), {"task 0", "no longer in the job"});
  BOOST_TEST(c.code(observers) == "waits");
}

BOOST_FIXTURE_TEST_CASE(shutdown_in_error_should_return_error_and_depart_alone, job<2>) {
  c.report_error(1, errc::internal, "boom");
  c.replies();

  auto const leaving = c.leave(0);

  BOOST_TEST(c.code(leaving) == "FAILED_PRECONDITION");
  expect_words(c.text(leaving), {"the job has failed", "task 1 (host1:1001)", "INTERNAL: boom"});
  BOOST_TEST(c.state_of(0) == "left");
  BOOST_TEST(c.logic().done());
}

BOOST_FIXTURE_TEST_CASE(after_a_job_error_a_bye_is_no_failure, job<3>) {
  c.report_error(2, errc::internal, "boom");

  BOOST_TEST(c.bye(0, true).bye(1).state_of(0) == "left");
  BOOST_TEST(c.state_of(1) == "left");
  BOOST_TEST(c.error() == "task 2: INTERNAL: boom");
}

BOOST_AUTO_TEST_CASE(a_task_that_fails_while_leaving_has_failed) {
  for (bool const reported : {true, false}) {
    cluster c{2};
    auto const leaving = c.leave(0);
    if (reported) c.report_error(0, errc::internal, "boom");
    if (!reported) c.task_ended(0, {errc::unavailable, "signal 9"});

    BOOST_TEST(c.code(leaving) == "INTERNAL");
    BOOST_TEST(c.state_of(0) == "failed");
  }
}

BOOST_FIXTURE_TEST_CASE(a_session_that_ends_while_its_task_leaves_fails_it, job<2>) {
  c.leave(0);

  BOOST_TEST(c.bye(0).state_of(0) == "failed");
  BOOST_TEST(c.look().barriers.empty());
}

// The coordinator lingers until every leave reply is acknowledged.
BOOST_AUTO_TEST_CASE(the_coordinator_is_drained_when_every_leave_reply_was_acknowledged) {
  cluster c{2};
  BOOST_TEST(c.logic().drained());
  c.leave(0);
  BOOST_TEST(c.after(c.leave(1)).logic().done());
  BOOST_TEST(!c.logic().drained());
  c.heartbeat(0);
  BOOST_TEST(!c.logic().drained());

  BOOST_TEST(c.heartbeat(1).logic().drained());
}

BOOST_FIXTURE_TEST_CASE(an_ended_session_owes_no_acknowledgement, job<2>) {
  c.leave(0);
  c.leave(1);
  c.bye(0).lose(1);
  BOOST_TEST(!c.logic().drained());

  BOOST_TEST(c.at(2s).logic().drained());
}

BOOST_FIXTURE_TEST_CASE(failed_leaves_await_acknowledgement_too, job<2>) {
  c.leave(0);
  c.report_error(1, errc::internal, "boom");
  BOOST_TEST(!c.logic().drained());
  BOOST_TEST(c.heartbeat(0).logic().drained());
}

BOOST_AUTO_TEST_CASE(a_long_leave_is_logged_and_shown_with_the_missing_tasks) {
  cluster c{3, {.leave_barrier = true}};
  c.leave(0, 0s);
  c.leave(1, 60s);
  c.log();
  expect_words(c.at(10s).log(),
               {"Shutdown barrier has waited for 10 s", "1 of 3 tasks is missing", "2 (connected"});

  auto const seen = c.look().barriers;

  BOOST_TEST_REQUIRE(seen.size() == 1u);
  BOOST_TEST((seen[0].what == core::snapshot::kind::leave));
  BOOST_TEST(seen[0].missing == "2");
  BOOST_TEST(seen[0].arrived == 2u);
  BOOST_TEST(seen[0].expected == 3u);
}

BOOST_AUTO_TEST_CASE(a_leave_waits_for_tasks_that_never_joined) {
  auto c = cluster::without_clients(2, {.join_barrier = false});
  c.observer();
  c.join({0, 0}, 1);
  auto const leaving = c.leave(0, 5s);

  BOOST_TEST(c.at(5s).code(leaving) == "INTERNAL");
  expect_words(c.text(leaving), {"1 (never connected)"});
}

BOOST_FIXTURE_TEST_CASE(an_observer_cannot_leave, job<1>) {
  int const o = c.observer();

  BOOST_TEST(c.code(c.leave(o)) == "FAILED_PRECONDITION");
  BOOST_TEST(c.code(c.leave({o, 0})) == "FAILED_PRECONDITION");
  BOOST_TEST(c.state_of(0) == "connected");
}

BOOST_FIXTURE_TEST_CASE(a_task_that_rejoined_must_leave_again, job<2>) {
  c.leave(0, 0s);
  c.join({0, 0}, 500);
  auto const waits = c.leave(1);
  BOOST_TEST(c.code(waits) == "waits");

  BOOST_TEST(c.after(c.leave(0)).code(waits) == "OK");
}

BOOST_AUTO_TEST_CASE(
    shutdown_with_barrier_barrier_fails_without_client_connection_service_stops_not) {
  cluster c{2};
  auto const in_vain = c.leave(0, 1s);
  c.at(1s);
  BOOST_TEST(c.code(in_vain) == "INTERNAL");
  c.pass(1s);

  BOOST_TEST(c.code(c.put(1, "k", "v")) == "OK");
  BOOST_TEST(c.goodbye(1) == "none");
  BOOST_TEST(c.state_of(1) == "connected");
  BOOST_TEST(c.code(c.inspect(c.observer())) == "OK");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
