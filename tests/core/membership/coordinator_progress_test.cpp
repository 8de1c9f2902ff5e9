// Reported steps, and tasks without progress (§11.1).

#include "tests/core/cluster.hpp"

namespace coxswain::test {
namespace {

call step(cluster& c, caller who, std::uint64_t n) {
  return c.send(who, core::report_progress_args{n});
}

core::config watched(bool fails = false) {
  return {.waiting_log_period = 0s, .progress_timeout = 60s, .fail_without_progress = fails};
}

// "step 7, 3 s old", "step 7, 60 s old, overdue", or "none".
std::string shown(cluster const& c, std::size_t task) {
  auto const p = c.look().tasks.at(task).progress;
  if (!p) return "none";
  return "step " + std::to_string(p->step) + ", " + std::to_string(p->age / 1s) + " s old" +
         (p->overdue ? ", overdue" : "");
}

BOOST_AUTO_TEST_SUITE(coordinator_progress_test)

BOOST_FIXTURE_TEST_CASE(the_last_step_is_shown_with_its_age, job<2>) {
  BOOST_TEST(c.code(step(c, 0, 7)) == "OK");
  BOOST_TEST(shown(c.at(3s), 0) == "step 7, 3 s old");
  BOOST_TEST(shown(c, 1) == "none");
}

BOOST_FIXTURE_TEST_CASE(only_a_task_reports_progress, job<1>) {
  BOOST_TEST(c.code(step(c, c.observer(), 1)) == "FAILED_PRECONDITION");
}

BOOST_FIXTURE_TEST_CASE(an_equal_or_lower_step_is_shown_but_is_no_progress, job<1>) {
  step(c, 0, 7);
  c.at(3s);
  step(c, 0, 7);
  BOOST_TEST(shown(c, 0) == "step 7, 3 s old");

  BOOST_TEST(c.code(step(c, 0, 5)) == "OK");
  BOOST_TEST(shown(c, 0) == "step 5, 3 s old");

  c.at(4s);
  step(c, 0, 6);
  BOOST_TEST(shown(c, 0) == "step 6, 0 s old");
}

BOOST_AUTO_TEST_CASE(a_new_incarnation_starts_without_a_step) {
  cluster c{1, {.recoverable = true}};
  step(c, 0, 7);
  c.report_error(0, errc::internal, "boom");
  BOOST_TEST(shown(c, 0) == "step 7, 0 s old");

  c.join({0, 0}, 9);

  BOOST_TEST(shown(c, 0) == "none");
}

BOOST_FIXTURE_TEST_CASE(a_failed_barrier_names_the_steps_of_missing_tasks, job<2>) {
  step(c, 1, 1200);
  auto const b = c.barrier(0, "b", 1s);
  expect_words(c.at(1s).text(b), {"1 (connected, last heard", "at step 1200"});
}

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

BOOST_AUTO_TEST_CASE(a_task_is_shown_as_overdue_until_its_next_step) {
  cluster c{1, watched()};
  step(c, 0, 7);

  BOOST_TEST(shown(c.at(60s - 1ns), 0) == "step 7, 59 s old");
  BOOST_TEST(shown(c.at(60s), 0) == "step 7, 60 s old, overdue");
  c.at(90s);
  step(c, 0, 7);
  BOOST_TEST(shown(c, 0) == "step 7, 90 s old, overdue");
  step(c, 0, 8);
  BOOST_TEST(shown(c, 0) == "step 8, 0 s old");
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

BOOST_AUTO_TEST_CASE(a_task_that_never_reported_a_step_is_not_watched) {
  cluster c{1, watched()};
  c.log();

  BOOST_TEST(c.at(1h).log() == "");
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

BOOST_AUTO_TEST_CASE(a_task_that_had_two_waits_is_excused_while_one_remains) {
  cluster c{2, watched(true)};
  step(c, 0, 1);
  c.get(0, "a");
  c.get(0, "b");
  c.at(50s);
  c.put(1, "a", "");
  c.at(100s);
  c.put(1, "b", "");
  c.barrier(0, "b", 1h);
  c.log();

  BOOST_TEST(c.at(200s).state_of(0) == "connected");
  c.barrier(1, "b", 1h);

  BOOST_TEST(c.at(260s - 1ns).log() == "");
  expect_words(c.at(260s).log(), {"task 0",
                                  "no progress for 4.3 min (it was waiting or unreachable "
                                  "for 3.3 min): it is at step 1"});
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

BOOST_AUTO_TEST_CASE(a_step_reported_during_a_wait_restarts_the_timeout) {
  cluster c{2, watched()};
  c.barrier(0, "b", 1h);
  c.at(100s);
  step(c, 0, 1);
  c.at(110s);
  c.barrier(1, "b", 1h);
  c.log();

  BOOST_TEST(c.at(170s - 1ns).log() == "");
  expect_words(c.at(170s).log(), {"for 70 s (it was waiting or unreachable for 10 s)"});
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

BOOST_AUTO_TEST_CASE(the_progress_timeout_is_suspended_while_a_task_is_suspect) {
  cluster c{1, {.reconnect_grace = 30s, .progress_timeout = 60s, .fail_without_progress = true}};
  step(c, 0, 1);
  BOOST_TEST(c.at(50s).heartbeat(0).lose(0).at(70s).state_of(0) == "suspect");
  BOOST_TEST(c.resume(0).at(80s - 1ns).state_of(0) == "connected");
  BOOST_TEST(c.at(80s).state_of(0) == "failed");
}

BOOST_AUTO_TEST_CASE(a_waiting_suspect_task_is_excused_once) {
  cluster c{2, {.reconnect_grace = 30s, .progress_timeout = 60s, .fail_without_progress = true}};
  step(c, 0, 1);
  c.at(10s);
  c.barrier(0, "b", 1h);
  c.at(20s).lose(0).at(40s);
  c.resume(0).at(50s);
  c.barrier(1, "b", 1h);

  BOOST_TEST(c.at(100s - 1ns).state_of(0) == "connected");
  BOOST_TEST(c.at(100s).state_of(0) == "failed");
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

BOOST_AUTO_TEST_CASE(a_stall_is_credited_to_the_progress_timeout) {
  cluster c{1, watched(true)};
  step(c, 0, 1);
  BOOST_TEST(c.at(50s).stall(20s).state_of(0) == "connected");

  BOOST_TEST(c.at(80s - 1ns).state_of(0) == "connected");
  BOOST_TEST(c.at(81s).state_of(0) == "failed");
}

BOOST_AUTO_TEST_CASE(a_task_that_has_left_or_failed_is_not_watched) {
  cluster c{2, {.leave_barrier = false, .recoverable = true, .progress_timeout = 60s}};
  step(c, 0, 1);
  step(c, 1, 1);
  c.leave(0);
  c.report_error(1, errc::internal, "boom");
  c.log();

  c.at(10min);

  BOOST_TEST(!contains(c.log(), "no progress"));
}

BOOST_AUTO_TEST_CASE(tasks_that_have_left_together_are_not_watched) {
  cluster c{2, watched()};
  step(c, 0, 1);
  step(c, 1, 1);
  c.leave(0);
  c.leave(1);
  c.log();

  BOOST_TEST(c.at(10min).log() == "");
}

BOOST_AUTO_TEST_CASE(without_a_timeout_no_task_is_watched) {
  cluster c{1, {.progress_timeout = without_limit}};
  step(c, 0, 1);
  c.log();

  BOOST_TEST(c.at(10h).log() == "");
}

BOOST_AUTO_TEST_CASE(after_a_job_error_no_task_is_reported) {
  cluster c{2, watched(true)};
  step(c, 0, 1);
  c.report_error(1, errc::internal, "boom");

  BOOST_TEST(c.at(10min).error() == "task 1: INTERNAL: boom");
  BOOST_TEST(c.state_of(0) == "connected");
}

BOOST_AUTO_TEST_CASE(a_step_reported_after_a_job_error_is_not_watched) {
  cluster c{2, watched()};
  c.report_error(1, errc::internal, "boom");
  step(c, 0, 1);
  c.log();

  BOOST_TEST(shown(c.at(1h), 0) == "step 1, 3600 s old");
  BOOST_TEST(c.log() == "");
}

BOOST_AUTO_TEST_CASE(a_task_that_moves_to_another_session_is_still_watched) {
  cluster c{2, watched()};
  step(c, 0, 1);
  c.at(30s);
  int const again = c.observer("again:1");
  c.join({again, 0}, 100);
  c.log();

  expect_words(c.at(60s).log(), {"task 0 (again:1)", "no progress for 60 s"});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
