// A restarted coordinator has its state and no connections: sessions resume within a grace.

#include "tests/core/cluster.hpp"

namespace coxswain::test {
namespace {

core::config restarting() {
  return {.heartbeat_timeout = 10s, .reconnect_grace = 1s, .restart_grace = 15s};
}

// The coordinator was away for this long.
void restart(cluster& c, duration downtime) {
  for (int i = 0; i < 3; ++i) c[i].connection = {};
  c.sleep_without_advance(downtime);
  BOOST_TEST(c.logic().put_in(t0 + c.now(), core::restarted{downtime}).ok());
}

BOOST_AUTO_TEST_SUITE(coordinator_restart_test)

BOOST_AUTO_TEST_CASE(a_long_downtime_fails_no_task) {
  cluster c{3, restarting()};
  auto const waits = c.barrier(0, "b", 300s);
  c.barrier(1, "b", 300s);

  restart(c, 1min);
  c.pass(14s);
  for (int i = 0; i < 3; ++i) c.resume(i);
  c.barrier(2, "b", 300s);

  BOOST_TEST(c.code(waits) == "OK");
  BOOST_TEST(c.error() == "none");
  expect_words(c.log(), {"the coordinator was restarted after 60 s; 3 sessions have 15 s to resume",
                         "3 of 3 sessions resumed 14 s after the coordinator was restarted"});
}

BOOST_AUTO_TEST_CASE(who_does_not_resume_fails_and_is_named) {
  cluster c{3, restarting()};
  restart(c, 2s);
  c.resume(0).resume(2);

  BOOST_TEST(c.pass(15s - 1ms).error() == "none");
  c.pass(1ms);

  BOOST_TEST(c.state_of(1) == "failed");
  expect_words(c.log(), {"2 of 3 sessions resumed 15 s after", "; missing: task 1", "task 1 (",
                         "has not resumed its session within 15 s"});
}

BOOST_AUTO_TEST_CASE(deadlines_of_calls_run_on) {
  cluster c{3, restarting()};
  auto const waits = c.get(0, "k", 30s);
  restart(c, 20s);
  c.resume(0).resume(1).resume(2);

  BOOST_TEST(c.pass(10s - 1ms).code(waits) == "waits");
  BOOST_TEST(c.pass(1ms).code(waits) == "DEADLINE_EXCEEDED");
}

BOOST_AUTO_TEST_CASE(a_suspended_coordinator_sends_everyone_away_to_come_back) {
  cluster c{3, restarting()};
  BOOST_TEST(c.logic().put_in(t0 + c.now(), core::suspended{"upgrade"}).ok());
  c.advance_once();
  for (int i = 0; i < 3; ++i) BOOST_TEST(c.goodbye(i) == "UNAVAILABLE may resume: upgrade");
  auto const late = c.dial();
  expect_words(c.goodbye_to(late), {"UNAVAILABLE may resume", "about to be restarted"});

  restart(c, 1s);
  c.resume(0).resume(1).resume(2);
  BOOST_TEST(c.error() == "none");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
