// Recoverable tasks that leave: permanently (finished) or to return. A clean exit fails no other
// task.

#include "tests/core/cluster.hpp"

namespace coxswain::test {
namespace {

core::config recoverable() { return {.recoverable = true}; }

BOOST_AUTO_TEST_SUITE(coordinator_return_test)

BOOST_AUTO_TEST_CASE(a_recoverable_task_leaves_without_waiting_for_others) {
  cluster c{3, recoverable()};

  BOOST_TEST(c.code(c.leave(0, 2s)) == "OK");
  BOOST_TEST(c.state_of(0) == "left");

  BOOST_TEST(c.at(1h).error() == "none");
  BOOST_TEST(!c.logic().done());
}

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

BOOST_AUTO_TEST_CASE(a_later_round_with_a_finished_participant_fails) {
  cluster c{2, recoverable()};
  c.leave(0);

  auto const hopeless = c.barrier(1, "b");

  BOOST_TEST(c.code(hopeless) == "FAILED_PRECONDITION");
  expect_words(c.text(hopeless), {"'b' cannot be reached: task 0 has finished"});
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

BOOST_AUTO_TEST_CASE(a_finished_task_may_join_again_before_the_job_is_done) {
  cluster c{2, recoverable()};
  c.leave(0);
  int const next = c.observer();

  BOOST_TEST(c.code(c.join({next, 0}, 999)) == "OK");
  auto const waits = c.barrier(1, "b");
  BOOST_TEST(c.after(c.barrier(next, "b")).code(waits) == "OK");

  c.leave(1);
  BOOST_TEST(!c.logic().done());
  BOOST_TEST(c.after(c.leave(next)).logic().done());
}

BOOST_AUTO_TEST_CASE(recoverable_tasks_leave_together_with_the_shutdown_barrier_on) {
  cluster c{2, {.leave_together = true, .recoverable = true}};
  auto const first = c.leave(0);
  BOOST_TEST(c.code(first) == "waits");
  BOOST_TEST(c.after(c.leave(1)).code(first) == "OK");
}

BOOST_AUTO_TEST_CASE(one_task_that_is_not_recoverable_brings_the_shutdown_barrier_back) {
  auto c = cluster::without_clients(2, recoverable());
  int const strict = c.observer();
  int const other = c.observer();
  c.join({strict, 0}, 1, 300s, {.recoverable = false});
  c.join({other, 1}, 2);

  auto const waits = c.leave(other);
  BOOST_TEST(c.code(waits) == "waits");
  BOOST_TEST(c.after(c.leave(strict)).code(waits) == "OK");
}

BOOST_AUTO_TEST_CASE(a_task_has_the_coordinators_default_until_it_joins) {
  auto c = cluster::without_clients(2, {.join_barrier = false});
  int const first = c.observer();
  c.join({first, 0}, 1, 300s, {.recoverable = true});
  auto const waits = c.leave(first);
  BOOST_TEST(c.code(waits) == "waits");

  c.join({c.observer(), 1}, 2, 300s, {.recoverable = true});

  BOOST_TEST(c.code(waits) == "OK");
  expect_words(c.log(), {"all tasks are recoverable: they leave without waiting for each other"});
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

BOOST_AUTO_TEST_CASE(rounds_wait_for_the_next_process_of_a_task_that_left_to_return) {
  cluster c{2, recoverable()};
  auto const waits = c.barrier(1, "b", without_limit);

  BOOST_TEST(c.code(c.leave(0, 300s, true)) == "OK");
  BOOST_TEST(c.state_of(0) == "returning");
  BOOST_TEST(c.code(waits) == "waits");
  c.at(9min);
  int const next = c.observer();
  BOOST_TEST(c.code(c.join({next, 0}, 999)) == "OK");
  BOOST_TEST(c.after(c.barrier(next, "b")).code(waits) == "OK");
  BOOST_TEST(c.error() == "none");
}

BOOST_AUTO_TEST_CASE(leaving_to_return_cancels_waiting_calls_and_removes_the_arrival) {
  cluster c{3, recoverable()};
  auto const own = c.barrier(0, "b", without_limit);
  auto const other = c.barrier(1, "b", without_limit);
  auto const got = c.get(0, "k");

  BOOST_TEST(c.after(c.leave(0, 300s, true)).code(own) == "CANCELLED");
  expect_words(c.text(own), {"task 0 (host0:1000) has left and is expected back"});
  BOOST_TEST(c.code(got) == "CANCELLED");

  BOOST_TEST(c.after(c.barrier(2, "b", without_limit)).code(other) == "waits");
  BOOST_TEST(c.look().barriers.at(0).arrived == 2u);
}

BOOST_AUTO_TEST_CASE(a_round_waiting_for_a_returning_task_times_out_and_names_it) {
  cluster c{2, recoverable()};
  c.leave(0, 300s, true);
  auto const waits = c.barrier(1, "b", 30s);

  BOOST_TEST(c.at(30s - 1ns).code(waits) == "waits");
  BOOST_TEST(c.at(30s).code(waits) == "DEADLINE_EXCEEDED");
  expect_words(c.text(waits), {"1 of 2 tasks is missing: 0 (returning"});
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

BOOST_AUTO_TEST_CASE(a_returning_task_fails_at_its_deadline) {
  cluster c{2, recoverable()};
  c.leave(0, 300s, true);
  auto const waits = c.barrier(1, "b", without_limit);

  BOOST_TEST(c.at(10min - 1ns).state_of(0) == "returning");
  BOOST_TEST(c.at(10min).state_of(0) == "failed");
  BOOST_TEST(c.look().tasks[0].error.text() ==
             "DEADLINE_EXCEEDED: task 0 (host0:1000) left to return, but did not join again within "
             "the return timeout of 10 min");
  BOOST_TEST(c.error() == "none");
  BOOST_TEST(c.code(waits) == "waits");
  BOOST_TEST(c.code(c.join({c.observer(), 0}, 999)) == "OK");
}

BOOST_AUTO_TEST_CASE(the_next_process_disarms_the_return_timeout) {
  cluster c{2, {.return_timeout = 5s, .recoverable = true}};
  c.leave(0, 300s, true);
  c.at(5s - 1ns);
  c.join({c.observer(), 0}, 999);

  BOOST_TEST(c.at(1h).state_of(0) == "connected");
}

BOOST_AUTO_TEST_CASE(the_job_is_not_done_while_a_task_is_returning) {
  cluster c{2, recoverable()};
  c.leave(0, 300s, true);
  c.leave(1);
  BOOST_TEST(!c.logic().done());

  BOOST_TEST(c.at(10min).logic().done());
}

BOOST_FIXTURE_TEST_CASE(a_task_that_is_not_recoverable_cannot_leave_to_return, job<2>) {
  auto const refused = c.leave(0, 300s, true);

  BOOST_TEST(c.code(refused) == "INVALID_ARGUMENT");
  expect_words(c.text(refused), {"task 0 (host0:1000) did not join as a recoverable task"});
  BOOST_TEST(c.state_of(0) == "connected");
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

BOOST_AUTO_TEST_CASE(when_the_job_fails_a_returning_task_has_left) {
  auto c = cluster::without_clients(2, recoverable());
  int const one = c.observer();
  int const two = c.observer();
  c.join({one, 0}, 1);
  c.join({two, 1}, 2, 300s, {.recoverable = false});
  c.leave(one, 300s, true);

  BOOST_TEST(c.after(c.report_error(two, errc::internal, "boom")).state_of(0) == "left");
  BOOST_TEST(c.logic().done());
  BOOST_TEST(c.at(1h).state_of(0) == "left");
}

BOOST_AUTO_TEST_CASE(after_a_job_error_no_task_returns) {
  auto c = cluster::without_clients(2, recoverable());
  int const one = c.observer();
  int const two = c.observer();
  c.join({one, 0}, 1);
  c.join({two, 1}, 2, 300s, {.recoverable = false});
  c.report_error(two, errc::internal, "boom");

  BOOST_TEST(c.code(c.leave(one, 300s, true)) == "FAILED_PRECONDITION");
  BOOST_TEST(c.state_of(0) == "left");
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

BOOST_AUTO_TEST_CASE(a_stop_while_a_task_is_returning_leaves_no_deadline) {
  cluster c{1, recoverable()};
  c.leave(0, 300s, true);

  BOOST_TEST(c.stop().state_of(0) == "left");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
