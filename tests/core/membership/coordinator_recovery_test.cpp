// Recoverable tasks: §1.4 and its consequences in §4.1, §1.3, §6.1; §1.8.12, §6.6.7; sharp edges 5
// and 6.

#include "tests/core/steps.hpp"

#include <algorithm>

namespace coxswain::test {
namespace {

core::config recoverable() { return core::config{.recoverable = true}; }

// With the shutdown barrier.
core::config leaving_together() {
  return core::config{.leave_together = true, .recoverable = true};
}

// Client i joins as task i, incarnation 100 + i; those of `who` are recoverable.
void join_some_as_recoverable(cluster& c, std::uint32_t tasks, std::vector<std::uint32_t> who) {
  for (std::uint32_t i = 0; i < tasks; ++i) {
    bool const is_one = std::find(who.begin(), who.end(), i) != who.end();
    c.join({c.observer("host" + std::to_string(i) + ":1"), i}, 100 + i, 300s,
           {.recoverable = is_one});
  }
  c.replies();
}

std::size_t job_errors(cluster& c, int who) { return c.pushed<job_error>(who).size(); }

BOOST_AUTO_TEST_SUITE(coordinator_recovery_test)

rows const cases{
    {"each_incarnation_states_whether_it_is_recoverable", 1,
     "0 reports boom; observer second; second/0 joins 999 300s not-recoverable; "
     "second reports again; error -> task 0: INTERNAL: again",
     recoverable()},
    {"the_waiting_calls_of_a_failed_recoverable_task_end", 2,
     "at_barrier = 0 barrier b; at_key = 0 get k; at_leave = 0 leaves; ended 0 signal 9; "
     "at_barrier -> INTERNAL; at_barrier ~ task 0 ... failed: ABORTED: signal 9; "
     "at_key at_leave -> CANCELLED INTERNAL; barriers -> 0",
     leaving_together()},
    {"recoverable_task_report_error_reset_and_register_again", 2,
     "0 reports boom; 0/0 barrier b -> FAILED_PRECONDITION; 0/0 resets 100; 0/0 joins 555 -> OK; "
     "round = 0/0 barrier b; 1 barrier b; round -> round 1",
     recoverable()},
    {"reset_connected_but_not_in_error_fails", 2,
     "empty; observer x; 0/0 resets 1 -> FAILED_PRECONDITION; 0/0 joins 1; 0/0 resets 1 -> "
     "FAILED_PRECONDITION; observer x2; x2/1 joins 2; refused = 0/0 resets 1; refused -> "
     "FAILED_PRECONDITION; refused ~ task 0 ... has not failed ... connected; state 0 -> connected",
     recoverable()},
    {"any_session_can_reset_a_failed_incarnation", 2,
     "0 reports boom; 0/0 resets 999 -> ABORTED; state 0 -> failed; 1/0 resets 100 -> OK",
     recoverable()},
    {"reset_must_name_its_task", 2,
     "observer x; x resets 100 -> INVALID_ARGUMENT; 0/2 resets 100 -> INVALID_ARGUMENT",
     recoverable()},
    {"reset_can_be_retried_because_its_reply_is_kept", 2,
     "0 reports boom; deaf 0; reset = 0/0 resets 100; hears 0; blink 0; reset -> OK; "
     "0/0 joins 100 -> OK",
     recoverable()},
    // §2.6, §2.2: a heartbeat belongs to the session, which the failure of its task does not end.
    {"reset_heartbeats_are_accepted_for_a_grace_period_and_beyond", 2,
     "0 reports boom; 0/0 resets 100; at 300s; goodbye 0 -> none; 0 put k v -> OK", recoverable()},
    {"reset_fails_ongoing_barrier_calls_of_its_own_task_when_the_task_fails", 2,
     "own = 0 barrier b for-ever; 0 reports boom; 0/0 resets 100; own -> INTERNAL", recoverable()},
    {"a_round_waits_for_a_failed_recoverable_task_to_return", 3,
     "zero = 0 barrier b; 1 barrier b; ended 2 signal 9; at 100s; zero -> waits; observer fresh; "
     "fresh/2 joins 999; two = fresh barrier b; zero -> round 1; two -> round 1",
     recoverable()},
    {"the_arrival_of_a_suspect_recoverable_task_counts", 2,
     "zero = 0 barrier b; cut 0; 1 barrier b -> round 1; resume 0; zero -> round 1", recoverable()},
    {"the_deadline_of_a_failed_arrival_does_not_end_the_round", 3,
     "patient = 0 barrier b 60s; 1 barrier b 10s; 1 reports boom; at 60s-; patient -> waits; "
     "at 60s; patient -> DEADLINE_EXCEEDED",
     recoverable()},
    {"a_round_is_dropped_when_all_arrived_tasks_failed", 3,
     "0 barrier b; 1 barrier b; 0 reports boom; 1 reports boom; barriers -> 0; two = 2 barrier b; "
     "observer zero; observer one; zero/0 joins 7; one/1 joins 8; zero barrier b; one barrier b; "
     "two -> round 1",
     recoverable()},
    {"a_rejoined_task_gets_the_failure_of_a_round_open_at_its_join", 2,
     "0 barrier b 10s; 1 reports boom; 1/1 joins 999; at 10s; "
     "1/1 barrier b ~ round 1 DEADLINE_EXCEEDED",
     recoverable()},
    // Sharp edge 5: the first call after a rejoin is no special case.
    {"a_rejoined_task_takes_the_round_after_those_that_were_released", 2,
     "0 barrier b; 1 barrier b; 1 reports boom; 1/1 joins 999; fresh = 1/1 barrier b; "
     "fresh -> waits; 0 barrier b; fresh -> round 2",
     recoverable()},
    {"a_round_with_fail_when_lost_cannot_open_with_a_failed_participant", 3,
     "2 reports boom; refused = 0 barrier b 300s fail_when_lost; refused -> INTERNAL; "
     "refused ~ 'b' ... task 2 (host2:1002) failed: INTERNAL: boom; barriers -> 0; "
     "0 barrier b 300s t0 t1 fail_when_lost -> waits; 1 barrier b 300s t0 t1 fail_when_lost; "
     "2/2 joins 999; 0 barrier b 300s fail_when_lost -> waits",
     recoverable()},
    {"a_round_with_fail_when_lost_ignores_other_tasks", 3,
     "pair = 0 barrier b 300s t0 t1 fail_when_lost; 2 reports boom; pair -> waits", recoverable()},
    {"all_callers_of_a_round_must_agree_on_fail_when_lost", 3,
     "zero = 0 barrier b 300s fail_when_lost; one = 1 barrier b; "
     "zero one -> INVALID_ARGUMENT INVALID_ARGUMENT"},
    {"the_leave_is_released_when_the_last_one_missing_fails", 3,
     "zero = 0 leaves; one = 1 leaves; cut 2; at 2s-; zero -> waits; at 2s; zero one -> OK OK",
     leaving_together()},
    {"the_leave_continues_when_an_arrived_task_fails", 3,
     "zero = 0 leaves; one = 1 leaves; ended 1 signal 9; one zero -> INTERNAL waits; 2 leaves; "
     "zero -> OK",
     leaving_together()},
    {"the_leave_waits_for_a_rejoined_task", 3,
     "2 reports boom; zero = 0 leaves; observer fresh; fresh/2 joins 999; 1 leaves; zero -> waits; "
     "fresh leaves; zero -> OK",
     leaving_together()},
    {"the_leave_waits_for_a_reset_task", 2,
     "1 reports boom; 1/1 resets 101; zero = 0 leaves 30s; zero -> waits; done -> no; "
     "1/1 joins 101; 1/1 leaves; zero -> OK",
     leaving_together()},
    {"the_last_task_leaves_at_once_when_all_others_failed", 3,
     "0 reports boom; 1 reports boom; done -> no; 2 leaves -> OK; done -> yes", recoverable()},
    // §1.8.8: the deadline of the leave applies to the missing tasks.
    {"a_leave_timeout_does_not_name_failed_tasks", 3,
     "2 reports boom; zero = 0 leaves 30s; at 30s; zero -> INTERNAL; "
     "error ~ 1 of 3 tasks is missing: 1 (connected",
     leaving_together()},
    // When a session of many tasks ends, each of them fails on its own.
    {"the_end_of_a_session_of_many_recoverable_tasks_does_not_end_the_job", 4,
     "empty; observer host host:1; host/1 joins 1; host/2 joins 2; host/3 joins 3; observer other; "
     "other/0 joins 9; replies; host/1 barrier b; waits = other barrier b; fails_when_lost = other "
     "barrier m 300s fail_when_lost; leaves = other leaves; abandon host; fails_when_lost leaves "
     "-> INTERNAL OK; waits ~ round 1 FAILED_PRECONDITION; error -> none; done -> yes",
     leaving_together()},
    {"a_failed_task_must_arrive_again", 3,
     "zero = 0 barrier b; 1 barrier b; ended 1 signal 9; missing -> 1-2; 2 barrier b; zero -> "
     "waits; observer fresh; fresh/1 joins 999; zero -> waits; fresh barrier b; zero -> round 1",
     recoverable()},
    {"the_leave_does_not_wait_for_a_recoverable_task_that_has_failed", 3,
     "2 reports boom; 0 leaves; missing -> 1; 1 leaves; replies -> 2:OK 0:OK 1:OK; done -> yes; "
     "error -> none",
     leaving_together()},
    {"without_the_join_barrier_a_recoverable_task_rejoins_at_once", 3,
     "empty; observer x; x/0 joins 1; 0 reports boom; observer x2; again = x2/0 joins 2; "
     "again -> OK; again !~ joined a running job",
     config{.join_barrier = false, .recoverable = true}},
};

BOOST_AUTO_TEST_CASE(recoverable_task_will_not_propagate_error) {
  cluster c{2, recoverable()};

  BOOST_TEST(c.code(c.report_error(0, errc::internal, "boom")) == "OK");
  BOOST_TEST(c.state_of(0) == "failed");
  BOOST_TEST(c.look().tasks[0].error.text() == "INTERNAL: boom");
  BOOST_TEST(c.error() == "none");
  BOOST_TEST(job_errors(c, 1) == 0u);
  BOOST_TEST(c.after(c.barrier(1, "b", 300s, {.among = {1}})).replies() == "0:OK 1:OK");
}

BOOST_AUTO_TEST_CASE(recoverable_client_dies_no_error_propagated) {
  cluster c{3, recoverable()};
  c[1].beats = false;
  c[1].deaf = true;

  BOOST_TEST(c.at(200s).state_of(1) == "failed");
  BOOST_TEST(c.error() == "none");
  for (int const other : {0, 2}) BOOST_TEST(job_errors(c, other) == 0u);
}

BOOST_AUTO_TEST_CASE(recoverable_worker_failure_not_propagated_for_any_kind_of_failure) {
  enum class way { grace, silent, abandoned, malformed, reported, ended };
  for (way const w :
       {way::grace, way::silent, way::abandoned, way::malformed, way::reported, way::ended}) {
    BOOST_TEST_CONTEXT("way " << static_cast<int>(w)) {
      cluster c{3, recoverable()};
      auto const waits = c.barrier(0, "b", 600s);
      auto const gets = c.get(0, "k", 600s);
      if (w == way::grace) c.lose(1);
      if (w == way::silent) c[1].beats = false;
      if (w == way::abandoned) c.bye(1, true);
      if (w == way::malformed) c.malformed(1, "noise");
      if (w == way::reported) c.report_error(1, errc::data_loss, "boom");
      if (w == way::ended) c.task_ended(1, {errc::aborted, "signal 9"});

      BOOST_TEST(c.pass(w == way::silent ? 100s : 2s).state_of(1) == "failed");
      BOOST_TEST(c.error() == "none");
      BOOST_TEST(c.code(waits, gets) == "waits waits");
      BOOST_TEST(c.after(c.join({c.observer(), 1}, 999)).state_of(1) == "connected");
      BOOST_TEST(c.look().tasks[1].error.ok());
    }
  }
}

BOOST_AUTO_TEST_CASE(unrecoverable_worker_failure_propagated_also_to_recoverable_tasks) {
  auto c = cluster::without_clients(4);
  join_some_as_recoverable(c, 4, {1, 2, 3});

  c.report_error(0, errc::internal, "boom");

  BOOST_TEST(c.error() == "task 0: INTERNAL: boom");
  for (int i = 0; i < 4; ++i) BOOST_TEST(job_errors(c, i) == 1u);
}

BOOST_AUTO_TEST_CASE(unrecoverable_ps_failure_propagated_is_the_same_for_every_task) {
  for (std::uint32_t failing = 0; failing < 4; ++failing) {
    cluster c{4};

    c.report_error(static_cast<int>(failing), errc::internal, "boom");

    for (int i = 0; i < 4; ++i) BOOST_TEST(job_errors(c, i) == 1u);
  }
}

BOOST_AUTO_TEST_CASE(recoverable_and_non_recoverable_tasks_fail_differently_in_one_job) {
  auto c = cluster::without_clients(3);
  join_some_as_recoverable(c, 3, {1, 2});
  c.report_error(1, errc::internal, "worker");
  for (int i = 0; i < 3; ++i) BOOST_TEST(job_errors(c, i) == 0u);
  c.reset({1, 1}, 101);
  BOOST_TEST(c.code(c.join({1, 1}, 101)) == "OK");

  c.report_error(0, errc::internal, "chief");

  for (int i = 0; i < 3; ++i) BOOST_TEST(job_errors(c, i) == 1u);
  BOOST_TEST(c.error() == "task 0: INTERNAL: chief");
}

BOOST_AUTO_TEST_CASE(a_task_can_opt_out_of_being_recoverable) {
  auto c = cluster::without_clients(2, recoverable());
  c.join({c.observer(), 0}, 1, 300s, {.recoverable = false});
  c.join({c.observer(), 1}, 2);
  BOOST_TEST(!c.look().tasks[0].recoverable);
  BOOST_TEST(c.look().tasks[1].recoverable);

  c.report_error(0, errc::internal, "boom");

  BOOST_TEST(c.error() == "task 0: INTERNAL: boom");
}

BOOST_AUTO_TEST_CASE(after_a_job_error_a_recoverable_task_cannot_join) {
  auto c = cluster::without_clients(3);
  join_some_as_recoverable(c, 3, {1, 2});
  c.report_error(1, errc::internal, "first");
  c.report_error(0, errc::internal, "chief");
  c.report_error(2, errc::internal, "last");

  BOOST_TEST(c.error() == "task 0: INTERNAL: chief; task 2: INTERNAL: last");
  auto const again = c.join({c.observer(), 1}, 999);
  BOOST_TEST(c.code(again) == "ABORTED");
  expect_words(c.text(again), {"the job has failed", "chief"});
  BOOST_TEST(c.code(c.reset({1, 1}, 101)) == "FAILED_PRECONDITION");
}

BOOST_AUTO_TEST_CASE(a_failed_task_is_refused_until_it_rejoins) {
  cluster c{2, recoverable()};
  c.report_error(0, errc::internal, "boom");

  for (auto const& one : {c.barrier({0, 0}, "b"), c.leave({0, 0}), c.get({0, 0}, "k"),
                          c.report_error({0, 0}, errc::internal, "x")}) {
    BOOST_TEST(c.code(one) == "FAILED_PRECONDITION");
    expect_words(c.text(one), {"task 0", "failed: INTERNAL: boom"});
  }
  c.join({c.observer(), 0}, 999);
  for (auto const& one : {c.barrier({0, 0}, "b"), c.leave({0, 0}), c.put({0, 0}, "k", "v")}) {
    BOOST_TEST(c.code(one) == "ABORTED");
  }
}

// §1.4 replaces §1.8.5, which allowed a reconnect only after a heartbeat timeout.
BOOST_AUTO_TEST_CASE(unavailable_task_can_reconnect_as_can_one_with_any_other_error) {
  for (errc const code : {errc::unavailable, errc::internal, errc::data_loss, errc::aborted}) {
    cluster c{2, recoverable()};
    c.report_error(0, code, "boom");

    auto const again = c.join({c.observer("fresh:1"), 0}, 999);

    BOOST_TEST(c.code(again) == "OK");
    BOOST_TEST(c.body<core::join_answer>(again)->already_started);
    BOOST_TEST(c.state_of(0) == "connected");
    BOOST_TEST(c.look().tasks[0].label == "fresh:1");
    BOOST_TEST(c.look().tasks[0].error.ok());
  }
}

BOOST_AUTO_TEST_CASE(the_incarnation_that_failed_is_refused_until_it_is_reset) {
  cluster c{2, recoverable()};
  c.report_error(0, errc::internal, "boom");

  auto const refused = c.join({0, 0}, 100);

  BOOST_TEST(c.code(refused) == "ABORTED");
  expect_words(c.text(refused),
               {"task 0 (host0:1000)", "failed: INTERNAL: boom", "reset", "restart"});
  BOOST_TEST(c.code(c.reset({0, 0}, 100)) == "OK");
  BOOST_TEST(c.state_of(0) == "never connected");
  BOOST_TEST(c.look().tasks[0].error.ok());
  BOOST_TEST(c.look().tasks[0].self.value == 100u);
  BOOST_TEST(c.code(c.join({0, 0}, 100)) == "OK");
  BOOST_TEST(c.state_of(0) == "connected");
}

BOOST_AUTO_TEST_CASE(a_barrier_timeout_names_the_failed_among_the_missing) {
  cluster c{3, recoverable()};
  auto const zero = c.barrier(0, "b", 30s);
  c.report_error(2, errc::internal, "boom");

  BOOST_TEST(c.at(30s - 1ns).code(zero) == "waits");
  BOOST_TEST(c.at(30s).round(zero) == "round 1 DEADLINE_EXCEEDED 1/3 missing 1-2");
  expect_words(c.text(zero), {"Barrier timed out.", "1 (connected", "2 (failed", "host2:1002"});
  auto const& known = c.body<barrier_failure>(zero)->known;
  BOOST_TEST((known.at(1).state == task_state::failed));
}

// §6.1: its call belongs to the earliest round that had not ended when it joined.
BOOST_AUTO_TEST_CASE(a_rejoined_task_gets_no_outcome_from_before_its_failure) {
  for (bool const same_incarnation : {false, true}) {
    cluster c{2, recoverable()};
    c.barrier(0, "b", 1s);
    c.at(1s);
    c.report_error(1, errc::internal, "boom");
    c.barrier(0, "b", 1s);
    c.at(2s);
    if (same_incarnation) c.reset({1, 1}, 101);
    c.join({1, 1}, same_incarnation ? 101 : 999);

    auto const fresh = c.barrier({1, 1}, "b");

    BOOST_TEST(c.code(fresh) == "waits");
    BOOST_TEST(c.after(c.barrier(0, "b")).round(fresh) == "round 3");
  }
}

BOOST_AUTO_TEST_CASE(a_round_with_fail_when_lost_fails_at_once_and_names_the_lost_task) {
  for (bool const had_arrived : {false, true}) {
    cluster c{3, recoverable()};
    auto const zero = c.barrier(0, "b", 300s, {.fail_when_lost = true});
    if (had_arrived) c.barrier(2, "b", 300s, {.fail_when_lost = true});
    auto const other = c.barrier(0, "patient");

    c.report_error(2, errc::internal, "boom");

    BOOST_TEST(c.round(zero) == "round 1 INTERNAL 1/3 missing 1-2");
    expect_words(c.text(zero), {"'b' round 1", "task 2 (host2:1002) failed: INTERNAL: boom"});
    BOOST_TEST((c.body<barrier_failure>(zero)->known.at(1).state == task_state::failed));
    BOOST_TEST(c.code(other) == "waits");
    BOOST_TEST(c.error() == "none");
    BOOST_TEST(
        contains(c.round(c.barrier(1, "b", 300s, {.fail_when_lost = true})), "round 1 INTERNAL"));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
