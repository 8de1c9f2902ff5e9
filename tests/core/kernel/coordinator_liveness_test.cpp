// Signs of life, suspicion, grace and stalls: §4.1, §4.2, and §4.3.1 to 3.20.

#include "tests/core/steps.hpp"

namespace coxswain::test {
namespace {

// Heartbeat timeout 100 s, grace 2 s, Hello 10 s, stalled reader 30 s: the defaults.

BOOST_AUTO_TEST_SUITE(coordinator_liveness_test)

rows const cases{
    {"heartbeats_keep_a_task_alive", 2, "at 3600s; error -> none; state 0 -> connected"},
    {"a_silent_observer_ends_without_a_task_failure", 1,
     "observer o; mute o; sessions -> 2; at 100s; sessions -> 1; error -> none; "
     "goodbye o ~ UNAVAILABLE ... no heartbeat from"},
    {"heartbeat_timeout_without_server_to_client_connection_refuses_later_messages", 2,
     "mute 0; mute 1; at 200s; state 0 -> failed; state 1 -> failed; sessions -> 0; observer x; "
     "x/0 joins 100 -> ABORTED"},
    {"after_a_connection_timeout_the_heartbeat_deadline_applies", 2,
     "mute 0; at 50s; unreachable 0; state 0 -> suspect; at 100s-; error -> none; at 100s; "
     "error ~ task 0: UNAVAILABLE ... no heartbeat from task ... for 100 s"},
    {"a_grace_of_zero_does_not_apply_after_a_connection_timeout", 2,
     "mute 0; at 50s; unreachable 0; at 100s-; error -> none; at 100s; error !~ none",
     config{.reconnect_grace = 0s}},
    {"a_grace_longer_than_the_heartbeat_timeout_runs_in_full", 2,
     "cut 0; at 10s-; error -> none; at 10s; error !~ none",
     config{.heartbeat_timeout = 3s, .reconnect_grace = 10s}},
    {"after_a_resume_the_heartbeat_timeout_counts_from_the_resume", 2,
     "mute 0; at 99s; cut 0; at 100s; resume 0; at 200s-; error -> none; at 200s; error !~ none"},
    {"a_suspect_arrival_does_not_block_a_round", 2,
     "first = 0 barrier b; cut 0; 1 barrier b -> round 1; resume 0; first -> round 1"},
    {"an_observer_that_says_bye_fails_nothing", 1,
     "observer o; bye o; sessions -> 1; error -> none"},
    {"malformed_input_of_an_observer_ends_only_its_session", 1,
     "observer o; malformed o noise; error -> none; sessions -> 1"},
    {"hello_disarms_its_deadline", 1, "empty; observer x; at 30s; goodbye 0 -> none"},
    // accumulated input is read first
    {"a_stall_past_the_heartbeat_deadline_fails_no_task_heard_after_it", 1,
     "at 10s; sleep 95s; heartbeat 0; pass 1s; error -> none"},
    // at 60 s
    {"a_sign_of_life_consumes_the_stall_credit", 1,
     "mute 0; at 10s; stall 50s; heartbeat 0; at 160s-; error -> none; at 160s; error !~ none"},
    {"a_stall_is_credited_to_graces", 2,
     "cut 0; at 1s; stall 5s; error -> none; at 7s-; error -> none; at 7s; error !~ none"},
    {"a_stall_before_the_connection_loss_is_not_credited_to_its_grace", 2,
     "at 1s; stall 5s; cut 0; at 8s-; error -> none; at 8s; error !~ none"},
    // A slow reader is never disconnected (§16.1): during the stall its reading was not observed.
    {"a_stall_is_credited_to_peers_that_read_nothing", 1,
     "blocked 0; at 5s; stall 40s; goodbye 0 -> none; at 70s-; goodbye 0 -> none; at 70s; "
     "goodbye 0 !~ none"},
    // The probed holder has the grace to answer, and a stall is credited to graces.
    {"a_stall_is_credited_to_a_probe", 1,
     "mute 0; observer x; asked = x/0 joins 555; at 1s; stall 5s; asked -> waits; at 7s-; "
     "asked -> waits; at 7s; asked -> ABORTED; error !~ none"},
    {"a_stall_is_never_credited_to_calls", 2,
     "at_barrier = 0 barrier b 10s; at_key = 1 get k 10s; at 5s; stall 5s; "
     "at_barrier at_key -> DEADLINE_EXCEEDED DEADLINE_EXCEEDED"},
    {"a_late_message_reveals_the_stall", 2,
     "mute 1; at 10s; sleep 30s; heartbeat 0; log ~ event loop stalled for 30 s; at 130s-; "
     "error -> none; at 130s; error !~ none"},
    {"stalls_are_logged_again_after_ten_seconds", 1,
     "stall 1s; log ~ event loop stalled for 1 s; at 10s; stall 1s-; log ->; stall 200ms; "
     "log ~ event loop stalled for 200 ms"},
    {"a_jax_process_that_is_still_joining_has_the_usual_grace", 2,
     "empty; observer x; join = x/1 joins 101 300s jax; cut 0; pass 2s-; resume 0; pass 2s; "
     "join -> waits"},
    {"a_task_end_reported_by_the_launcher_takes_effect_at_once", 2,
     "ended 1 UNAVAILABLE killed by signal 9; error ~ task 1: UNAVAILABLE: killed by signal 9; "
     "state 1 -> failed"},
    {"a_leaving_task_whose_process_exits_with_0_has_left", 2,
     "leaving = 0 leaves; ended 0 OK exited with status 0; leaving -> CANCELLED; state 0 -> left; "
     "1 leaves -> OK; error -> none"},
    // read before the deadlines of the same iteration are processed
    {"a_sign_of_life_at_the_deadline_counts", 1,
     "mute 0; at 100s-; sleep 1ns; heartbeat 0; at 200s-; error -> none; at 200s; error !~ none"},
    {"a_resume_at_the_end_of_the_grace_keeps_the_task", 2,
     "at 10s; cut 0; at 12s-; sleep 1ns; resume 0; at 90s; error -> none; state 0 -> connected"},
    // Also: missed_heartbeat_callback_is_executed_if_any_client_goes_away.
    {"test_task_heartbeat_timeout_is_exact", 2,
     "mute 1; at 100s-; error -> none; at 100s; error ~ task 1: UNAVAILABLE ... no heartbeat from "
     "task ... for 100 s ... timeout 100 s; state 1 -> failed; goodbye 1 ~ UNAVAILABLE: no "
     "heartbeat from task 1 (host1:1001); pushes errors 0 -> 1"},
    {"a_heartbeat_is_answered_only_if_nothing_was_written_since_the_last", 2,
     "heartbeat 0; endings 0; heartbeat 0; pushes heartbeats 0 -> 1; heartbeat 0; "
     "pushes heartbeats 0 -> 1; 0 try-get k; heartbeat 0; pushes heartbeats 0 -> 0; heartbeat 0; "
     "pushes heartbeats 0 -> 1"},
    {"a_push_counts_as_written", 2,
     "heartbeat 0; 1 reports boom; endings 0; heartbeat 0; pushes heartbeats 0 -> 0"},
    {"a_grace_of_zero_fails_a_task_at_once", 2, "cut 0; state 0 -> failed; pushes errors 1 -> 1",
     config{.reconnect_grace = 0s}},
};

BOOST_AUTO_TEST_CASE(nonrecoverable_client_dies_error_propagated_to_the_others_and_not_to_itself) {
  cluster c{3};
  c[0].beats = false;
  c[0].deaf = true;

  c.at(200s);

  for (int const other : {1, 2}) {
    auto const errors = c.pushed<job_error>(other);
    BOOST_TEST_REQUIRE(errors.size() == 1u);
    BOOST_TEST(errors[0].cause.task->value == 0u);
    BOOST_TEST(errors[0].cause.why.code() == errc::unavailable);
  }
  BOOST_TEST(c.pushed<job_error>(0).empty());
}

BOOST_AUTO_TEST_CASE(any_frame_or_byte_counts_as_a_sign_of_life) {
  enum class sign { heartbeat, request, bytes, cancel };
  for (sign const s : {sign::heartbeat, sign::request, sign::bytes, sign::cancel}) {
    cluster c{1};
    c[0].beats = false;
    c.at(60s);
    if (s == sign::heartbeat) c.heartbeat(0);
    if (s == sign::request) c.try_get(0, "k");
    if (s == sign::bytes) c.heard(0);
    if (s == sign::cancel) {
      core::client_message m{.what = core::cancel_args{request_id{99}}};
      c.say(c[0].connection, m);
    }

    BOOST_TEST(c.at(160s - 1ns).error() == "none");
    BOOST_TEST(c.at(160s).error() != "none");
  }
}

BOOST_FIXTURE_TEST_CASE(two_tasks_timing_out_together_give_one_cause_and_one_later_failure,
                        job<3>) {
  c[0].beats = false;
  c[1].beats = false;

  c.at(100s);

  auto const errors = c.pushed<job_error>(2);
  BOOST_TEST_REQUIRE(errors.size() == 1u);
  BOOST_TEST(errors[0].cause.task->value == 0u);
  BOOST_TEST_REQUIRE(errors[0].later.size() == 1u);
  BOOST_TEST(errors[0].later[0].task->value == 1u);
}

BOOST_FIXTURE_TEST_CASE(a_lost_connection_makes_a_task_suspect_and_fails_it_after_the_grace,
                        job<2>) {
  BOOST_TEST(c.at(10s).lose(0).state_of(0) == "suspect");
  BOOST_TEST((c.look().tasks[0].state == task_state::connected));

  BOOST_TEST(c.at(12s - 1ns).error() == "none");
  expect_words(
      c.at(12s).error(),
      {"task 0: UNAVAILABLE", "the connection of task 0 (host0:1000) was lost at 00:00:10.0 and"});
  BOOST_TEST(c.state_of(0) == "failed");
}

BOOST_FIXTURE_TEST_CASE(a_resume_after_the_grace_is_too_late, job<2>) {
  expect_words(c.lose(0).at(2s).resume(0).goodbye(0), {"ABORTED: session ended"});
  BOOST_TEST(!c[0].goodbye->may_resume);
}

BOOST_FIXTURE_TEST_CASE(each_lost_connection_starts_a_new_grace, job<2>) {
  for (int i = 0; i < 5; ++i) {
    c.lose(0).pass(1900ms).resume(0);
  }
  BOOST_TEST(c.error() == "none");
  BOOST_TEST(c.lose(0).pass(2s - 1ns).error() == "none");
  BOOST_TEST(c.pass(1ns).error() != "none");
}

BOOST_FIXTURE_TEST_CASE(all_tasks_of_a_lost_session_are_suspect_and_fail_together, empty_job<3>) {
  int const agent = c.observer("agent:1");
  int const single = c.observer("single:1");
  c.join({agent, 0}, 1);
  c.join({agent, 2}, 2);
  c.join({single, 1}, 3);
  BOOST_TEST(c.lose(agent).state_of(0) == "suspect");
  BOOST_TEST(c.state_of(2) == "suspect");
  BOOST_TEST(c.state_of(1) == "connected");
  c[single].pushes.clear();

  c.pass(2s);

  auto const errors = c.pushed<job_error>(single);
  BOOST_TEST_REQUIRE(errors.size() == 1u);
  BOOST_TEST(errors[0].cause.task->value == 0u);
  BOOST_TEST(errors[0].later.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_client_that_says_bye_without_leaving_has_failed_at_once) {
  for (bool const abandoned : {true, false}) {
    cluster c{2};
    BOOST_TEST(c.bye(0, abandoned).state_of(0) == "failed");
    expect_words(c.error(),
                 {"task 0: UNAVAILABLE", "the client of task 0 (host0:1000)", "without leaving"});
    expect_words(c.goodbye(0), {"OK"});
    BOOST_TEST(c.look().sessions == 1u);
  }
}

BOOST_AUTO_TEST_CASE(a_task_whose_process_exited_with_0_has_finished) {
  for (bool const recoverable : {true, false}) {
    cluster c{3, {.recoverable = recoverable}};
    auto const waits = c.barrier(0, "b");

    BOOST_TEST(c.lose(1).task_ended(1, {errc::ok, "exited with status 0"}).state_of(1) == "left");
    BOOST_TEST(c.code(waits) == (recoverable ? "FAILED_PRECONDITION" : "INTERNAL"));
    expect_words(c.text(waits), {recoverable ? "task 1 has finished" : "(host1:1001) has left"});
    c.leave(0);
    BOOST_TEST(c.after(c.leave(2)).error() == "none");
    BOOST_TEST(c.logic().done());
  }
}

BOOST_AUTO_TEST_CASE(a_reported_exit_decides_how_a_bye_without_leave_counts) {
  auto const reported = core::config{.reports_ends = true};
  {
    cluster c{2, reported};
    c.bye(0, true);
    BOOST_TEST(c.state_of(0) == "suspect");
    expect_words(c.log(), {"task 0 (host0:1000) is suspect: its client was destroyed without"});

    c.task_ended(0, {errc::ok, "exited with status 0"});

    BOOST_TEST(c.state_of(0) == "left");
    c.at(1h);
    BOOST_TEST(c.error() == "none");
  }
  {
    cluster c{2, reported};
    c.bye(0, true);

    c.task_ended(0, {errc::aborted, "exited with status 1"});

    BOOST_TEST(c.error() == "task 0: ABORTED: exited with status 1");
  }
  {
    cluster c{2, reported};
    c.bye(0, true);
    c.at(2s - 1ns);
    BOOST_TEST(c.error() == "none");

    c.at(2s);

    expect_words(c.error(), {"task 0: UNAVAILABLE: the client of task 0 (host0:1000) was destroyed",
                             "at 00:00:00.0 without leaving; its process is still running"});
  }
}

BOOST_AUTO_TEST_CASE(the_exit_of_an_absent_left_or_failed_task_changes_nothing) {
  cluster c{2, {.leave_barrier = false}};
  c.leave(0);
  c.task_ended(0, {errc::unavailable, "exit code 0"}).task_ended(0, {});
  BOOST_TEST(c.task_ended(7, {errc::unavailable, "no such task"}).error() == "none");
  c.task_ended(1, {errc::unavailable, "first"}).task_ended(1, {errc::unavailable, "second"});
  BOOST_TEST(c.task_ended(1, {}).error() == "task 1: UNAVAILABLE: first");

  auto nobody = cluster::without_clients(2);
  nobody.task_ended(0, {errc::unavailable, "exit code 1"});
  BOOST_TEST(nobody.error() == "none");
  BOOST_TEST(nobody.state_of(0) == "never connected");
}

BOOST_FIXTURE_TEST_CASE(malformed_input_ends_the_session_and_fails_its_tasks, job<2>) {
  c.malformed(0, "length 4294967295 is above the limit");

  expect_words(c.goodbye(0), {"INVALID_ARGUMENT: protocol error: length 4294967295"});
  BOOST_TEST(!c[0].goodbye->may_resume);
  BOOST_TEST(c.state_of(0) == "failed");
  expect_words(c.resume(0).goodbye(0), {"ABORTED: session ended"});
}

BOOST_FIXTURE_TEST_CASE(a_connection_has_ten_seconds_for_its_hello, job<1>) {
  auto const dumb = c.dial();
  BOOST_TEST(c.at(10s - 1ns).goodbye_to(dumb) == "none");
  expect_words(c.at(10s).goodbye_to(dumb), {"DEADLINE_EXCEEDED: no Hello within 10 s"});
}

BOOST_FIXTURE_TEST_CASE(partial_hello_bytes_do_not_extend_its_deadline, empty_job<1>) {
  auto const slow = c.dial();
  c.at(9s);
  c.logic().heard(t0 + 9s, slow);

  expect_words(c.at(10s).goodbye_to(slow), {"no Hello within"});
}

BOOST_FIXTURE_TEST_CASE(a_peer_that_reads_nothing_for_thirty_seconds_is_disconnected, job<2>) {
  BOOST_TEST(c.at(5s).write_blocked(0).at(35s - 1ns).goodbye(0) == "none");
  expect_words(c.at(35s).goodbye(0), {"UNAVAILABLE: the client read nothing for 30 s"});
  BOOST_TEST(!c[0].goodbye->may_resume);
  expect_words(c.error(), {"task 0: UNAVAILABLE: the client read nothing for 30 s"});
}

BOOST_FIXTURE_TEST_CASE(a_slow_reader_is_not_disconnected, job<1>) {
  for (int i = 0; i < 20; ++i) {
    c.write_blocked(0).pass(29s).write_progressed(0);
  }
  BOOST_TEST(c.pass(100s).goodbye(0) == "none");
}

BOOST_FIXTURE_TEST_CASE(a_repeated_stalled_report_does_not_extend_the_deadline, job<1>) {
  BOOST_TEST(c.write_blocked(0).at(20s).write_blocked(0).at(30s).goodbye(0) != "none");
}

BOOST_AUTO_TEST_CASE(a_peer_that_reads_nothing_is_disconnected_before_hello_too) {
  auto c = cluster::without_clients(1, {.hello_timeout = 60s});
  auto const bare = c.dial();
  c.logic().write_blocked(t0, bare);

  BOOST_TEST(c.at(30s - 1ns).goodbye_to(bare) == "none");
  expect_words(c.at(30s).goodbye_to(bare), {"UNAVAILABLE: the client read nothing for 30 s"});
}

BOOST_FIXTURE_TEST_CASE(a_stall_is_credited_to_heartbeats, job<1>) {
  c[0].beats = false;
  expect_words(c.at(50s).stall(20s).log(), {"event loop stalled for 20 s"});
  BOOST_TEST(c.logic().counts().stalls == 1u);
  BOOST_TEST((c.logic().counts().stalled == 20s));

  BOOST_TEST(c.at(120s - 1ns).error() == "none");
  BOOST_TEST(c.at(120s).error() != "none");
}

BOOST_AUTO_TEST_CASE(the_stall_credit_between_two_signs_of_life_is_at_most_one_timeout) {
  cluster c{1};
  c[0].beats = false;
  for (int i = 0; i < 3; ++i) {
    c.pass(10s).stall(40s);
  }
  // Silent for 150 s, including 120 s of stalls, of which 100 s are credited.
  BOOST_TEST((c.now() == 150s));

  BOOST_TEST(c.at(200s - 1ns).error() == "none");
  BOOST_TEST(c.at(200s).error() != "none");
}

BOOST_FIXTURE_TEST_CASE(a_stall_is_credited_to_the_hello_deadline, empty_job<1>) {
  auto const dumb = c.dial();
  BOOST_TEST(c.at(5s).stall(7s).goodbye_to(dumb) == "none");

  BOOST_TEST(c.at(17s - 1ns).goodbye_to(dumb) == "none");
  BOOST_TEST(c.at(17s).goodbye_to(dumb) != "none");
}

BOOST_FIXTURE_TEST_CASE(the_loop_must_run_again_within_fifty_milliseconds, job<1>) {
  BOOST_TEST((*c.logic().next_deadline() == t0 + 50ms));
  c.at(1s);
  BOOST_TEST((*c.logic().next_deadline() == t0 + 1s + 50ms));
}

BOOST_AUTO_TEST_CASE(a_delay_of_up_to_a_hundred_milliseconds_is_no_stall) {
  for (bool const is_stall : {false, true}) {
    cluster c{1};
    c[0].beats = false;
    c.at(50s);
    c.log();
    c.stall(is_stall ? 150ms + 1ns : 150ms);
    BOOST_TEST(contains(c.log(), "event loop stalled") == is_stall);

    c.at(100s);
    BOOST_TEST((c.error() == "none") == is_stall);
    BOOST_TEST(c.at(100s + 151ms).error() != "none");
  }
}

BOOST_FIXTURE_TEST_CASE(an_idle_coordinator_reports_no_stall, empty_job<1>) {
  BOOST_TEST(!c.logic().next_deadline().has_value());

  BOOST_TEST(c.stall(1h).log() == "");
}

// Two tasks of unmodified JAX programs.
struct jax_job {
  explicit jax_job(core::config options = {}) : c{cluster::without_clients(2, std::move(options))} {
    for (std::uint32_t task = 0; task < 2; ++task) {
      c.join({c.observer("jax:" + std::to_string(task)), task}, 100 + task, 300s, {.is_jax = true});
    }
    c.log();
  }
  cluster c;
};

BOOST_FIXTURE_TEST_CASE(a_jax_task_whose_connection_was_closed_fails_after_a_short_grace, jax_job) {
  c.lose(1);
  BOOST_TEST(c.pass(200ms - 1ns).state_of(1) == "suspect");

  c.pass(1ns);

  expect_words(c.error(), {"task 1: UNAVAILABLE", "(jax:1) was closed at", "not resumed",
                           "its process has probably ended"});
}

BOOST_FIXTURE_TEST_CASE(a_jax_task_that_connects_again_in_time_lives_on, jax_job) {
  BOOST_TEST(c.lose(1).pass(200ms - 1ns).resume(1).pass(2s).state_of(1) == "connected");
}

BOOST_FIXTURE_TEST_CASE(a_jax_task_of_an_unreachable_host_has_until_its_heartbeat_timeout,
                        jax_job) {
  c.lose(1, core::loss::unreachable);
  BOOST_TEST(c.pass(100s - 1ns).state_of(1) == "suspect");
  BOOST_TEST(c.pass(1ns).state_of(1) == "failed");
}

BOOST_FIXTURE_TEST_CASE(a_jax_task_whose_relay_was_lost_has_the_grace_of_relays, jax_job) {
  c.lose(1, core::loss::trunk_closed);
  BOOST_TEST(c.pass(5s - 1ns).state_of(1) == "suspect");
  c.pass(1ns);
  expect_words(c.error(),
               {"task 1: UNAVAILABLE: the relay of task 1 (jax:1) at 10.0.0.1:5000 was lost"});
}

BOOST_AUTO_TEST_CASE(a_jax_process_that_ends_with_its_relay_is_reported_so) {
  jax_job j{{.reports_ends = true}};
  j.c.lose(1, core::loss::trunk_closed).task_ended(1, {errc::aborted, "exited with status 1"});
  BOOST_TEST(j.c.error() ==
             "task 1: ABORTED: exited with status 1 after the relay of task 1 (jax:1) at "
             "10.0.0.1:5000 was lost");
}

BOOST_AUTO_TEST_CASE(the_grace_of_jax_tasks_is_never_longer_than_that_of_others) {
  for (auto const& options :
       {core::config{.reconnect_grace = 100ms}, core::config{.xla_reconnect_grace = 100ms}}) {
    jax_job j{options};
    BOOST_TEST(j.c.lose(1).pass(100ms - 1ns).state_of(1) == "suspect");
    BOOST_TEST(j.c.pass(1ns).state_of(1) == "failed");
  }
}

BOOST_AUTO_TEST_CASE(an_owner_that_reports_ends_is_waited_for_with_jax_tasks_too) {
  jax_job j{{.reports_ends = true}};
  BOOST_TEST(j.c.lose(1).pass(2s - 1ns).state_of(1) == "suspect");
  j.c.task_ended(1, {errc::aborted, "killed by signal 9"});
  BOOST_TEST(j.c.error() == "task 1: ABORTED: killed by signal 9");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
