// Leaving: §1.3, and §1.8.8 to 3.24.

#include "tests/core/steps.hpp"

namespace coxswain::test {
namespace {

BOOST_AUTO_TEST_SUITE(coordinator_leave_test)

rows const cases{
    {"shutdown_with_barrier_barrier_succeeds_and_both_may_register_again", 2,
     "0 leaves; 1 leaves; 0/0 joins 500; 1/1 joins 501; replies -> 0:OK 1:OK 0:OK 1:OK; "
     "state 0 -> connected; done -> no; 0 leaves; replies ->; 1 leaves; replies -> 0:OK 1:OK"},
    // Upstream refuses the missing task's heartbeats from then on.
    {"shutdown_with_barrier_barrier_fails_without_client_connection_set_task_to_error", 2,
     "zero = 0 leaves 1s; at 2s; zero -> INTERNAL; heartbeat 1; goodbye 1 -> none; "
     "state 1 -> connected; 1 barrier b -> FAILED_PRECONDITION"},
    {"tasks_with_a_failed_leave_have_left_and_the_missing_one_leaves_alone", 2,
     "0 leaves 5s; at 5s; state 0 -> left; state 1 -> connected; done -> no; late = 1 leaves; late "
     "-> FAILED_PRECONDITION; late ~ the job has failed: task 1 (host1:1001) failed: INTERNAL: "
     "Barrier timed out.; state 1 -> left; done -> yes"},
    {"clients_terminate_shutdown_if_any_client_goes_away_without_error_polling_which_d19_replaced",
     3, "0 leaves; 1 leaves; mute 2; at 100s; replies -> 0:INTERNAL 1:INTERNAL"},
    {"a_leave_with_timeout_zero_leaves_alone", 2,
     "0 leaves 0s -> OK; state 0 -> left; at 10s; error -> none; 1 leaves -> OK"},
    {"leaving_alone_as_the_last_task_releases_the_others", 3,
     "0 leaves; 1 leaves 0s; replies -> 1:OK; 2 leaves 0s; replies -> 2:OK 0:OK; done -> yes"},
    {"leaving_alone_replaces_a_waiting_leave", 3,
     "waits = 0 leaves; 1 leaves; alone = 0 leaves 0s; waits alone -> CANCELLED OK; 2 leaves 0s; "
     "replies -> 0:CANCELLED 0:OK 2:OK 1:OK"},
    {"without_the_leave_barrier_each_task_leaves_alone", 2,
     "1 leaves; replies -> 1:OK; state 0 -> connected; done -> no; 0 leaves; replies -> 0:OK; "
     "done -> yes",
     config{.leave_barrier = false}},
    {"shutdown_heartbeats_are_accepted_for_a_grace_period_without_end", 1,
     "0 leaves; at 3600s; goodbye 0 -> none; sessions -> 1"},
    {"a_second_leave_is_refused", 1,
     "0 leaves; replies; second = 0/0 leaves; second -> FAILED_PRECONDITION; "
     "second ~ task 0 ... has left"},
    {"a_repeated_leave_of_a_task_counts_once", 2,
     "older = 0 leaves 5s; newer = 0 leaves 60s; older -> CANCELLED; at 10s; newer -> waits; "
     "1 leaves; newer -> OK"},
    {"a_cancelled_leave_removes_its_arrival_and_deadline", 3,
     "patient = 0 leaves 60s; hasty = 1 leaves 5s; cancel hasty; at 6s; patient -> waits; "
     "state 1 -> connected; 2 leaves; patient -> waits; 1 leaves; patient -> OK"},
    {"a_leave_cancelled_by_all_leaves_no_state", 2,
     "gone = 0 leaves 5s; cancel gone; at 20s; error -> none; barriers -> 0; state 0 -> connected"},
    {"a_suspect_leaving_task_leaves_with_the_others", 2,
     "one = 0 leaves; cut 0; 1 leaves; replies -> 1:OK; state 0 -> left; resume 0; one -> OK"},
    {"a_task_that_left_never_becomes_suspect", 2,
     "0 leaves; 1 leaves; cut 0; state 0 -> left; at 10s; error -> none; state 0 -> left"},
    {"shutdown_fails_ongoing_barrier", 2,
     "waiting = 0 barrier b for-ever; 0 leaves; replies -> 0:INTERNAL 0:OK; "
     "waiting ~ Barrier 'b' round 1 failed ... task 0 ... left",
     config{.leave_barrier = false}},
    {"reset_fails_ongoing_barrier_of_others_that_wait_for_it", 3,
     "two = 2 barrier all; pair = 1 barrier pair 300s t1 t2; 0 leaves; two -> INTERNAL; "
     "pair -> waits; error -> none",
     config{.leave_barrier = false}},
    {"a_barrier_with_a_participant_that_left_fails", 2,
     "0 leaves; hopeless = 1 barrier b; hopeless -> INTERNAL; "
     "hopeless ~ 'b' ... task 0 (host0:1000) has left; 1 barrier b 300s t1 -> OK",
     config{.leave_barrier = false}},
    {"a_task_can_wait_at_a_barrier_and_leave_at_once", 2,
     "waiting = 0 barrier b; leaving = 0 leaves; waiting -> waits; 1 barrier b; waiting -> OK; "
     "leaving -> waits; 1 leaves; leaving -> OK"},
    {"waiting_calls_of_a_leaving_task_end_cancelled", 1,
     "own = 0 get k; observer o; observers = o get k; 0 leaves; own -> CANCELLED; "
     "own ~ task 0 ... no longer in the job; observers -> waits"},
    {"shutdown_in_error_should_return_error_and_depart_alone", 2,
     "1 reports boom; replies; leaving = 0 leaves; leaving -> FAILED_PRECONDITION; leaving ~ the "
     "job has failed ... task 1 (host1:1001) ... INTERNAL: boom; state 0 -> left; done -> yes"},
    {"after_a_job_error_a_bye_is_no_failure", 3,
     "2 reports boom; abandon 0; bye 1; state 0 -> left; state 1 -> left; "
     "error -> task 2: INTERNAL: boom"},
    {"a_session_that_ends_while_its_task_leaves_fails_it", 2,
     "0 leaves; bye 0; state 0 -> failed; barriers -> 0"},
    {"a_leave_waits_for_tasks_that_never_joined", 2,
     "empty; observer x; 0/0 joins 1; leaving = 0 leaves 5s; at 5s; leaving -> INTERNAL; "
     "leaving ~ 1 (never connected)",
     config{.join_barrier = false}},
    {"an_observer_cannot_leave", 1,
     "observer o; o leaves -> FAILED_PRECONDITION; o/0 leaves -> FAILED_PRECONDITION; "
     "state 0 -> connected"},
    {"a_task_that_rejoined_must_leave_again", 2,
     "0 leaves 0s; 0/0 joins 500; waits = 1 leaves; waits -> waits; 0 leaves; waits -> OK"},
};

BOOST_FIXTURE_TEST_CASE(clients_shutdown_successfully_without_an_error, job<3>) {
  for (int i = 0; i < 3; ++i) c.leave(i);

  BOOST_TEST(c.replies() == "0:OK 1:OK 2:OK");
  for (int i = 0; i < 3; ++i) {
    BOOST_TEST(c.pushed<job_error>(i).empty());
    BOOST_TEST(c.state_of(static_cast<std::uint32_t>(i)) == "left");
  }
  BOOST_TEST(c.logic().done());
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

BOOST_FIXTURE_TEST_CASE(if_a_participant_dies_the_leave_fails_at_once_and_names_it, job<3>) {
  auto const one = c.leave(0);
  auto const two = c.leave(1);
  BOOST_TEST(c.bye(2, true).replies() == "0:INTERNAL 1:INTERNAL");
  expect_words(c.text(one), {"task 2 (host2:1002) failed", "destroyed without leaving"});
  static_cast<void>(two);
  BOOST_TEST(c.logic().done());
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
