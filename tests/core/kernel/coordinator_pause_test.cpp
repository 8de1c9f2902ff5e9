// Peers whose input is paused because they do not read: their silence is no failure.

#include "tests/core/steps.hpp"

namespace coxswain::test {
namespace {

core::config impatient() { return core::config{.heartbeat_timeout = 10s}; }

BOOST_AUTO_TEST_SUITE(coordinator_pause_test)

rows const cases{
    {"a_paused_session_has_no_heartbeat_timeout", 2,
     "mute 0; at 5s; paused 0; at 3600s; error -> none", impatient()},
    {"a_resumed_session_has_the_remaining_time", 2,
     "mute 0; at 4s; paused 0; at 12s; read 0; at 18s-; error -> none; at 18s; "
     "error ~ task 0: UNAVAILABLE: no heartbeat from task 0 (host0:1000) for 10 s",
     impatient()},
    {"a_second_pause_keeps_the_remaining_time_of_the_first", 2,
     "mute 0; at 4s; paused 0; at 11s; paused 0; at 12s; read 0; at 18s-; error -> none; at 18s; "
     "error ~ task 0: UNAVAILABLE: no heartbeat from task 0 (host0:1000) for 10 s",
     impatient()},
    {"a_short_pause_is_no_sign_of_life", 2,
     "mute 0; at 9s; paused 0; read 0; at 10s-; error -> none; at 10s; "
     "error ~ task 0: UNAVAILABLE: no heartbeat from task 0 (host0:1000) for 10 s",
     impatient()},
    {"a_peer_that_reads_while_paused_gets_a_new_heartbeat_timeout", 2,
     "mute 0; paused 0; at 27s; flows 0; read 0; at 37s-; error -> none; at 37s; "
     "error ~ task 0: UNAVAILABLE: no heartbeat from task 0 (host0:1000) for 10 s",
     impatient()},
    {"a_stall_during_a_pause_is_not_credited_twice", 2,
     "mute 0; at 4s; paused 0; stall 3s; at 12s; read 0; at 18s-; error -> none; at 18s; "
     "error ~ task 0: UNAVAILABLE",
     impatient()},
    {"a_paused_peer_that_reads_nothing_is_disconnected", 2,
     "mute 0; paused 0; blocked 0; at 30s-; error -> none; at 30s; "
     "error ~ task 0: UNAVAILABLE: the client read nothing for 30 s",
     impatient()},
    {"reading_while_paused_is_a_sign_of_life", 2,
     "mute 0; paused 0; at 9s; flows 0; unreachable 0; at 19s-; error -> none; at 19s; "
     "error ~ task 0: UNAVAILABLE",
     impatient()},
    {"reading_while_not_paused_is_no_sign_of_life", 2,
     "mute 0; at 9s; flows 0; at 10s; "
     "error ~ task 0: UNAVAILABLE: no heartbeat from task 0 (host0:1000) for 10 s",
     impatient()},
    {"a_probe_of_a_paused_holder_waits", 1,
     "mute 0; paused 0; observer x; asked = x/0 joins 555; at 20s; asked -> waits; read 0; "
     "asked -> waits; heartbeat 0; pass 200ms; asked -> ABORTED; error -> none"},
    {"a_resumed_holder_that_stays_silent_fails", 1,
     "mute 0; paused 0; observer x; asked = x/0 joins 555; at 20s; read 0; at 22s-; "
     "asked -> waits; at 22s; "
     "error ~ task 0: UNAVAILABLE: no heartbeat from task 0 (host0:1000) when another"},
    {"the_progress_timeout_stops_during_a_pause", 1,
     "0 is-at-step 1; at 10s; paused 0; at 600s; error -> none; read 0; at 650s-; error -> none; "
     "at 650s; error ~ task 0: DEADLINE_EXCEEDED ... no progress",
     core::config{
         .waiting_log_period = 0s, .progress_timeout = 60s, .fail_without_progress = true}},
    {"a_session_resumed_on_another_connection_is_not_paused", 2,
     "mute 0; paused 0; at 27s; blink 0; at 37s-; error -> none; at 37s; "
     "error ~ task 0: UNAVAILABLE: no heartbeat from task 0 (host0:1000) for 10 s",
     impatient()},
};

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
