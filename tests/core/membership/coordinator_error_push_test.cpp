// A job error is pushed to every session, whatever its part in the job. Nothing is polled
// (§5.1), while upstream has rules for who may poll (§5.2.1 and §5.2.2).

#include "tests/core/cluster.hpp"

namespace coxswain::test {
namespace {

// The job error pushed to a client since the last look: "none", or the last cause, such as "task 1
// INTERNAL".
std::string pushed_error(cluster& c, int who) {
  auto const errors = c.pushed<job_error>(who);
  if (errors.empty()) return "none";
  failure const& cause = errors.back().cause;
  return "task " + std::to_string(cause.task->value) + ' ' + std::string{name(cause.why.code())};
}

core::config recoverable() { return core::config{.recoverable = true}; }

BOOST_AUTO_TEST_SUITE(coordinator_error_push_test)

BOOST_AUTO_TEST_CASE(missed_heartbeat_callback_is_executed_if_any_client_goes_away_in_any_way) {
  enum class way { silent, closed, unreachable, abandoned, malformed, ended };
  for (way const w :
       {way::silent, way::closed, way::unreachable, way::abandoned, way::malformed, way::ended}) {
    BOOST_TEST_CONTEXT("way " << static_cast<int>(w)) {
      cluster c{3};
      switch (w) {
        case way::silent: c[0].beats = false; break;
        case way::closed: c.lose(0); break;
        case way::unreachable: c.lose(0, core::loss::unreachable); break;
        case way::abandoned: c.bye(0, true); break;
        case way::malformed: c.malformed(0, "noise"); break;
        case way::ended: c.task_ended(0, {errc::internal, "killed"}); break;
      }

      c.at(100s);

      for (int const who : {1, 2}) {
        auto const errors = c.pushed<job_error>(who);
        BOOST_TEST_REQUIRE(errors.size() == 1u);
        BOOST_TEST((errors[0].cause.task == task_id{0}));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(
    clients_receive_missed_heartbeat_if_any_client_goes_away_without_error_polling) {
  cluster c{3};
  c[0].beats = false;

  c.at(100s - 1ns);
  BOOST_TEST(pushed_error(c, 1) == "none");
  c.at(100s);

  BOOST_TEST(pushed_error(c, 1) == "task 0 UNAVAILABLE");
  BOOST_TEST(pushed_error(c, 2) == "task 0 UNAVAILABLE");
  BOOST_TEST(c.state_of(1) == "connected");
  c.at(1h);
  BOOST_TEST(pushed_error(c, 1) == "none");
}

BOOST_AUTO_TEST_CASE(leaving_a_short_outage_or_lateness_is_not_pushed) {
  cluster c{3, {.leave_barrier = false}};
  c.leave(2);
  c.bye(2).lose(1).pass(2s - 1ns);
  c.resume(1);
  c[0].beats = false;
  c.pass(97s).heard(0).pass(99s);

  for (int const who : {0, 1}) BOOST_TEST(pushed_error(c, who) == "none");
  c.heard(0);
}

BOOST_AUTO_TEST_CASE(do_not_allow_poll_for_error_if_task_not_registered_gets_it) {
  auto c = cluster::without_clients(2, {.join_barrier = false});
  int const a = c.observer();
  int const b = c.observer();
  c.join({a, 0}, 1);

  c.report_error({a, 0}, errc::data_loss, "bad disk");

  BOOST_TEST(pushed_error(c, b) == "task 0 DATA_LOSS");
  BOOST_TEST(c.code(c.join({b, 1}, 2)) == "ABORTED");
}

BOOST_AUTO_TEST_CASE(do_not_allow_poll_for_error_if_task_has_shut_down_gets_it_at_any_time) {
  cluster c{2, {.leave_barrier = false}};
  c.leave(1);
  c.pass(200s);

  c.report_error(0, errc::internal, "boom");

  BOOST_TEST(pushed_error(c, 1) == "task 0 INTERNAL");
  BOOST_TEST(c.state_of(1) == "left");
}

BOOST_AUTO_TEST_CASE(do_not_allow_poll_for_error_after_reset_gets_errors_of_others) {
  auto c = cluster::without_clients(2);
  int const a = c.observer();
  int const b = c.observer();
  c.join({a, 0}, 100, 300s, {.recoverable = true});
  c.join({b, 1}, 101);
  c.report_error({a, 0}, errc::data_loss, "bad disk");
  c.reset({a, 0}, 100);
  BOOST_TEST(pushed_error(c, a) == "none");
  c.pass(200s);

  c.report_error({b, 1}, errc::internal, "boom");

  BOOST_TEST(pushed_error(c, a) == "task 1 INTERNAL");
}

BOOST_AUTO_TEST_CASE(connect_after_reset_with_error_polling_gets_the_next_error) {
  auto c = cluster::without_clients(2);
  int const a = c.observer();
  int const b = c.observer();
  c.join({a, 0}, 100, 300s, {.recoverable = true});
  c.join({b, 1}, 101);
  for (int i = 0; i < 3; ++i) {
    c.report_error({a, 0}, errc::data_loss, "bad disk");
    c.reset({a, 0}, 100);
    c.join({a, 0}, 100, 300s, {.recoverable = true});
  }
  BOOST_TEST(pushed_error(c, a) == "none");
  BOOST_TEST(pushed_error(c, b) == "none");

  BOOST_TEST(pushed_error(c.bye(b, true), a) == "task 1 UNAVAILABLE");
}

BOOST_AUTO_TEST_CASE(do_not_allow_poll_for_error_when_in_error_state_gets_its_own) {
  cluster c{2};
  c.report_error(0, errc::internal, "boom");
  BOOST_TEST(pushed_error(c, 0) == "task 0 INTERNAL");

  c.report_error(1, errc::internal, "later");

  BOOST_TEST(pushed_error(c, 0) ==
             "task 0 INTERNAL");  // again, with the later failure after the cause
}

BOOST_AUTO_TEST_CASE(do_not_allow_poll_for_error_if_task_is_stale_its_session_has_ended) {
  cluster c{2};
  c[0].beats = false;
  expect_words(c.at(100s).goodbye(0), {"UNAVAILABLE"});
  BOOST_TEST(pushed_error(c, 0) == "none");

  int const again = c.observer();

  BOOST_TEST(pushed_error(c, again) == "task 0 UNAVAILABLE");
}

BOOST_AUTO_TEST_CASE(do_not_allow_poll_for_error_if_service_has_stopped_sends_goodbye) {
  cluster c{1};
  c.stop("maintenance");

  int const late = c.hello({});

  BOOST_TEST(pushed_error(c, late) == "none");
  expect_words(c.goodbye(late), {"UNAVAILABLE", "stopping"});
}

BOOST_AUTO_TEST_CASE(
    do_not_allow_poll_for_error_if_has_service_to_client_connection_which_is_the_only_one) {
  cluster c{2};
  auto const waits = c.barrier(0, "b");
  auto const reads = c.get(0, "k");

  c.report_error(1, errc::internal, "boom");

  // On one connection: the outcomes of its waiting calls, and the push.
  BOOST_TEST(c.code(waits) == "INTERNAL");
  BOOST_TEST(c.code(reads) == "CANCELLED");
  BOOST_TEST(pushed_error(c, 0) == "task 1 INTERNAL");
}

BOOST_AUTO_TEST_CASE(a_disconnected_session_gets_the_error_once_when_it_resumes) {
  cluster c{2, {.reconnect_grace = 60s}};
  c.lose(0);
  c.report_error(1, errc::internal, "first");
  c.report_error({1, 1}, errc::internal, "again");

  BOOST_TEST(c.resume(0).pushed<job_error>(0).size() == 1u);
  c.blink(0);
  BOOST_TEST(pushed_error(c, 0) ==
             "task 1 INTERNAL");  // the push on the old connection may be lost
}

// Sharp edge 24: after a failure each kind of call has one code, for any caller and any failed
// task.
BOOST_AUTO_TEST_CASE(after_a_job_error_all_callers_get_the_same_codes) {
  for (int const culprit : {0, 1}) {
    cluster c{3};
    c.report_error(culprit, errc::internal, "boom");
    for (int const who : {0, 1, 2}) {
      BOOST_TEST_CONTEXT("task " << who << " asks, " << culprit << " has failed") {
        caller const as{who, who};
        BOOST_TEST(c.code(c.barrier(as, "b")) == "FAILED_PRECONDITION");
        BOOST_TEST(c.code(c.barrier(as, "b", 300s, {.among = {0, 1, 2}})) == "FAILED_PRECONDITION");
        BOOST_TEST(c.code(c.send(as, core::alive_args{}, 300s)) == "FAILED_PRECONDITION");
        BOOST_TEST(c.code(c.get(who, "k")) == "CANCELLED");
        BOOST_TEST(c.code(c.pop(who, "q")) == "CANCELLED");
        BOOST_TEST(c.code(c.preempt(who, 2)) == "FAILED_PRECONDITION");
        BOOST_TEST(c.code(c.try_get(who, "k")) == "NOT_FOUND");
      }
    }
  }
}

// Only failures of tasks that are not recoverable are pushed.
BOOST_AUTO_TEST_CASE(the_end_of_a_recoverable_task_is_not_pushed) {
  enum class way { silent, closed, abandoned, malformed, ended, reported };
  for (way const w :
       {way::silent, way::closed, way::abandoned, way::malformed, way::ended, way::reported}) {
    BOOST_TEST_CONTEXT("way " << static_cast<int>(w)) {
      cluster c{3, recoverable()};
      switch (w) {
        case way::silent: c[0].beats = false; break;
        case way::closed: c.lose(0); break;
        case way::abandoned: c.bye(0, true); break;
        case way::malformed: c.malformed(0, "noise"); break;
        case way::ended: c.task_ended(0, {errc::internal, "killed"}); break;
        case way::reported: c.report_error(0, errc::internal, "boom"); break;
      }

      BOOST_TEST(c.at(200s).state_of(0) == "failed");
      BOOST_TEST(pushed_error(c, 1) == "none");
      BOOST_TEST(c.error() == "none");
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
