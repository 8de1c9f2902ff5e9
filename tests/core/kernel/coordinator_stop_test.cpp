// An orderly stop: §12.1's codes, §2.6.

#include "tests/core/steps.hpp"

namespace coxswain::test {
namespace {

BOOST_AUTO_TEST_SUITE(coordinator_stop_test)

rows const cases{
    {"barrier_fails_if_service_has_stopped_and_barrier_with_subset_fails_if_service_has_stopped", 3,
     "all = 0 barrier all; some = 1 barrier some 300s t1 t2; stop maintenance; all -> ABORTED; "
     "some -> ABORTED; barriers -> 0"},
    // Upstream's service stops at the first error; Coxswain continues and reports it.
    {"barrier_with_non_participating_task_fails_if_service_has_stopped_like_all_others", 2,
     "0 barrier b 300s t1 -> INVALID_ARGUMENT; 1 reports boom; late = 0 barrier b 300s t1; "
     "late -> FAILED_PRECONDITION; late ~ boom"},
    {"callbacks_called_on_destruction_with_cancelled", 1,
     "get = 0 get k for-ever; stop; get -> CANCELLED"},
    {"a_waiting_join_ends_aborted", 2,
     "empty; observer x; join = 0/0 joins 1; stop; join -> ABORTED"},
    {"a_second_stop_changes_nothing", 1, "stop first; log; stop second; log ->; goodbye 0 ~ first"},
    {"a_stop_after_a_job_error_reports_the_stop", 2,
     "0 reports boom; stop end; goodbye 1 ~ UNAVAILABLE: the coordinator is stopping: end; "
     "error -> task 0: INTERNAL: boom"},
    {"a_stop_completes_waiting_leaves_and_fails_no_task", 2,
     "0 leaves; stop; state 0 -> left; state 1 -> connected"},
    {"a_stop_ends_the_open_calls_of_a_suspect_session", 2,
     "0 barrier b; cut 0; stop; sessions -> 0; barriers -> 0"},
};

BOOST_AUTO_TEST_CASE(
    error_polling_requests_got_cancelled_error_upon_service_shutdown_is_a_goodbye) {
  cluster c{2};
  int const o = c.observer();

  c.stop("maintenance");

  for (int const who : {0, 1, o}) {
    expect_words(c.goodbye(who), {"UNAVAILABLE: the coordinator is stopping: maintenance"});
    BOOST_TEST(!c[who].goodbye->may_resume);
    BOOST_TEST(c.pushed<job_error>(who).empty());
  }
  BOOST_TEST(c.error() == "none");
  BOOST_TEST(c.look().sessions == 0u);
}

BOOST_AUTO_TEST_CASE(at_stop_barriers_end_aborted_and_gets_cancelled_before_the_goodbye) {
  cluster c{3};
  auto const barrier = c.barrier(0, "b");
  auto const leave = c.leave(1);
  auto const get = c.get(2, "k");
  int const o = c.observer();
  auto const count = c.count_barrier(o, "n", 2);
  auto const observed = c.get(o, "k");

  BOOST_TEST(c.stop("maintenance").code(barrier, leave, get) == "ABORTED ABORTED CANCELLED");
  BOOST_TEST(c.code(count, observed) == "ABORTED CANCELLED");
  for (auto const& one : {barrier, leave, get, count, observed}) {
    expect_words(c.text(one), {"the coordinator is stopping: maintenance"});
  }
}

BOOST_FIXTURE_TEST_CASE(connections_without_a_session_get_a_goodbye_too, job<1>) {
  auto const bare = c.dial();

  expect_words(c.stop().goodbye_to(bare), {"UNAVAILABLE: the coordinator is stopping"});
}

BOOST_FIXTURE_TEST_CASE(connections_after_the_stop_are_refused, job<1>) {
  auto const args = c.resume_of(0);
  c.stop();
  auto const late = c.dial();
  expect_words(c.goodbye_to(late), {"UNAVAILABLE: the coordinator is stopping"});

  int const who = c.hello({});

  expect_words(c.goodbye(who), {"UNAVAILABLE"});
  static_cast<void>(args);
}

BOOST_FIXTURE_TEST_CASE(after_a_stop_nothing_fails_and_no_deadline_is_armed, job<3>) {
  c.lose(0);
  c.barrier(1, "b", 5s, {.progress_every = 1s});
  c[2].beats = false;
  c.join({c.observer(), 2}, 999);
  c.dial();
  c.stop();
  BOOST_TEST(!c.logic().next_deadline().has_value());

  BOOST_TEST(c.at(1h).task_ended(1, {errc::unavailable, "killed by signal 15"}).error() == "none");
}

BOOST_FIXTURE_TEST_CASE(a_stop_without_sessions_is_quiet, empty_job<4>) {
  c.stop();

  BOOST_TEST(!c.logic().done());
  BOOST_TEST(c.logic().drained());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
