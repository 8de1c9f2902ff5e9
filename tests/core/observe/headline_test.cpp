// The state of the job as one sentence (§12.8).

#include "tests/core/steps.hpp"

namespace coxswain::test {
namespace {

core::config loose() { return config{.join_barrier = false, .leave_barrier = false}; }

core::config elastic() {
  core::config options;
  options.elastic = true;
  options.min_tasks = 2;
  return options;
}

// Every task arrives at the barrier, the last one after `lag`; as many times.
void step(cluster& c, int times, int last, duration lag, duration rest) {
  for (int i = 0; i < times; ++i) {
    for (int task = 0; task < c.size(); ++task) {
      if (task != last) c.barrier(task, "step");
    }
    c.pass(lag);
    c.barrier(last, "step");
    c.pass(rest);
  }
}

BOOST_AUTO_TEST_SUITE(headline_test)

rows const cases{
    {"nothing_has_joined", 3,
     "empty; at 30s; headline -> Nothing has joined 30 s after the start; blamed -> 0-2; "
     "since -> 0 ms"},
    {"ages_are_in_minutes_after_two_of_them", 3,
     "empty; at 119s; headline -> Nothing has joined 119 s after the start; at 120s; "
     "headline -> Nothing has joined 2 min after the start; at 180min; "
     "headline -> Nothing has joined 3 h after the start"},
    {"tasks_are_missing_at_the_start", 3,
     "empty; at 10s; observer x; x/1 joins 1 300s; at 25s; "
     "headline -> Gathering: 1 of 3 tasks has joined, tasks 0,2 are missing (times out in 4:45); "
     "blamed -> 0,2"},
    {"processes_without_numbers_gather", 3,
     "empty; enrolled 2 0; headline -> Gathering: the job needs 3 processes, 2 wait (m0, m1)"},
    {"a_last_call_tells_when_the_job_begins", 2,
     "empty; enrolled 2 0; at 2s; headline ~ Gathering: the job needs 2 processes, 2 wait "
     "(m0, m1) ... begins in 13 s",
     config{.spares = 1}},
    {"the_first_epoch_gathers", 4,
     "empty; enrolled 1 0; headline -> Gathering: the first epoch needs 2 processes, 1 waits "
     "(m0); new m1; pass 2s; headline ~ needs 2 processes, 2 wait (m0, m1) ... begins in 13 s",
     elastic()},
    {"an_epoch_that_is_over_gathers", 3,
     "empty; enrolled 3 0; headline -> Running; ended 2 signal 9; at 1s; headline ~ Gathering: "
     "epoch 1 is over: task 2 (observer:1) failed: ABORTED: signal 9 ... waiting for next_epoch "
     "of 2 of 2 members: 0-1; blamed -> 0-1",
     elastic()},
    {"a_task_is_missing_at_a_barrier", 4,
     "at 10s; 0-2 barrier step 300s; at 12s-; headline -> Running; at 25s; headline -> Waiting "
     "for task 3: 3 of 4 have been at barrier 'step' for 15 s (times out in 4:45); blamed -> 3; "
     "since -> 10 s"},
    {"few_tasks_at_a_barrier_are_early", 4,
     "0 barrier step; at 10s-; headline -> Running; at 10s; headline -> Waiting for tasks 1-3: 1 "
     "of 4 has been at barrier 'step' for 10 s (times out in 4:50)"},
    {"the_wait_that_lasts_longest_is_named", 3,
     "0 barrier a 300s t0 t1; at 5s; 2 barrier b 300s t1 t2; at 7s; headline ~ barrier 'a' for 7 "
     "s"},
    {"a_wait_without_limit_has_no_timeout", 2,
     "0 barrier a for-ever; at 3s; headline -> Waiting for task 1: 1 of 2 has been at barrier "
     "'a' for 3 s"},
    {"tasks_wait_in_the_shutdown_barrier", 3,
     "0-1 leaves 300s; at 4s; headline -> Waiting for task 2: 2 of 3 have been in the shutdown "
     "barrier for 4 s (times out in 4:56)"},
    {"a_connection_is_lost", 3,
     "at 10s; heartbeat 1; cut 1; at 11s; headline -> Waiting for task 1: its connection is lost, "
     "last heard 1 s ago; blamed -> 1"},
    {"a_task_reports_no_step", 2,
     "0 is-at-step 20; at 65s; headline -> Waiting for task 0: no step for 65 s, since step 20; "
     "blamed -> 0; since -> 0 ms",
     config{.progress_timeout = 1min}},
    {"a_deadlock_is_worse_than_a_wait", 2,
     "0 barrier a; 1 barrier b; at 20s; headline ~ Deadlock: tasks 0-1 are blocked on each other: "
     "task 0 waits at barrier 'a' for task 1; blamed -> 0-1; since -> 0 ms"},
    {"a_killed_task_fails_the_job", 4,
     "at 5s; ended 3 ABORTED killed by signal 9 (SIGKILL); at 9s; "
     "headline -> Failed at 00:00:05: task 3 was killed by signal 9 (SIGKILL) (out of memory? "
     "on host3: dmesg | grep -i oom); blamed -> 3; since -> 5 s"},
    {"coxswains_own_sigkill_is_not_that_of_the_kernel", 2,
     "at 5s; ended 1 ABORTED killed by signal 9 (SIGKILL) that coxswain sent after --kill-grace; "
     "headline -> Failed at 00:00:05: task 1 was killed by signal 9 (SIGKILL) that coxswain sent "
     "after --kill-grace"},
    {"an_exit_code_fails_the_job", 2,
     "ended 1 ABORTED exited with status 3; headline ~ : task 1 exited with status 3"},
    {"a_reported_error_fails_the_job", 2,
     "0 reports 'ValueError: boom'; headline ~ : task 0 failed: ValueError: boom"},
    {"the_failure_of_a_recoverable_task_is_told", 3,
     "ended 1 ABORTED killed; headline -> Running without task 1, which failed; blamed -> 1",
     config{.recoverable = true}},
    {"a_task_that_was_reset_is_awaited", 2,
     "ended 1 ABORTED killed; 0/1 resets 101; headline -> Waiting for task 1 to join again",
     config{.recoverable = true}},
    {"a_stop_names_its_reason", 2,
     "at 3s; stop the example is over; headline -> Stopped: the "
     "example is over; since -> 3 s"},
    {"a_stop_names_who_stopped_it", 2, "stop by root@vm; headline -> Stopped by root@vm"},
    {"a_stop_on_request_names_its_reason", 2,
     "observer op root@vm; op stops upgrade; headline -> Stopped by root@vm: upgrade"},
    {"a_job_drains", 3,
     "at 5s; 0 leaves 0s; observer op root@vm; op drains upgrade; at 9s; headline ~ Draining "
     "since 00:00:05: 2 tasks are still in it ... by root@vm: upgrade; blamed -> 1-2; since -> 5 "
     "s; "
     "1 leaves 0s; headline ~ : 1 task is still in it; 2 leaves 0s; headline -> Over"},
    {"what_is_worse_than_a_drain_comes_first", 3,
     "observer op; op drains; 0-1 barrier step 300s; at 4s; headline ~ Waiting for task 2: 2 of 3 "
     "have been at barrier 'step' for 4 s (times out in 4:56) ... draining since 00:00:00"},
    {"a_job_is_over_when_all_have_left", 2,
     "at 4s; 0-1 leaves; headline -> Over; since -> 4 s; at 9s; stop; headline -> Over"},
    {"a_task_may_join_late", 2,
     "empty; observer x; x/0 joins 1; headline -> Gathering: 1 of 2 tasks has joined, task 1 is "
     "missing",
     loose()},
};

BOOST_FIXTURE_TEST_CASE(the_pace_is_that_of_the_last_rounds, job<3>) {
  step(c, 3, 2, 300ms, 400ms);
  BOOST_TEST(c.look().state.headline == "Running");
  step(c, 3, 2, 100ms, 600ms);
  BOOST_TEST(c.look().state.headline == "Running (85 steps per minute)");
  c.pass(11500ms);
  BOOST_TEST(c.look().state.headline == "Running (85 steps per minute)");
  c.pass(1ms);
  BOOST_TEST(c.look().state.headline == "Running");
}

BOOST_FIXTURE_TEST_CASE(a_slow_host_is_named, job<3>) {
  step(c, 6, 1, 600ms, 100ms);
  auto const state = c.look().state;
  BOOST_TEST(state.headline == "Slow: waits for host1 (task 1) 0.6 s of each 0.7 s step");
  BOOST_TEST(state.tasks == "1");
  BOOST_TEST((state.what == core::job_state::kind::slow));
}

BOOST_FIXTURE_TEST_CASE(no_host_is_slow_that_takes_turns_with_others, job<3>) {
  for (int i = 0; i < 9; ++i) step(c, 1, i % 3, 600ms, 100ms);
  BOOST_TEST(c.look().state.headline == "Running (85 steps per minute)");
}

BOOST_FIXTURE_TEST_CASE(a_short_wait_makes_no_host_slow, job<3>) {
  step(c, 6, 1, 49ms, 10ms);
  BOOST_TEST((c.look().state.what == core::job_state::kind::running));
}

// The answers to both questions have the same state.
BOOST_FIXTURE_TEST_CASE(status_and_why_have_the_same_state, job<2>) {
  c.barrier(0, "a");
  c.at(12s);
  auto const picture = c.inspect(0);
  auto const why = c.send(0, core::why_args{});
  BOOST_TEST((c.body<core::why_answer>(why)->state == c.look().state));
  auto const* const seen = c.body<boxed<core::snapshot>>(picture);
  BOOST_TEST_REQUIRE(seen != nullptr);
  BOOST_TEST(((*seen)->state == c.look().state));
  BOOST_TEST((c.logic().state(t0 + 12s) == c.look().state));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
