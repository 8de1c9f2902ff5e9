// Peers whose input is paused because they do not read: their silence is no failure.

#include "tests/core/cluster.hpp"

namespace coxswain::test {
namespace {

core::config impatient() { return core::config{.heartbeat_timeout = 10s}; }

BOOST_AUTO_TEST_SUITE(coordinator_pause_test)

BOOST_AUTO_TEST_CASE(a_paused_session_has_no_heartbeat_timeout) {
  cluster c{2, impatient()};
  c[0].beats = false;
  BOOST_TEST(c.at(5s).reading_paused(0).at(1h).error() == "none");
}

BOOST_AUTO_TEST_CASE(a_resumed_session_has_the_remaining_time) {
  cluster c{2, impatient()};
  c[0].beats = false;
  BOOST_TEST(c.at(4s).reading_paused(0).at(12s).reading_resumed(0).at(18s - 1ns).error() == "none");
  c.at(18s);
  expect_words(c.error(), {"task 0: UNAVAILABLE: no heartbeat from task 0 (host0:1000) for 10 s"});
}

BOOST_AUTO_TEST_CASE(a_second_pause_keeps_the_remaining_time_of_the_first) {
  cluster c{2, impatient()};
  c[0].beats = false;
  c.at(4s).reading_paused(0).at(11s);
  BOOST_TEST(c.reading_paused(0).at(12s).reading_resumed(0).at(18s - 1ns).error() == "none");
  c.at(18s);
  expect_words(c.error(), {"task 0: UNAVAILABLE: no heartbeat from task 0 (host0:1000) for 10 s"});
}

BOOST_AUTO_TEST_CASE(a_short_pause_is_no_sign_of_life) {
  cluster c{2, impatient()};
  c[0].beats = false;
  BOOST_TEST(c.at(9s).reading_paused(0).reading_resumed(0).at(10s - 1ns).error() == "none");
  c.at(10s);
  expect_words(c.error(), {"task 0: UNAVAILABLE: no heartbeat from task 0 (host0:1000) for 10 s"});
}

BOOST_AUTO_TEST_CASE(a_peer_that_reads_while_paused_gets_a_new_heartbeat_timeout) {
  cluster c{2, impatient()};
  c[0].beats = false;
  c.reading_paused(0).at(27s).write_progressed(0);
  BOOST_TEST(c.reading_resumed(0).at(37s - 1ns).error() == "none");
  c.at(37s);
  expect_words(c.error(), {"task 0: UNAVAILABLE: no heartbeat from task 0 (host0:1000) for 10 s"});
}

BOOST_AUTO_TEST_CASE(a_stall_during_a_pause_is_not_credited_twice) {
  cluster c{2, impatient()};
  c[0].beats = false;
  BOOST_TEST(
      c.at(4s).reading_paused(0).stall(3s).at(12s).reading_resumed(0).at(18s - 1ns).error() ==
      "none");
  expect_words(c.at(18s).error(), {"task 0: UNAVAILABLE"});
}

BOOST_AUTO_TEST_CASE(a_paused_peer_that_reads_nothing_is_disconnected) {
  cluster c{2, impatient()};
  c[0].beats = false;
  BOOST_TEST(c.reading_paused(0).write_blocked(0).at(30s - 1ns).error() == "none");
  expect_words(c.at(30s).error(), {"task 0: UNAVAILABLE: the client read nothing for 30 s"});
}

BOOST_AUTO_TEST_CASE(reading_while_paused_is_a_sign_of_life) {
  cluster c{2, impatient()};
  c[0].beats = false;
  c.reading_paused(0).at(9s).write_progressed(0);
  BOOST_TEST(c.lose(0, core::loss::unreachable).at(19s - 1ns).error() == "none");
  expect_words(c.at(19s).error(), {"task 0: UNAVAILABLE"});
}

BOOST_AUTO_TEST_CASE(reading_while_not_paused_is_no_sign_of_life) {
  cluster c{2, impatient()};
  c[0].beats = false;
  c.at(9s).write_progressed(0);

  c.at(10s);
  expect_words(c.error(), {"task 0: UNAVAILABLE: no heartbeat from task 0 (host0:1000) for 10 s"});
}

BOOST_FIXTURE_TEST_CASE(a_probe_of_a_paused_holder_waits, job<1>) {
  c[0].beats = false;
  c.reading_paused(0);
  auto const asked = c.join({c.observer(), 0}, 555);
  BOOST_TEST(c.at(20s).code(asked) == "waits");

  BOOST_TEST(c.reading_resumed(0).code(asked) == "waits");
  BOOST_TEST(c.heartbeat(0).pass(200ms).code(asked) == "ABORTED");
  BOOST_TEST(c.error() == "none");
}

BOOST_FIXTURE_TEST_CASE(a_resumed_holder_that_stays_silent_fails, job<1>) {
  c[0].beats = false;
  c.reading_paused(0);
  auto const asked = c.join({c.observer(), 0}, 555);
  BOOST_TEST(c.at(20s).reading_resumed(0).at(22s - 1ns).code(asked) == "waits");
  expect_words(c.at(22s).error(),
               {"task 0: UNAVAILABLE: no heartbeat from task 0 (host0:1000) when another"});
}

BOOST_AUTO_TEST_CASE(the_progress_timeout_stops_during_a_pause) {
  cluster c{1,
            core::config{
                .waiting_log_period = 0s, .progress_timeout = 60s, .fail_without_progress = true}};
  c.send(0, core::report_progress_args{1});
  BOOST_TEST(c.at(10s).reading_paused(0).at(10min).error() == "none");
  BOOST_TEST(c.reading_resumed(0).at(10min + 50s - 1ns).error() == "none");
  expect_words(c.at(10min + 50s).error(), {"task 0: DEADLINE_EXCEEDED", "no progress"});
}

BOOST_AUTO_TEST_CASE(a_session_resumed_on_another_connection_is_not_paused) {
  cluster c{2, impatient()};
  c[0].beats = false;
  BOOST_TEST(c.reading_paused(0).at(27s).blink(0).at(37s - 1ns).error() == "none");
  c.at(37s);
  expect_words(c.error(), {"task 0: UNAVAILABLE: no heartbeat from task 0 (host0:1000) for 10 s"});
}

BOOST_FIXTURE_TEST_CASE(pausing_a_connection_without_a_session_has_no_effect, job<1>) {
  auto const gone = c[0].connection;
  auto const silent = c.dial();
  c.blink(0);

  for (auto const id : {gone, silent}) {
    c.logic().reading_resumed(t0, id);
    c.logic().reading_paused(t0, id);
    c.logic().reading_resumed(t0, id);
    c.logic().check_invariants();
  }
  BOOST_TEST(c.error() == "none");
  BOOST_TEST(c.is_attached(0));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::test
