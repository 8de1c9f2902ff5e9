// A job error is pushed to every session, whatever its part in the job. Nothing is polled
// (§5.1), while upstream has rules for who may poll (§5.2.1 and §5.2.2).

#include "tests/core/steps.hpp"

namespace coxswain::test {
namespace {

core::config recoverable() { return core::config{.recoverable = true}; }

BOOST_AUTO_TEST_SUITE(coordinator_error_push_test)

rows const cases{
    {"clients_receive_missed_heartbeat_if_any_client_goes_away_without_error_polling", 3,
     "mute 0; at 100s-; pushed 1 -> none; at 100s; pushed 1 -> task 0 UNAVAILABLE; "
     "pushed 2 -> task 0 UNAVAILABLE; state 1 -> connected; at 3600s; pushed 1 -> none"},
    {"leaving_a_short_outage_or_lateness_is_not_pushed", 3,
     "2 leaves; bye 2; cut 1; pass 2s-; resume 1; mute 0; pass 97s; heard 0; pass 99s; "
     "pushed 0 -> none; pushed 1 -> none; heard 0",
     config{.leave_barrier = false}},
    {"do_not_allow_poll_for_error_if_task_has_shut_down_gets_it_at_any_time", 2,
     "1 leaves; pass 200s; 0 reports boom; pushed 1 -> task 0 INTERNAL; state 1 -> left",
     config{.leave_barrier = false}},
    // again, with the later failure after the cause
    {"do_not_allow_poll_for_error_when_in_error_state_gets_its_own", 2,
     "0 reports boom; pushed 0 -> task 0 INTERNAL; 1 reports later; pushed 0 -> task 0 INTERNAL"},
    {"do_not_allow_poll_for_error_if_task_is_stale_its_session_has_ended", 2,
     "mute 0; at 100s; goodbye 0 ~ UNAVAILABLE; pushed 0 -> none; observer again; "
     "pushed again -> task 0 UNAVAILABLE"},
    // On one connection: the outcomes of its waiting calls, and the push.
    {"do_not_allow_poll_for_error_if_has_service_to_client_connection_which_is_the_only_one", 2,
     "waits = 0 barrier b; reads = 0 get k; 1 reports boom; waits -> INTERNAL; reads -> CANCELLED; "
     "pushed 0 -> task 1 INTERNAL"},
    {"do_not_allow_poll_for_error_if_task_not_registered_gets_it", 2,
     "empty; observer a; observer b; a/0 joins 1; a/0 reports 'bad disk' DATA_LOSS; "
     "pushed b -> task 0 DATA_LOSS; b/1 joins 2 -> ABORTED",
     config{.join_barrier = false}},
    {"do_not_allow_poll_for_error_after_reset_gets_errors_of_others", 2,
     "empty; observer a; observer b; a/0 joins 100 300s recoverable; b/1 joins 101; "
     "a/0 reports 'bad disk' DATA_LOSS; a/0 resets 100; pushed a -> none; pass 200s; "
     "b/1 reports boom; pushed a -> task 1 INTERNAL"},
    // the push on the old connection may be lost
    {"a_disconnected_session_gets_the_error_once_when_it_resumes", 2,
     "cut 0; 1 reports first; 1/1 reports again; resume 0; pushes errors 0 -> 1; blink 0; "
     "pushed 0 -> task 1 INTERNAL",
     config{.reconnect_grace = 60s}},
};

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
  BOOST_TEST(c.pushed_error(a) == "none");
  BOOST_TEST(c.pushed_error(b) == "none");

  BOOST_TEST(c.bye(b, true).pushed_error(a) == "task 1 UNAVAILABLE");
}

BOOST_AUTO_TEST_CASE(do_not_allow_poll_for_error_if_service_has_stopped_sends_goodbye) {
  cluster c{1};
  c.stop("maintenance");

  int const late = c.hello({});

  BOOST_TEST(c.pushed_error(late) == "none");
  expect_words(c.goodbye(late), {"UNAVAILABLE", "stopping"});
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
      BOOST_TEST(c.pushed_error(1) == "none");
      BOOST_TEST(c.error() == "none");
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
