// Watching the tasks (§12.1, §12.7.4 and §12.7.5).

#include "tests/core/steps.hpp"

namespace coxswain::test {
namespace {

call watch(cluster& c, caller who, std::optional<std::uint64_t> after = {},
           duration timeout = without_limit) {
  return c.send(who, core::watch_tasks_args{after, timeout}, timeout);
}

std::uint64_t version(cluster const& c, call of) {
  auto const* const a = c.body<core::tasks_answer>(of);
  BOOST_TEST_REQUIRE(a != nullptr, "no snapshot but " << c.code(of));
  return a->version;
}

std::uint64_t version_now(cluster& c, caller who) { return version(c, watch(c, who)); }

core::config loose() { return core::config{.join_barrier = false, .leave_barrier = false}; }

BOOST_AUTO_TEST_SUITE(coordinator_watch_test)

rows const cases{
    {"watch_tasks_returns_disconnected_as_left_with_the_old_incarnation", 2,
     "seen = 0 watch-tasks now; 1 leaves; seen -> 100 connected, 101 left", loose()},
    {"watch_tasks_returns_new_incarnation", 2,
     "1 leaves; seen = 0 watch-tasks now; observer again; again/1 joins 102; "
     "seen -> 100 connected, 102 connected",
     loose()},
    {"watch_job_state_returns_new_incarnation_of_a_task_that_was_reset", 2,
     "1 reports boom; 1/1 resets 101; seen = 0 watch-tasks now; observer x; x/1 joins 102; "
     "seen -> 100 connected, 102 connected",
     config{.recoverable = true}},
    {"watches_continue_after_a_job_error", 3,
     "1 reports boom; seen = 0 watch-tasks now; seen -> waits; 2 reports boom; "
     "seen -> 100 connected, 101 failed, 102 failed"},
    {"a_stop_ends_watches_unavailable", 1,
     "observer o; seen = o watch-tasks now; stop maintenance; seen -> UNAVAILABLE; "
     "seen ~ maintenance"},
    {"a_watch_with_a_lost_answer_is_answered_again_after_a_resume", 2,
     "seen = 0 watch-tasks now; deaf 0; cut 1; at 1s; hears 0; resume 1; blink 0; "
     "seen -> 100 connected, 101 connected"},
};

BOOST_FIXTURE_TEST_CASE(watch_tasks_succeeds_at_once_without_a_version, job<2>) {
  auto const seen = watch(c, 0);

  BOOST_TEST(c.tasks(seen) == "100 connected, 101 connected");
  auto const* const a = c.body<core::tasks_answer>(seen);
  BOOST_TEST((a->tasks[1].id == task_id{1}));
  BOOST_TEST(a->tasks[1].label == "host1:1001");
  BOOST_TEST(a->tasks[1].peer == "10.0.0.1:5000");
  BOOST_TEST(!a->tasks[1].last_heard.has_value());
}

// Also if it waits: its reply is made without another request.
BOOST_FIXTURE_TEST_CASE(each_watch_of_tasks_costs_steps_for_all_tasks, job<40>) {
  auto const steps = [&] { return c.logic().counts().steps; };
  auto const before = steps();
  auto const now = c.send(0, core::watch_tasks_args{});
  BOOST_TEST(steps() == before + 10);

  auto const version = c.body<core::tasks_answer>(now)->version;
  c.send(0, core::watch_tasks_args{version}, without_limit);
  BOOST_TEST(steps() == before + 20);
}

BOOST_AUTO_TEST_CASE(a_snapshot_marks_recoverable_tasks) {
  cluster c{2, loose()};
  c.leave(1);
  c.join({1, 1}, 200, 300s, {.recoverable = true});

  auto const seen = watch(c, 0);

  auto const* const a = c.body<core::tasks_answer>(seen);
  BOOST_TEST(!a->tasks[0].recoverable);
  BOOST_TEST(a->tasks[1].recoverable);
}

BOOST_AUTO_TEST_CASE(watch_job_state_succeeds_for_an_observer_and_before_any_task_joined) {
  auto c = cluster::without_clients(2);
  int const o = c.observer();

  auto const seen = watch(c, o);

  BOOST_TEST(c.tasks(seen) == "0 never connected, 0 never connected");
  BOOST_TEST(version(c, seen) == 0u);
}

BOOST_AUTO_TEST_CASE(
    watch_job_state_returns_disconnected_as_never_connected_after_a_reset_with_its_incarnation) {
  cluster c{2, {.recoverable = true}};
  c.report_error(1, errc::internal, "boom");
  auto const seen = watch(c, 0, version_now(c, 0));

  c.reset({1, 1}, 101);

  BOOST_TEST(c.tasks(seen) == "100 connected, 101 never connected");
  BOOST_TEST(c.body<core::tasks_answer>(seen)->tasks[1].error.ok());
}

BOOST_FIXTURE_TEST_CASE(a_watch_of_the_current_version_waits_for_the_next_change, job<2>) {
  auto const v = version_now(c, 0);
  auto const seen = watch(c, 0, v);
  BOOST_TEST(c.at(1h).code(seen) == "waits");

  BOOST_TEST(c.lose(1).tasks(seen) == "100 connected, 101 suspect");
  BOOST_TEST(version(c, seen) > v);
}

BOOST_FIXTURE_TEST_CASE(an_older_version_returns_at_once_and_a_newer_one_is_refused, job<2>) {
  auto const v = version_now(c, 0);

  BOOST_TEST(version(c, watch(c, 0, v - 1)) == v);
  BOOST_TEST(version(c, watch(c, 0, 0)) == v);
  auto const future = watch(c, 0, v + 1);
  BOOST_TEST(c.code(future) == "INVALID_ARGUMENT");
  expect_words(c.text(future), {"version " + std::to_string(v + 1), "at " + std::to_string(v)});
  BOOST_TEST(c.code(watch(c, 0, UINT64_MAX)) == "INVALID_ARGUMENT");
}

BOOST_FIXTURE_TEST_CASE(every_task_change_has_its_own_version, job<2>) {
  auto v = version_now(c, 0);
  auto const rises = [&] { return version_now(c, 0) > std::exchange(v, version_now(c, 0)); };
  BOOST_TEST(!rises());

  c.lose(1);
  BOOST_TEST(rises());
  c.resume(1);
  BOOST_TEST(rises());
  int const other = c.observer();
  BOOST_TEST(!rises());
  c.join({other, 1}, 101);  // the same process with another session
  BOOST_TEST(rises());
  c.join({other, 1}, 101);
  BOOST_TEST(!rises());
  c.barrier(0, "b", 1s);
  c.at(20s);
  BOOST_TEST(!rises());
  c.report_error({other, 1}, errc::internal, "boom");
  BOOST_TEST(rises());
}

BOOST_FIXTURE_TEST_CASE(a_watch_shows_the_progress_of_the_join, empty_job<2>) {
  int const a = c.observer();
  int const b = c.observer();
  int const o = c.observer();
  auto const v = version_now(c, o);
  BOOST_TEST(v == 0u);
  auto const seen = watch(c, o, v);
  auto const joining = c.join({a, 0}, 7);
  BOOST_TEST(c.tasks(seen) == "7 joining, 0 never connected");

  auto const next = watch(c, o, version(c, seen));
  BOOST_TEST(c.cancel(joining).tasks(next) == "7 never connected, 0 never connected");

  c.join({a, 0}, 7);
  auto const last = watch(c, o, version_now(c, o));
  c.join({b, 1}, 8);
  BOOST_TEST(c.tasks(last) == "7 connected, 8 connected");
}

BOOST_FIXTURE_TEST_CASE(watchers_share_one_snapshot, job<3>) {
  c.keep_coordinator();
  auto const v = version_now(c, 0);
  auto const one = watch(c, 0, v);
  auto const two = watch(c, 1, v);

  c.lose(2);

  auto const three = watch(c, 0);
  BOOST_TEST((c.answer_to(one) == c.answer_to(two)));
  BOOST_TEST((c.answer_to(one) == c.answer_to(three)));
}

BOOST_AUTO_TEST_CASE(a_watch_expiring_in_the_iteration_of_a_failure_shows_it) {
  cluster c{2, {.reconnect_grace = 5s}};
  c.lose(1);
  auto const seen = watch(c, 0, version_now(c, 0), 5s);

  BOOST_TEST(c.at(5s).tasks(seen) == "100 connected, 101 failed");
}

BOOST_FIXTURE_TEST_CASE(the_snapshot_of_a_failure_has_its_error, job<2>) {
  auto const seen = watch(c, 0, version_now(c, 0));

  c.report_error(1, errc::data_loss, "bad disk");

  BOOST_TEST(c.tasks(seen) == "100 connected, 101 failed");
  BOOST_TEST(c.body<core::tasks_answer>(seen)->tasks[1].error.text() == "DATA_LOSS: bad disk");
}

BOOST_AUTO_TEST_CASE(a_watch_of_a_leaving_task_continues) {
  cluster c{2, loose()};
  auto const v = version_now(c, 1);
  c.leave(1);
  auto const seen = watch(c, 1, v);
  BOOST_TEST(c.tasks(seen) == "100 connected, 101 left");
  auto const next = watch(c, 1, version(c, seen));

  c.leave(0);

  BOOST_TEST(c.tasks(next) == "100 left, 101 left");
}

BOOST_AUTO_TEST_CASE(a_watch_without_a_change_is_answered_at_its_deadline_with_the_same_version) {
  cluster c{1};
  auto const v = version_now(c, 0);
  auto const seen = watch(c, 0, v, 5s);
  BOOST_TEST(c.at(5s - 1ns).code(seen) == "waits");

  BOOST_TEST(c.at(5s).code(seen) == "OK");
  BOOST_TEST(version(c, seen) == v);
  auto const now = watch(c, 0, v, 0s);
  BOOST_TEST(version(c.pass(0s), now) == v);
}

BOOST_FIXTURE_TEST_CASE(a_deadline_in_the_same_iteration_as_a_change_shows_the_change, job<2>) {
  auto const v = version_now(c, 0);
  c.lose(1);
  auto const seen = watch(c, 0, v + 1, 2s);  // at the end of task 1's grace

  BOOST_TEST(c.at(2s).tasks(seen) == "100 connected, 101 failed");
}

BOOST_FIXTURE_TEST_CASE(a_cancelled_watch_leaves_nothing, job<2>) {
  c.heartbeat(0);
  auto const version = version_now(c, 0);
  auto const before = c.look().memory_bytes;
  BOOST_TEST(c.cancel(watch(c, 0, version)).look().memory_bytes == before);
  BOOST_TEST(c.lose(1).replies() == "0:OK");
}

BOOST_FIXTURE_TEST_CASE(a_watcher_sees_every_version_in_order, job<4>) {
  std::uint64_t last = version_now(c, 0);
  std::string seen;
  auto waiting = watch(c, 0, last);
  for (int const who : {1, 2, 3}) {
    c.lose(who);
    BOOST_TEST_REQUIRE(version(c, waiting) > last);
    last = version(c, waiting);
    seen += c.tasks(waiting) + "\n";
    waiting = watch(c, 0, last);
  }

  BOOST_TEST(seen ==
             "100 connected, 101 suspect, 102 connected, 103 connected\n"
             "100 connected, 101 suspect, 102 suspect, 103 connected\n"
             "100 connected, 101 suspect, 102 suspect, 103 suspect\n");
}

BOOST_AUTO_TEST_CASE(a_watch_without_memory_is_refused) {
  cluster c{1, {.memory_bytes_max = 12'000}};
  auto const v = version_now(c, 0);
  c.put(0, "k", std::string(4'000, 'v'));

  BOOST_TEST(c.code(watch(c, 0, v)) == "RESOURCE_EXHAUSTED");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
