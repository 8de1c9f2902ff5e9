// Notices of preemption and the agreement on a step (§10.1, §10.2.1 to §10.2.9).

#include "tests/core/steps.hpp"

namespace coxswain::test {
namespace {

std::uint64_t step(cluster const& c, call of) {
  auto const* const point = c.body<core::sync_point>(of);
  return point ? point->step : 0;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(coordinator_preemption)

rows const cases{
    {"no_preemption_no_sync_point", 2, "pass 3600s; freeze 0 -> 0; freeze 1 -> 0"},
    {"an_observer_may_post_a_notice", 1,
     "observer cli; cli preempts 0 0s -> OK; freeze 0 -> 1; freeze cli -> 0"},
    {"delayed_preemption_no_sync_point_yet", 1,
     "0 preempts 0 3600s; at 2700s-; freeze 0 -> 0; at 2700s; freeze 0 -> 1"},
    {"an_agreement_fails_when_a_task_does_not_answer_in_time", 3,
     "0 preempts 0 0s; first = 0 is-at 1 3; at 10s-; first -> waits; at 10s; "
     "first -> DEADLINE_EXCEEDED; first ~ within 10 s ... 2 of 3 tasks ... 1-2; "
     "1 is-at 1 3 -> FAILED_PRECONDITION",
     config{.preemption_timeout = 10s}},
    {"a_job_error_ends_the_agreement_with_its_cause", 2,
     "0 preempts 0 1800s; 0 preempts 1 0s; first = 0 is-at 1 3; 1 reports boom; first -> INTERNAL; "
     "first ~ task 1 ... boom; 0 preempts 0 0s -> FAILED_PRECONDITION"},
    {"a_stop_ends_the_agreement", 2,
     "0 preempts 0 0s; first = 0 is-at 1 3; stop; first -> ABORTED"},
    {"an_absent_task_cannot_be_preempted", 2,
     "1 leaves; 0 preempts 2 0s -> INVALID_ARGUMENT; 0 preempts 1 0s -> FAILED_PRECONDITION; "
     "observer x; x is-at 1 1 -> FAILED_PRECONDITION; 0 is-at 1 1 -> FAILED_PRECONDITION",
     config{.leave_barrier = false}},
    {"a_failed_task_cannot_be_preempted_until_it_rejoins", 2,
     "1 reports boom; refused = 0 preempts 1 0s; refused -> FAILED_PRECONDITION; "
     "refused ~ task 1 ... has already left or failed; 1/1 joins 7; 0 preempts 1 0s -> OK",
     config{.recoverable = true}},
    {"an_agreement_ends_when_no_task_is_left", 1,
     "observer x; x preempts 0 0s; freeze 0 -> 1; 0 reports boom; 0/0 joins 7; pass 3600s; "
     "freeze 0 -> 0; 0 preempts 0 0s; freeze 0 -> 2",
     config{.recoverable = true}},
    {"preemption_single_sync_point_is_one_past_the_fastest_task", 3,
     "1 preempts 2 0s; freeze 0 -> 1; freeze 2 -> 1; first = 0 is-at 1 7; second = 1 is-at 1 9; "
     "first -> waits; third = 2 is-at 1 8; first -> OK all stop at step 10; "
     "second -> OK all stop at step 10; third -> OK all stop at step 10; "
     "log ~ task 2 ... will be preempted in 0 ... agreed to stop at step 10"},
    {"tasks_that_agree_elsewhere_are_not_awaited", 3,
     "1 preempts 2 0s; 0 abstains 1 -> OK; 1 abstains 1 -> OK; log !~ agreed; 2 is-at 1 8 -> OK "
     "all stop at step 9; log ~ agreed to stop at step 9 ... except JAX tasks ... themselves: 0-1"},
    {"only_silent_tasks_are_named_when_others_abstained", 3,
     "0 preempts 0 0s; 0 abstains 1; 1 is-at 1 5; pass 30s; "
     "log ~ 1 of 3 tasks did not report their step: 2"},
    {"an_abstention_is_forgotten_with_its_task", 2,
     "0 preempts 0 0s; 1 abstains 1; cut 1; pass 10s; 0 is-at 1 5 -> OK all stop at step 6; "
     "log !~ except JAX tasks",
     config{.recoverable = true}},
    // fails without an answer
    {"a_notice_with_a_later_time_has_its_own_agreement", 2,
     "0 preempts 0 7200s; 0 preempts 1 1200s; at 300s; freeze 0 -> 1; at 360s; freeze 0 -> 0; "
     "heartbeat 0; 1 reports 'taken away'; at 6300s-; freeze 0 -> 0; at 6300s; freeze 0 -> 2",
     config{.recoverable = true}},
    {"a_notice_with_a_later_time_ends_with_its_task", 2,
     "0 preempts 1 7200s; 0 preempts 0 60s; freeze 0 -> 1; 1 reports 'taken away'; 0 is-at 1 1; "
     "pass 14400s; freeze 0 -> 0",
     config{.recoverable = true}},
    {"notices_during_an_agreement_join_it_and_later_ones_start_the_next", 2,
     "0 preempts 0 0s; 0 is-at 1 3; 1 preempts 1 0s; 1 is-at 1 4; freeze 0 -> 1; 1 preempts 1 0s; "
     "freeze 0 -> 2; 0 is-at 2 20; 1 is-at 2 21 -> OK all stop at step 22"},
    {"an_agreement_does_not_wait_for_a_task_that_leaves", 2,
     "0 preempts 0 0s; first = 0 is-at 1 3; 1 leaves; first -> OK all stop at step 4",
     config{.leave_barrier = false}},
    {"an_agreement_waits_for_a_suspect_task_until_it_fails", 2,
     "0 preempts 0 0s; first = 0 is-at 1 3; cut 1; first -> waits; resume 1; freeze 1 -> 1; "
     "second = 1 is-at 1 5; first -> OK all stop at step 6; second -> OK all stop at step 6",
     config{.reconnect_grace = 2s}},
    {"an_answer_outlives_its_connection", 2,
     "0 preempts 0 0s; first = 0 is-at 1 3; blink 0; second = 1 is-at 1 2; "
     "first -> OK all stop at step 4; second -> OK all stop at step 4"},
    {"a_cancelled_answer_does_not_count", 2,
     "0 preempts 0 0s; gone = 0 is-at 1 30; cancel gone; second = 1 is-at 1 2; second -> waits; "
     "0 is-at 1 4; second -> OK all stop at step 5"},
};

BOOST_FIXTURE_TEST_CASE(an_agreement_elsewhere_has_no_step_here, job<2>) {
  c.preempt(0, 1);
  c.abstain(0, 1);
  c.abstain(0, 1);
  BOOST_TEST(!contains(c.log(), "among themselves"));
  c.abstain(1, 1);

  auto const log = c.log();
  BOOST_TEST(contains(log, "JAX tasks agree on a step among themselves"));
  BOOST_TEST(!contains(log, "stop at step"));
  BOOST_TEST(c.code(c.abstain(1, 1)) == "FAILED_PRECONDITION");
  c.preempt(0, 1);
  BOOST_TEST(c.freeze(0) == 2u);
}

BOOST_FIXTURE_TEST_CASE(a_freeze_says_when_the_first_preemption_is, job<2>) {
  c.preempt(0, 0, 12min);
  c.preempt(0, 1, 10min);
  auto const pushed = c.pushed<core::freeze_request>(0);
  BOOST_TEST_REQUIRE(pushed.size() == 1u);
  BOOST_TEST((pushed.back().in == 12min));
  c.frozen(0, 1, 0);
  c.frozen(1, 1, 0);
  c.preempt(0, 0, 20min);
  BOOST_TEST((c.at(5min).pushed<core::freeze_request>(0).back().in == 15min));
}

BOOST_FIXTURE_TEST_CASE(the_earliest_notice_starts_the_agreement_and_equal_times_join_it, job<3>) {
  c.preempt(0, 0, 30min);
  c.preempt(0, 1, 20min);
  c.preempt(0, 2, 20min + 1ns);
  BOOST_TEST(c.at(5min).freeze(0) == 1u);
  c.preempt(0, 0, 15min);  // joins the agreement
  c.frozen(0, 1, 1);
  c.frozen(1, 1, 1);
  auto const last = c.frozen(2, 1, 1);
  BOOST_TEST(step(c, last) == 2u);

  BOOST_TEST(c.at(5min + 1ns).freeze(0) == 2u);
  for (int i = 0; i < 3; ++i) c.frozen(i, 2, 7);

  BOOST_TEST(c.pass(2h).freeze(0) == 0u);
}

BOOST_AUTO_TEST_CASE(the_largest_possible_step_fails_the_agreement) {
  for (std::uint64_t const last : {UINT64_MAX, UINT64_MAX - 1}) {
    cluster c{2};
    c.preempt(0, 0);
    auto const first = c.frozen(0, 1, last);
    auto const second = c.frozen(1, 1, 3);
    if (last == UINT64_MAX) {
      BOOST_TEST(c.code(first, second) == "OUT_OF_RANGE OUT_OF_RANGE");
    } else {
      BOOST_TEST(step(c, first) == UINT64_MAX);
    }
  }
}

BOOST_AUTO_TEST_CASE(shutdown_with_preemption_removes_the_answer) {
  cluster c{2, {.leave_barrier = false}};
  c.preempt(0, 0);
  auto const gone = c.frozen(0, 1, 3);
  BOOST_TEST(c.after(c.leave(0)).code(gone) == "CANCELLED");
  BOOST_TEST(step(c, c.frozen(1, 1, 1)) == 2u);
}

BOOST_FIXTURE_TEST_CASE(a_second_answer_of_a_task_replaces_its_first, job<2>) {
  c.preempt(0, 0);
  auto const older = c.frozen(0, 1, 30);
  BOOST_TEST(c.after(c.frozen(0, 1, 4)).code(older) == "CANCELLED");
  BOOST_TEST(step(c, c.frozen(1, 1, 2)) == 5u);
}

BOOST_FIXTURE_TEST_CASE(a_notice_before_the_job_has_started_waits_for_it, empty_job<1>) {
  int const cli = c.observer();
  BOOST_TEST(c.code(c.preempt(cli, 0)) == "OK");
  int const task = c.observer();
  BOOST_TEST(c.freeze(task) == 0u);

  c.join({task, 0}, 100);

  BOOST_TEST(c.freeze(task) == 1u);
  BOOST_TEST(step(c, c.frozen({task, 0}, 1, 0)) == 1u);
}

BOOST_FIXTURE_TEST_CASE(an_answer_to_the_last_agreement_does_not_count_in_the_next, job<2>) {
  c.preempt(0, 0);
  c.frozen(0, 1, 3);
  c.frozen(1, 1, 3);
  c.preempt(0, 0);

  auto const late = c.frozen(0, 1, 9);

  BOOST_TEST(c.code(late) == "FAILED_PRECONDITION");
  expect_words(c.text(late), {"agreement 1 on a step has ended"});
  c.frozen(0, 2, 4);
  BOOST_TEST(step(c, c.frozen(1, 2, 5)) == 6u);
}

BOOST_AUTO_TEST_CASE(a_failed_task_is_not_listed_as_unanswered) {
  cluster c{3, {.recoverable = true, .preemption_timeout = 10s}};
  c.preempt(0, 0);
  auto const first = c.frozen(0, 1, 3);
  c.report_error(2, errc::internal, "boom");

  BOOST_TEST(c.at(10s).text(first) ==
             "no agreement on a step before a preemption within 10 s: 1 of 2 tasks did not report "
             "their step: 1");
}

// Tasks 0 and 1 are JAX programs, task 2 is not.
struct mixed_job {
  mixed_job() : c{cluster::without_clients(3, {.recoverable = true})} {
    for (std::uint32_t task = 0; task < 3; ++task) {
      c.join({c.observer(), task}, 100 + task, 300s, {.is_jax = task < 2});
    }
  }
  call sync(int who, duration timeout = 300s) {
    return c.barrier(who, "sync", timeout, {.of_jax_tasks = true});
  }
  cluster c;
};

BOOST_FIXTURE_TEST_CASE(jax_tasks_meet_without_the_others, mixed_job) {
  auto const first = sync(0);
  BOOST_TEST(c.code(first) == "waits");
  BOOST_TEST(c.round(sync(1)) == "round 1");
  BOOST_TEST(c.round(first) == "round 1");
}

BOOST_FIXTURE_TEST_CASE(only_a_jax_task_meets_the_jax_tasks, mixed_job) {
  auto const native = sync(2);
  BOOST_TEST(c.code(native) == "INVALID_ARGUMENT");
  expect_words(c.text(native), {"barrier 'sync'", "task 2 is not a JAX program's"});
  auto const lists = c.barrier(0, "sync", 300s, {.among = {0, 1}, .of_jax_tasks = true});
  BOOST_TEST(c.code(lists) == "INVALID_ARGUMENT");
}

BOOST_FIXTURE_TEST_CASE(a_jax_task_that_has_gone_is_not_awaited_and_the_next_one_is, mixed_job) {
  auto const both = sync(0);
  sync(1);
  BOOST_TEST(c.round(both) == "round 1");
  c.leave(1, 0s);
  BOOST_TEST(c.round(sync(0)) == "round 2");

  int const next = c.observer();
  c.join({next, 1}, 201, 300s, {.is_jax = true});
  auto const again = sync(0);
  BOOST_TEST(c.code(again) == "waits");
  BOOST_TEST(c.round(sync(next)) == "round 3");
  BOOST_TEST(c.round(again) == "round 3");
}

BOOST_FIXTURE_TEST_CASE(an_open_round_of_jax_tasks_keeps_its_participants, mixed_job) {
  c.leave(2, 0s);
  auto const first = sync(0);
  int const late = c.observer();
  c.join({late, 2}, 202, 300s, {.is_jax = true});
  BOOST_TEST(c.code(sync(late)) == "INVALID_ARGUMENT");
  BOOST_TEST(c.round(sync(1)) == "round 1");
  BOOST_TEST(c.round(first) == "round 1");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
