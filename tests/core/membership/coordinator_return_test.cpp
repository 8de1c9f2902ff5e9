// Recoverable tasks that leave: permanently (finished) or to return. A clean exit fails no other
// task.

#include "tests/core/steps.hpp"

namespace coxswain::test {
namespace {

core::config recoverable() { return {.recoverable = true}; }

BOOST_AUTO_TEST_SUITE(coordinator_return_test)

rows const cases{
    {"a_recoverable_task_leaves_without_waiting_for_others", 3,
     "0 leaves 2s -> OK; state 0 -> left; at 3600s; error -> none; done -> no", recoverable()},
    {"a_later_round_with_a_finished_participant_fails", 2,
     "0 leaves; hopeless = 1 barrier b; hopeless -> FAILED_PRECONDITION; "
     "hopeless ~ 'b' cannot be reached: task 0 has finished",
     recoverable()},
    {"a_finished_task_may_join_again_before_the_job_is_done", 2,
     "0 leaves; observer next; next/0 joins 999 -> OK; waits = 1 barrier b; next barrier b; "
     "waits -> OK; 1 leaves; done -> no; next leaves; done -> yes",
     recoverable()},
    {"recoverable_tasks_leave_together_with_the_shutdown_barrier_on", 2,
     "first = 0 leaves; first -> waits; 1 leaves; first -> OK",
     config{.leave_together = true, .recoverable = true}},
    {"one_task_that_is_not_recoverable_brings_the_shutdown_barrier_back", 2,
     "empty; observer strict; observer other; strict/0 joins 1 300s not-recoverable; "
     "other/1 joins 2; waits = other leaves; waits -> waits; strict leaves; waits -> OK",
     recoverable()},
    {"a_task_has_the_coordinators_default_until_it_joins", 2,
     "empty; observer first; first/0 joins 1 300s recoverable; waits = first leaves; "
     "waits -> waits; observer x; x/1 joins 2 300s recoverable; waits -> OK; "
     "log ~ all tasks are recoverable: they leave without waiting for each other",
     config{.join_barrier = false}},
    {"rounds_wait_for_the_next_process_of_a_task_that_left_to_return", 2,
     "waits = 1 barrier b for-ever; 0 leaves returning 300s -> OK; state 0 -> returning; "
     "waits -> waits; at 540s; observer next; next/0 joins 999 -> OK; next barrier b; waits -> OK; "
     "error -> none",
     recoverable()},
    {"a_round_waiting_for_a_returning_task_times_out_and_names_it", 2,
     "0 leaves returning 300s; waits = 1 barrier b 30s; at 30s-; waits -> waits; at 30s; "
     "waits -> DEADLINE_EXCEEDED; waits ~ 1 of 2 tasks is missing: 0 (returning",
     recoverable()},
    {"the_next_process_disarms_the_return_timeout", 2,
     "0 leaves returning 300s; at 5s-; observer x; x/0 joins 999; at 3600s; state 0 -> connected",
     config{.return_timeout = 5s, .recoverable = true}},
    {"the_job_is_not_done_while_a_task_is_returning", 2,
     "0 leaves returning 300s; 1 leaves; done -> no; at 600s; done -> yes", recoverable()},
    {"a_task_that_is_not_recoverable_cannot_leave_to_return", 2,
     "refused = 0 leaves returning 300s; refused -> INVALID_ARGUMENT; "
     "refused ~ task 0 (host0:1000) did not join as a recoverable task; state 0 -> connected"},
    {"when_the_job_fails_a_returning_task_has_left", 2,
     "empty; observer one; observer two; one/0 joins 1; two/1 joins 2 300s not-recoverable; "
     "one leaves returning 300s; two reports boom; state 0 -> left; done -> yes; at 3600s; "
     "state 0 -> left",
     recoverable()},
    {"after_a_job_error_no_task_returns", 2,
     "empty; observer one; observer two; one/0 joins 1; two/1 joins 2 300s not-recoverable; "
     "two reports boom; one leaves returning 300s -> FAILED_PRECONDITION; state 0 -> left",
     recoverable()},
    {"a_stop_while_a_task_is_returning_leaves_no_deadline", 1,
     "0 leaves returning 300s; stop; state 0 -> left", recoverable()},
    {"leaving_to_return_cancels_waiting_calls_and_removes_the_arrival", 3,
     "own = 0 barrier b for-ever; other = 1 barrier b for-ever; got = 0 get k; 0 leaves returning "
     "300s; own -> CANCELLED; own ~ task 0 (host0:1000) has left and is expected back; got -> "
     "CANCELLED; 2 barrier b for-ever; other -> waits; arrived -> 2",
     recoverable()},
    {"a_returning_task_fails_at_its_deadline", 2,
     "0 leaves returning 300s; waits = 1 barrier b for-ever; at 600s-; state 0 -> returning; at "
     "600s; state 0 -> failed; task-error 0 -> DEADLINE_EXCEEDED: task 0 (host0:1000) left to "
     "return, but did not join again within the return timeout of 10 min; error -> none; waits -> "
     "waits; observer x; x/0 joins 999 -> OK",
     recoverable()},
};

BOOST_AUTO_TEST_CASE(a_round_with_a_finished_participant_fails_without_a_job_error) {
  for (duration const timeout : {0s, 2s, 300s}) {
    cluster c{4, recoverable()};
    auto const all = c.barrier(1, "all", without_limit);
    auto const others = c.barrier(2, "others", without_limit, {.among = {1, 2}});

    BOOST_TEST(c.after(c.leave(3, timeout)).code(all) == "FAILED_PRECONDITION");
    expect_words(c.text(all), {"Barrier 'all' round 1 failed: task 3 has finished; 1 of 4"});
    BOOST_TEST(c.code(others) == "waits");
    BOOST_TEST(c.error() == "none");
    for (int i = 0; i < 3; ++i) BOOST_TEST(c.pushed<job_error>(i).empty());
  }
}

BOOST_AUTO_TEST_CASE(a_topology_exchange_with_a_finished_task_fails) {
  cluster c{3, recoverable()};
  auto const open = c.exchange(0, "cpu", {});
  c.leave(2);
  auto const later = c.exchange(1, "gpu", {});

  BOOST_TEST(c.code(open) == "FAILED_PRECONDITION");
  expect_words(c.text(open), {"task 2 has finished"});
  BOOST_TEST(c.code(later) == "FAILED_PRECONDITION");
}

BOOST_AUTO_TEST_CASE(a_returning_task_is_shown_with_its_deadline) {
  auto shown = [](cluster& c) { return c.look().tasks[0].returns_by; };
  cluster c{2, {.started = {1'000'000, 3600}, .return_timeout = 10min, .recoverable = true}};
  BOOST_TEST(!shown(c));
  c.at(1s);

  c.leave(0, 300s, true);

  BOOST_TEST((shown(c) == wall_time{1'601'000, 3600}));
  BOOST_TEST(!c.look().tasks[1].returns_by);
  c.join({c.observer(), 0}, 999);
  BOOST_TEST(!shown(c));

  cluster patient{1, {.return_timeout = without_limit, .recoverable = true}};
  patient.leave(0, 300s, true);
  BOOST_TEST(patient.state_of(0) == "returning");
  BOOST_TEST(!shown(patient));
}

BOOST_AUTO_TEST_CASE(a_round_with_fail_when_lost_fails_when_a_task_leaves_to_return) {
  cluster c{2, recoverable()};
  auto const fails_when_lost = c.barrier(1, "b", without_limit, {.fail_when_lost = true});

  c.leave(0, 300s, true);
  auto const later = c.barrier(1, "later", without_limit, {.fail_when_lost = true});

  for (auto const one : {fails_when_lost, later}) {
    BOOST_TEST(c.code(one) == "INTERNAL");
    expect_words(c.text(one), {"task 0 (host0:1000) has left and is expected back"});
  }
}

BOOST_AUTO_TEST_CASE(the_shutdown_barrier_waits_for_a_returning_task_until_it_fails) {
  for (bool const comes : {true, false}) {
    cluster c{2, {.leave_together = true, .recoverable = true}};
    c.leave(0, 300s, true);
    auto const waits = c.leave(1, without_limit);
    BOOST_TEST(c.code(waits) == "waits");
    int const next = comes ? c.observer() : 0;
    if (comes) c.join({next, 0}, 999);
    if (comes) c.leave(next);
    if (!comes) c.at(10min);

    BOOST_TEST(c.code(waits) == "OK");
    BOOST_TEST(c.logic().done());
  }
}

BOOST_AUTO_TEST_CASE(a_returning_task_loses_its_keys_and_alive_queries_skip_it) {
  cluster c{2, recoverable()};
  c.put_owned(0, "k", "v");
  auto const query = c.send(1, core::alive_args{{}, 300s}, 300s);
  BOOST_TEST(c.code(query) == "waits");

  BOOST_TEST(c.after(c.leave(0, 300s, true)).code(query) == "OK");
  BOOST_TEST(c.code(c.try_get(1, "k")) == "NOT_FOUND");
}

BOOST_AUTO_TEST_CASE(a_returning_task_is_not_stuck_and_cannot_be_preempted) {
  cluster c{2, recoverable()};
  c.leave(0, 300s, true);
  c.barrier(1, "b", without_limit);
  BOOST_TEST(c.at(5min).look().stuck_tasks == 0u);

  BOOST_TEST(c.code(c.preempt(c.observer(), 0)) == "FAILED_PRECONDITION");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
