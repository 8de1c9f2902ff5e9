// Reported steps, and tasks without progress (§11.1).

#include "tests/core/steps.hpp"

namespace coxswain::test {
namespace {

call step(cluster& c, caller who, std::uint64_t n) {
  return c.send(who, core::report_progress_args{n});
}

core::config watched(bool fails = false) {
  return {.waiting_log_period = 0s, .progress_timeout = 60s, .fail_without_progress = fails};
}

BOOST_AUTO_TEST_SUITE(coordinator_progress_test)

rows const cases{
    {"only_a_task_reports_progress", 1, "observer x; x is-at-step 1 -> FAILED_PRECONDITION"},
    {"a_failed_barrier_names_the_steps_of_missing_tasks", 2,
     "1 is-at-step 1200; b = 0 barrier b 1s; at 1s; b ~ 1 (connected, last heard ... at step 1200"},
    {"a_task_that_never_reported_a_step_is_not_watched", 1, "log; at 3600s; log ->", watched()},
    {"a_task_that_had_two_waits_is_excused_while_one_remains", 2,
     "0 is-at-step 1; 0 get a; 0 get b; at 50s; 1 put a ''; at 100s; 1 put b ''; 0 barrier b "
     "3600s; log; at 200s; state 0 -> connected; 1 barrier b 3600s; at 260s-; log ->; at 260s; log "
     "~ task 0 ... no progress for 4.3 min (it was waiting or unreachable for 3.3 min): it is at "
     "step 1",
     watched(true)},
    {"a_step_reported_during_a_wait_restarts_the_timeout", 2,
     "0 barrier b 3600s; at 100s; 0 is-at-step 1; at 110s; 1 barrier b 3600s; log; at 170s-; "
     "log ->; at 170s; log ~ for 70 s (it was waiting or unreachable for 10 s)",
     watched()},
    {"the_progress_timeout_is_suspended_while_a_task_is_suspect", 1,
     "0 is-at-step 1; at 50s; heartbeat 0; cut 0; at 70s; state 0 -> suspect; resume 0; at 80s-; "
     "state 0 -> connected; at 80s; state 0 -> failed",
     config{.reconnect_grace = 30s, .progress_timeout = 60s, .fail_without_progress = true}},
    {"a_waiting_suspect_task_is_excused_once", 2,
     "0 is-at-step 1; at 10s; 0 barrier b 3600s; at 20s; cut 0; at 40s; resume 0; at 50s; "
     "1 barrier b 3600s; at 100s-; state 0 -> connected; at 100s; state 0 -> failed",
     config{.reconnect_grace = 30s, .progress_timeout = 60s, .fail_without_progress = true}},
    {"a_stall_is_credited_to_the_progress_timeout", 1,
     "0 is-at-step 1; at 50s; stall 20s; state 0 -> connected; at 80s-; state 0 -> connected; "
     "at 81s; state 0 -> failed",
     watched(true)},
    {"a_task_that_has_left_or_failed_is_not_watched", 2,
     "0 is-at-step 1; 1 is-at-step 1; 0 leaves; 1 reports boom; log; at 600s; log !~ no progress",
     config{.leave_barrier = false, .recoverable = true, .progress_timeout = 60s}},
    {"tasks_that_have_left_together_are_not_watched", 2,
     "0 is-at-step 1; 1 is-at-step 1; 0 leaves; 1 leaves; log; at 600s; log ->", watched()},
    {"without_a_timeout_no_task_is_watched", 1, "0 is-at-step 1; log; at 36000s; log ->",
     config{.progress_timeout = without_limit}},
    {"after_a_job_error_no_task_is_reported", 2,
     "0 is-at-step 1; 1 reports boom; at 600s; error -> task 1: INTERNAL: boom; "
     "state 0 -> connected",
     watched(true)},
    {"a_task_that_moves_to_another_session_is_still_watched", 2,
     "0 is-at-step 1; at 30s; observer again again:1; again/0 joins 100; log; at 60s; "
     "log ~ task 0 (again:1) ... no progress for 60 s",
     watched()},
    {"the_last_step_is_shown_with_its_age", 2,
     "0 is-at-step 7 -> OK; at 3s; progress 0 -> step 7, 3 s old; progress 1 -> none"},
    {"an_equal_or_lower_step_is_shown_but_is_no_progress", 1,
     "0 is-at-step 7; at 3s; 0 is-at-step 7; progress 0 -> step 7, 3 s old; 0 is-at-step 5 -> OK; "
     "progress 0 -> step 5, 3 s old; at 4s; 0 is-at-step 6; progress 0 -> step 6, 0 s old"},
    {"a_new_incarnation_starts_without_a_step", 1,
     "0 is-at-step 7; 0 reports boom; progress 0 -> step 7, 0 s old; 0/0 joins 9; "
     "progress 0 -> none",
     config{.recoverable = true}},
    {"a_task_is_shown_as_overdue_until_its_next_step", 1,
     "0 is-at-step 7; at 60s-; progress 0 -> step 7, 59 s old; at 60s; "
     "progress 0 -> step 7, 60 s old, overdue; at 90s; 0 is-at-step 7; "
     "progress 0 -> step 7, 90 s old, overdue; 0 is-at-step 8; progress 0 -> step 8, 0 s old",
     watched()},
    {"a_step_reported_after_a_job_error_is_not_watched", 2,
     "1 reports boom; 0 is-at-step 1; log; at 3600s; progress 0 -> step 1, 3600 s old; log ->",
     watched()},
};

BOOST_AUTO_TEST_CASE(a_task_without_progress_is_reported_once_exactly_at_its_timeout) {
  cluster c{2, watched()};
  c.log();
  c.at(1s);
  step(c, 0, 1200);

  BOOST_TEST(c.at(61s - 1ns).log() == "");
  BOOST_TEST(c.at(61s).log() ==
             "task 0 (host0:1000) has reported no progress for 60 s: it is at step 1200; "
             "the progress timeout is 60 s\n");
  BOOST_TEST(c.at(300s).log() == "");
  BOOST_TEST(c.state_of(0) == "connected");
}

BOOST_AUTO_TEST_CASE(each_step_restarts_the_progress_timeout) {
  cluster c{1, watched()};
  c.log();
  for (int i = 0; i < 10; ++i) {
    step(c, 0, static_cast<std::uint64_t>(i));
    c.pass(59s);
  }
  BOOST_TEST(c.log() == "");

  expect_words(c.pass(1s).log(), {"task 0", "no progress for 60 s", "step 9"});

  step(c, 0, 10);
  expect_words(c.pass(60s).log(), {"task 0", "no progress for 60 s", "step 10"});
}

BOOST_AUTO_TEST_CASE(only_the_task_that_holds_up_others_is_reported) {
  cluster c{3, watched()};
  c.log();
  for (int i = 0; i < 3; ++i) step(c, i, 1);
  c.at(10s);
  auto const first = c.barrier(0, "b", 1h);
  c.barrier(1, "b", 1h);

  BOOST_TEST(c.at(200s).log() ==
             "task 2 (host2:1002) has reported no progress for 60 s: it is at step 1; "
             "the progress timeout is 60 s\n");

  // After the release each task has the rest of its timeout.
  BOOST_TEST(c.after(c.barrier(2, "b", 1h)).code(first) == "OK");
  BOOST_TEST(c.at(250s - 1ns).log() == "");
  expect_words(c.at(250s).log(), {"task 0",
                                  "no progress for 4.1 min (it was waiting or unreachable "
                                  "for 3.1 min): it is at step 1",
                                  "task 1"});
}

BOOST_AUTO_TEST_CASE(a_wait_at_a_count_barrier_excuses_a_task) {
  cluster c{1, watched(true)};
  step(c, 0, 1);
  auto const waiting = c.count_barrier(0, "outside", 2, 1h);

  BOOST_TEST(c.at(100s).state_of(0) == "connected");
  BOOST_TEST(c.after(c.count_barrier(c.observer("outside"), "outside", 2)).code(waiting) == "OK");

  BOOST_TEST(c.at(160s - 1ns).state_of(0) == "connected");
  BOOST_TEST(c.at(160s).state_of(0) == "failed");
}

BOOST_AUTO_TEST_CASE(a_watch_does_not_excuse_a_task) {
  cluster c{1, watched()};
  step(c, 0, 1);
  c.send(0, core::watch_keys_args{"", {}, 1h});
  c.log();

  expect_words(c.at(60s).log(), {"task 0", "no progress for 60 s: it is at step 1"});
}

BOOST_AUTO_TEST_CASE(the_fail_option_fails_a_task_without_progress) {
  cluster c{2, watched(true)};
  step(c, 1, 1200);

  BOOST_TEST(c.at(60s).state_of(1) == "failed");
  BOOST_TEST(
      c.error() ==
      "task 1: DEADLINE_EXCEEDED: task 1 (host1:1001) has reported no progress for 60 s: it is "
      "at step 1200; the progress timeout is 60 s");
}

BOOST_AUTO_TEST_CASE(a_reply_to_an_overdue_suspect_task_leaves_no_deadline) {
  cluster c{2, {.reconnect_grace = 90s, .progress_timeout = 60s}};
  c.get(0, "a");
  c.get(0, "b", 1s);
  c.at(2s);
  step(c, 0, 1);
  c.lose(0).at(70s);

  c.put(1, "a", "1");

  BOOST_TEST((*c.logic().next_deadline() >= t0 + 70s));
  BOOST_TEST(c.state_of(0) == "suspect");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
