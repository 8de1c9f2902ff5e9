// Signs of life: heartbeats, silence, the fence; and pushes of the coordinator.

#include "tests/client/agent_lab.hpp"
#include "tests/main/contains.hpp"

#include <boost/test/unit_test.hpp>

namespace coxswain::test {
BOOST_AUTO_TEST_SUITE(agent_life)

BOOST_AUTO_TEST_CASE(a_heartbeat_is_sent_after_a_period_without_sending) {
  auto lab = agent_lab::open();
  lab.a.call(t0 + 4s, core::put_args{"k", "", false}, without_limit);
  lab.reply(t0 + 5s, 1);
  (void)lab.out();

  BOOST_TEST(lab.advance(t0 + 14s - 1ns) == "");
  BOOST_TEST((lab.a.next_deadline() == t0 + 14s));

  BOOST_TEST(lab.advance(t0 + 14s) == "heartbeat ack=1");
  BOOST_TEST(lab.advance(t0 + 14s) == "");
}

BOOST_AUTO_TEST_CASE(heartbeats_continue_while_every_second_one_is_answered) {
  auto lab = agent_lab::open();
  for (int i = 1; i <= 100; ++i) {
    auto const now = t0 + i * 10s;
    BOOST_TEST((lab.a.next_deadline() == now));
    lab.a.advance(now);
    if (i % 2 == 0) lab.say(now + 1ms, {});
    BOOST_TEST(lab.out() == "heartbeat");
  }
}

BOOST_AUTO_TEST_CASE(a_probe_is_answered_at_once) {
  auto lab = agent_lab::open();

  BOOST_TEST(lab.say(t0 + 3s, {{}, core::probe{}}).out() == "heartbeat");
}

BOOST_AUTO_TEST_CASE(an_idle_client_sends_heartbeats) {
  auto lab = agent_lab::open();
  std::string sent;
  for (int i = 1; i <= 24; ++i) {
    auto const now = t0 + i * 1s;
    lab.a.advance(now);
    auto const id = lab.a.call(now, core::get_args{"k", {}}, without_limit);
    lab.a.cancel(now, id);
    if (contains(lab.out(), "heartbeat")) sent += std::to_string(i) + " ";
  }

  BOOST_TEST(sent == "10 20 ");
}

BOOST_AUTO_TEST_CASE(silence_for_one_and_a_half_periods_after_a_heartbeat_ends_the_connection) {
  auto lab = agent_lab::open();
  BOOST_TEST(lab.advance(t0 + 10s) == "heartbeat");
  BOOST_TEST(lab.advance(t0 + 20s) == "heartbeat");
  BOOST_TEST((lab.a.next_deadline() == t0 + 25s));

  BOOST_TEST(lab.advance(t0 + 25s - 1ns) == "");

  BOOST_TEST(lab.advance(t0 + 25s) == "close | open | disconnected");
  BOOST_TEST(lab.resume(t0 + 25s).out() == "resume | reconnected after 0 ms");
}

BOOST_AUTO_TEST_CASE(any_byte_is_a_sign_of_life) {
  auto lab = agent_lab::open();
  lab.a.advance(t0 + 10s);
  (void)lab.advance(t0 + 20s);

  lab.a.received(t0 + 25s - 1ns, frame({}, {}).substr(0, 1));
  BOOST_TEST(lab.advance(t0 + 25s) == "");
  BOOST_TEST(lab.advance(t0 + 30s) == "heartbeat");
}

BOOST_AUTO_TEST_CASE(a_full_transport_becoming_writable_is_a_sign_of_life) {
  auto lab = agent_lab::open();
  lab.a.advance(t0 + 10s);
  (void)lab.advance(t0 + 20s);

  lab.a.write_progressed(t0 + 24s);

  BOOST_TEST(lab.advance(t0 + 30s) == "heartbeat");
  BOOST_TEST(lab.advance(t0 + 39s - 1ns) == "");
  BOOST_TEST(lab.advance(t0 + 39s) == "close | open | disconnected");
}

// With a session whose coordinator says when to suspect a silent connection.
agent_lab suspecting(duration after, agent_options options = agent_lab::default_options(),
                     duration reconnect_grace = 2s) {
  auto hello = hello_answer();
  hello.suspect_after = after;
  hello.restart_grace = 3 * after;
  hello.reconnect_grace = reconnect_grace;
  agent_lab lab{std::move(options)};
  lab.a.start(t0);
  lab.a.connected(t0, 0);
  lab.say(t0, {{}, hello});
  static_cast<void>(lab.out());
  return lab;
}

BOOST_AUTO_TEST_CASE(a_silent_connection_is_suspected_when_the_coordinator_says) {
  auto lab = suspecting(4s);
  BOOST_TEST((lab.a.next_deadline() == t0 + 2s));
  BOOST_TEST(lab.advance(t0 + 2s) == "heartbeat");
  BOOST_TEST((lab.a.next_deadline() == t0 + 2500ms));
  for (auto const at : {2500ms, 3000ms, 3500ms}) BOOST_TEST(lab.advance(t0 + at) == "heartbeat");
  BOOST_TEST(lab.advance(t0 + 4s - 1ns) == "");

  BOOST_TEST(lab.advance(t0 + 4s) == "close | open | disconnected");
}

// The coordinator answers the second one at the latest.
BOOST_AUTO_TEST_CASE(a_suspected_connection_is_kept_if_only_the_second_heartbeat_is_answered) {
  auto lab = suspecting(4s);
  for (auto now = t0; now < t0 + 1min; now += 4s - 1ms) {
    static_cast<void>(lab.advance(now + 2s));
    BOOST_TEST(lab.advance(now + 2500ms) == "heartbeat");
    BOOST_TEST(lab.say(now + 4s - 1ms, {}).advance(now + 4s - 1ms) == "");
  }
}

BOOST_AUTO_TEST_CASE(a_client_that_hears_asks_for_no_earlier_sign_of_life) {
  auto lab = suspecting(4s);
  for (int i = 1; i < 10; ++i) BOOST_TEST(lab.say(t0 + i * 1s, {}).advance(t0 + i * 1s) == "");

  BOOST_TEST(lab.say(t0 + 10s, {}).advance(t0 + 10s) == "heartbeat");
}

BOOST_AUTO_TEST_CASE(no_connection_is_suspected_later_than_without_a_stated_time) {
  auto lab = suspecting(26s);
  BOOST_TEST(lab.advance(t0 + 10s) == "heartbeat");
  BOOST_TEST(lab.advance(t0 + 20s) == "heartbeat");
  BOOST_TEST(lab.advance(t0 + 25s) == "close | open | disconnected");
}

BOOST_AUTO_TEST_CASE(a_resumed_session_suspects_as_the_present_coordinator_says) {
  for (auto const stated : {0s, 2s}) {
    auto lab = suspecting(4s);
    lab.lose(t0 + 1s);
    lab.connected(t0 + 1s).say(t0 + 1s, {{}, core::resume_answer{{}, 1, stated}});
    BOOST_TEST((lab.a.next_deadline() == t0 + 1s + (stated > 0s ? stated / 2 : 10s)));
  }
}

// However long tasks are spared whose connection was lost: a third of the restart grace for the
// silence, the rest to resume.
BOOST_AUTO_TEST_CASE(attempts_to_resume_take_no_longer_than_half_the_time_of_a_suspicion) {
  auto lab = suspecting(4s, agent_lab::default_options(), 60s);
  lab.lose(t0 + 1s);
  static_cast<void>(lab.out());
  auto const failed = t0 + 1s + 2s;
  BOOST_TEST(lab.advance(failed - 1ns) == "");
  BOOST_TEST(lab.advance(failed) == "close");
  BOOST_TEST((lab.a.next_deadline() <= failed + 1s));
}

BOOST_AUTO_TEST_CASE(a_fence_before_the_end_of_the_restart_grace_is_refused_at_the_start) {
  auto options = agent_lab::default_options();
  options.fence_after = 12s;
  BOOST_TEST(!suspecting(4s, options).a.over());
  options.fence_after = 11s;

  auto const end = suspecting(4s, options).a.end();
  BOOST_TEST((end.code() == errc::invalid_argument));
  BOOST_TEST(end.message() ==
             "fence_after is 11 s, but the coordinator at b12:8476 gives sessions 12 s to "
             "resume after a restart (restart_grace): fence_after must be at least as long, or "
             "unset");
}

BOOST_AUTO_TEST_CASE(a_guest_without_its_coxswain_task_process_ends_at_once) {
  auto options = agent_lab::default_options();
  options.hello.acts_for = core::guest_args{task_id{1}, "0123456789abcdef"};
  auto lab = agent_lab::open(options);
  lab.a.call(t0, core::get_args{"k", {}}, 300s);
  lab.lose(t0 + 2s);
  (void)lab.out();

  lab.a.connect_failed(t0 + 2s, 0, connection_refused, true);

  BOOST_TEST(contains(lab.out(), "done #1 UNAVAILABLE | ended UNAVAILABLE"));
  BOOST_TEST(lab.completions().at(0).what.outcome.message() ==
             "outcome unknown: the coxswain task process for which this program acts has ended: "
             "connection "
             "refused");
  BOOST_TEST(lab.a.over());

  agent_lab early{options};
  early.a.start(t0);
  early.a.connect_failed(t0, 0, connection_refused, true);
  BOOST_TEST(early.a.over());
  BOOST_TEST((early.a.end().code() == errc::unavailable));
}

BOOST_AUTO_TEST_CASE(the_client_is_fenced_after_the_heartbeat_timeout) {
  auto lab = agent_lab::open();
  lab.a.call(t0, core::get_args{"k", {}}, 300s);
  lab.reply(t0 + 1s, 99);
  lab.lose(t0 + 2s);
  lab.a.connect_failed(t0 + 2s, 0, connection_refused, false);
  auto now = t0 + 2s;
  while (*lab.a.next_deadline() < t0 + 31s) {
    lab.a.advance(now = *lab.a.next_deadline());
    lab.a.connect_failed(now, 0, connection_refused, false);
  }
  (void)lab.out();
  (void)lab.advance(t0 + 31s - 1ns);
  BOOST_TEST(!lab.a.over());

  lab.a.advance(t0 + 31s);

  BOOST_TEST(contains(lab.out(), "done #1 UNAVAILABLE | ended UNAVAILABLE"));
  BOOST_TEST(lab.completions().at(0).what.outcome.message() ==
             "outcome unknown: no message from the coordinator at b12:8476 for 30 s; last "
             "error: UNAVAILABLE: connection refused");
  BOOST_TEST((lab.a.next_deadline() == std::nullopt));
  BOOST_TEST(lab.connected(t0 + 31s).out() == "");
}

BOOST_AUTO_TEST_CASE(the_client_can_set_the_fence_timeout) {
  auto options = agent_lab::default_options();
  options.fence_after = 7s;
  auto lab = agent_lab::open(options);
  BOOST_TEST((lab.a.next_deadline() == t0 + 7s));
  BOOST_TEST(lab.advance(t0 + 7s - 1ns) == "");

  BOOST_TEST(lab.advance(t0 + 7s) == "close | ended UNAVAILABLE");
}

BOOST_AUTO_TEST_CASE(without_a_fence_the_client_reconnects_forever) {
  auto options = agent_lab::default_options();
  options.fence_after = without_limit;
  auto lab = agent_lab::open(options);
  lab.lose(t0);
  auto now = t0;

  while (now < t0 + 500s) {
    lab.a.connect_failed(now, 0, connection_refused, false);
    lab.a.advance(now = *lab.a.next_deadline());
  }

  BOOST_TEST(!lab.a.over());
  BOOST_TEST(lab.resume(now).a.up());
}

BOOST_AUTO_TEST_CASE(no_heartbeats_are_sent_if_the_coordinator_wants_none) {
  auto hello = hello_answer();
  hello.heartbeat_period = {};
  hello.heartbeat_timeout = {};
  agent_lab lab;
  lab.a.start(t0);
  lab.a.connected(t0, 0);
  lab.say(t0, {{}, hello});

  BOOST_TEST((lab.a.next_deadline() == std::nullopt));
}

BOOST_AUTO_TEST_CASE(a_probe_reply_needs_no_answer_without_heartbeats) {
  auto hello = hello_answer();
  hello.heartbeat_period = {};
  hello.heartbeat_timeout = {};
  agent_lab lab;
  lab.a.start(t0);
  lab.a.connected(t0, 0);
  lab.say(t0, {{}, hello});
  BOOST_TEST(lab.say(t0, {{}, core::probe{}}).out() == "hello | heartbeat | open | opened");

  BOOST_TEST(lab.advance(t0 + 100h) == "");
  BOOST_TEST((lab.a.next_deadline() == std::nullopt));
}

BOOST_AUTO_TEST_CASE(a_job_error_is_reported_to_the_caller) {
  auto lab = agent_lab::open();
  job_error error;
  error.cause.task = task_id{3};
  error.cause.why = {errc::unavailable, "it died"};

  BOOST_TEST(lab.say(t0, {{}, error}).out() == "job failed");
  BOOST_TEST((std::get<agent_events::job_failed>(lab.events().at(0)).what == error));
}

BOOST_AUTO_TEST_CASE(progress_is_reported_while_its_call_is_open) {
  auto lab = agent_lab::open();
  core::barrier_args args;
  args.name = "b";
  lab.a.call(t0, args, 300s);
  (void)lab.out();
  core::barrier_progress progress;
  progress.request = request_id{1};
  progress.missing = "2-3";

  BOOST_TEST(lab.say(t0, {{}, progress}).out() == "progress of 1");
  lab.a.cancel(t0, request_id{1});
  BOOST_TEST(lab.say(t0, {{}, progress}).out() == "cancel 1");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
