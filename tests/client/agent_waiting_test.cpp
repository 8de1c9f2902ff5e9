// The agent's reports of long waits: for replies, and for the coordinator.

#include "tests/client/agent_lab.hpp"

#include <boost/test/unit_test.hpp>

namespace coxswain::test {
namespace {

status const refused_by_address{errc::unavailable,
                                "connecting to 10.0.0.7:8476 failed: Connection refused"};

core::barrier_args barrier(std::string name) {
  core::barrier_args args;
  args.name = std::move(name);
  return args;
}

core::answer waits_for(std::uint64_t request, std::string text) {
  return {{}, core::waiting{request_id{request}, std::move(text)}};
}

// An agent with a session whose coordinator sent this HelloReply.
agent_lab open(core::hello_answer hello, agent_options options = agent_lab::default_options()) {
  agent_lab lab{std::move(options)};
  lab.a.start(t0);
  lab.a.connected(t0, 0);
  lab.say(t0, {{}, std::move(hello)});
  (void)lab.out();
  lab.shows_waits = true;
  return lab;
}

core::hello_answer returning_within(duration time) {
  auto hello = hello_answer();
  hello.coordinator_return = time;
  return hello;
}

// Refuses every attempt until then, the last one at that time. Returns the reports with their
// times.
std::string refuse_until(agent_lab& lab, time_point now, time_point end) {
  std::string reported;
  while (!lab.a.over()) {
    lab.a.connect_failed(now, 0, refused_by_address, true);
    auto const text = lab.out();
    for (auto const& event : lab.events()) {
      if (auto const* const e = std::get_if<agent_events::waiting>(&event)) {
        reported += std::to_string((now - t0) / 1ms) + " ms: " + e->text + "\n";
      }
    }
    auto const next = lab.a.next_deadline();
    if (!next || *next > end) return reported;
    lab.a.advance(now = *next);
  }
  return reported;
}

// Advances to the start of the next connection attempt and returns its time.
time_point next_try(agent_lab& lab) {
  for (;;) {
    auto const now = *lab.a.next_deadline();
    lab.a.advance(now);
    if (lab.out().find("open") != std::string::npos) return now;
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(agent_waiting)

BOOST_AUTO_TEST_CASE(after_two_seconds_a_client_asks_what_its_call_waits_for) {
  auto lab = open(hello_answer());
  BOOST_TEST(lab.call(t0, barrier("b"), 300s).out() == "#1 barrier b 300 s");
  BOOST_TEST((lab.a.next_deadline() == t0 + 2s));

  BOOST_TEST(lab.advance(t0 + 2s - 1ns) == "");
  BOOST_TEST(lab.advance(t0 + 2s) == "ask_waiting 1");
  lab.say(t0 + 2s, waits_for(1, "1 of 4 tasks is missing: 3"));
  BOOST_TEST(lab.out() == "waiting: barrier 'b' has waited for 2 s: 1 of 4 tasks is missing: 3");
  BOOST_TEST(lab.advance(t0 + 2s + 1ns) == "");
}

BOOST_AUTO_TEST_CASE(waiting_queries_repeat_at_doubling_intervals_up_to_thirty_seconds) {
  auto lab = open(hello_answer());
  lab.a.call(t0, core::get_args{"k", {}}, without_limit);
  std::string asked;
  for (auto now = t0; now <= t0 + 130s; now += 500ms) {
    lab.a.advance(now);
    if (lab.out().find("ask_waiting") == std::string::npos) {
      lab.say(now, {});  // a sign of life
      continue;
    }
    asked += std::to_string((now - t0) / 1s) + " ";
    lab.say(now, waits_for(1, "key 'k' has no value"));
  }

  BOOST_TEST(asked == "2 4 8 16 32 62 92 122 ");
}

BOOST_AUTO_TEST_CASE(a_call_answered_in_time_causes_no_waiting_query) {
  auto lab = open(hello_answer());
  lab.a.call(t0, barrier("b"), 300s);
  lab.reply(t0 + 2s - 1ns, 1, {{}, core::barrier_answer{}});
  (void)lab.out();

  BOOST_TEST(lab.advance(t0 + 2s) == "");
  BOOST_TEST((*lab.a.next_deadline() > t0 + 2s));
}

BOOST_AUTO_TEST_CASE(a_coordinator_that_does_not_answer_the_query_is_reported_a_second_later) {
  auto lab = open(hello_answer());
  lab.a.call(t0, barrier("b"), 300s);
  (void)lab.advance(t0 + 2s);

  BOOST_TEST(lab.advance(t0 + 3s - 1ns) == "");
  BOOST_TEST(lab.advance(t0 + 3s) ==
             "waiting: barrier 'b' has waited for 3 s: no reply from the coordinator at b12:8476, "
             "which was last heard 3 s ago");
  BOOST_TEST(lab.say(t0 + 4s, waits_for(1, "too late")).out() == "");
}

BOOST_AUTO_TEST_CASE(a_waiting_query_lost_with_its_connection_is_repeated) {
  auto lab = open(hello_answer());
  lab.a.call(t0, barrier("b"), 300s);
  lab.a.advance(t0 + 2s);
  lab.lose(t0 + 2500ms);
  lab.resume(t0 + 2600ms);
  (void)lab.out();

  BOOST_TEST(lab.advance(t0 + 3s) == "ask_waiting 1");
}

BOOST_AUTO_TEST_CASE(watches_cause_no_waiting_queries) {
  auto lab = open(hello_answer());
  lab.a.call(t0, core::watch_tasks_args{}, without_limit);
  lab.a.call(t0, core::watch_events_args{}, without_limit);
  lab.a.call(t0, core::watch_keys_args{}, without_limit);
  (void)lab.out();

  BOOST_TEST(lab.advance(t0 + 2s) == "");
  BOOST_TEST((lab.a.next_deadline() == t0 + 10s));
}

BOOST_AUTO_TEST_CASE(a_waiting_pop_is_reported_without_a_warning) {
  auto lab = open(hello_answer());
  lab.a.call(t0, core::pop_args{"q"}, without_limit);
  lab.a.advance(t0 + 2s);
  lab.say(t0 + 2s, waits_for(1, "queue 'q' has no item"));

  BOOST_TEST(lab.out() ==
             "#1 pop q no limit | ask_waiting 1 | waiting: pop of queue 'q' has waited for 2 s: "
             "queue 'q' has no item (idle)");
}

BOOST_AUTO_TEST_CASE(a_waiting_query_covers_eight_calls_and_counts_the_others) {
  auto lab = open(hello_answer());
  for (int i = 0; i < 500; ++i) lab.a.call(t0, core::get_args{"k", {}}, without_limit);
  (void)lab.out();

  lab.a.advance(t0 + 2s);

  auto const out = lab.out();
  BOOST_TEST(lab.messages().size() == 8u);
  BOOST_TEST(out.substr(out.find("waiting: 4")) ==
             "waiting: 492 more calls have been waiting for a long time (idle)");
}

BOOST_AUTO_TEST_CASE(waiting_reports_for_unqueried_calls_are_ignored) {
  auto lab = open(hello_answer());
  lab.a.call(t0, core::get_args{"k", {}}, without_limit);
  (void)lab.out();

  lab.say(t0, waits_for(1, "unasked"));
  BOOST_TEST(lab.say(t0, waits_for(2, "unknown")).out() == "");
}

BOOST_AUTO_TEST_CASE(an_unreachable_coordinator_is_reported_after_two_seconds_and_then_less_often) {
  auto options = agent_lab::default_options();
  options.connect_timeout = 100s;
  agent_lab lab{options};
  lab.shows_waits = true;
  lab.a.start(t0);
  BOOST_TEST(lab.out() == "open");
  lab.a.reached(0, attempt_stage::connecting);

  BOOST_TEST(lab.advance(t0 + 2s - 1ns) == "");
  BOOST_TEST(lab.advance(t0 + 2s) ==
             "waiting: coordinator at b12:8476 unreachable for 2 s (1 try): no response to "
             "the connection attempt; giving up in 98 s");
  std::string reported;
  for (auto now = t0 + 2500ms; now < t0 + 99s; now += 500ms) {
    lab.a.advance(now);
    if (lab.out().find("waiting") != std::string::npos)
      reported += std::to_string((now - t0) / 1s) + " ";
  }
  BOOST_TEST(reported == "4 8 16 32 62 92 ");
}

BOOST_AUTO_TEST_CASE(an_attempt_without_an_answer_says_how_far_it_has_come) {
  agent_lab lab;
  lab.shows_waits = true;
  lab.a.start(t0);
  (void)lab.out();
  auto const report = [&lab](duration after) {
    auto const reported = lab.advance(t0 + after);
    return reported.substr(reported.find("): ") + 3, reported.find(';') - reported.find("): ") - 3);
  };

  BOOST_TEST(report(2s) == "no answer from the name server");
  lab.a.reached(0, attempt_stage::connecting);
  BOOST_TEST(report(4s) == "no response to the connection attempt");
  lab.a.reached(0, attempt_stage::tls_handshake);
  BOOST_TEST(report(8s) == "connected, but no reply to the TLS handshake");
  lab.a.advance(t0 + 10s);
  lab.a.advance(*lab.a.next_deadline());
  (void)lab.out();
  lab.a.connected(t0 + 14s, 0);
  (void)lab.out();
  BOOST_TEST(report(16s) == "connected, but no reply to the greeting of a Coxswain client");
}

BOOST_AUTO_TEST_CASE(an_attempt_in_progress_counts_more_than_an_earlier_refusal_after_a_second) {
  agent_lab lab;
  lab.shows_waits = true;
  lab.a.start(t0);
  lab.a.connect_failed(t0, 0, {errc::unavailable, "connection refused"}, true);
  lab.a.advance(*lab.a.next_deadline());
  lab.a.reached(0, attempt_stage::connecting);
  (void)lab.out();

  BOOST_TEST(lab.advance(t0 + 400ms).find("connection refused") != std::string::npos);
  BOOST_TEST(lab.advance(t0 + 2400ms).find("no response to the connection attempt") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_address_that_refuses_is_named_within_a_second) {
  agent_lab lab;
  lab.shows_waits = true;
  lab.a.start(t0);

  auto const reported = refuse_until(lab, t0, t0 + 1s);

  BOOST_TEST(reported.find("400 ms: coordinator at b12:8476 unreachable for 400 ms (") == 0u);
  BOOST_TEST(
      reported.find("connecting to 10.0.0.7:8476 failed: Connection refused; giving up in 299.6 "
                    "s\n") != reported.npos);
}

BOOST_AUTO_TEST_CASE(the_process_that_hosted_the_coordinator_is_named) {
  auto options = agent_lab::default_options();
  options.hosted_by_task = 0;
  agent_lab unmet{options};
  unmet.shows_waits = true;
  unmet.a.start(t0);
  BOOST_TEST(refuse_until(unmet, t0, t0 + 1s)
                 .find("coordinator at b12:8476 (in the process of task 0) unreachable for") !=
             std::string::npos);

  auto hello = returning_within(5s);
  hello.hosted_by_task = 2;
  auto met = open(hello);
  met.lose(t0);
  refuse_until(met, t0, t0 + 6s);
  BOOST_TEST(met.a.end().text() ==
             "UNAVAILABLE: the coordinator at b12:8476 (in the process of task 2) is gone: its "
             "address has refused all connections for 5 s");
}

BOOST_AUTO_TEST_CASE(a_session_ends_after_refusals_for_the_time_the_coordinator_stated) {
  auto lab = open(returning_within(5s));
  lab.a.call(t0, core::get_args{"k", {}}, 300s);
  lab.lose(t0 + 1s);

  refuse_until(lab, t0 + 1s, t0 + 6s - 1ns);
  BOOST_TEST(!lab.a.over());
  lab.a.advance(t0 + 6s - 1ns);
  BOOST_TEST(!lab.a.over());
  BOOST_TEST((lab.a.next_deadline() == t0 + 6s));

  lab.a.advance(t0 + 6s);

  BOOST_TEST(lab.a.over());
  (void)lab.out();
  BOOST_TEST(lab.completions().at(0).what.outcome.text() ==
             "UNAVAILABLE: outcome unknown: the coordinator at b12:8476 is gone: its address has "
             "refused all connections for 5 s");
}

BOOST_AUTO_TEST_CASE(a_leave_outlasts_refusals_by_a_coordinator_or_relay_that_may_return) {
  for (bool const has_journal : {false, true}) {
    auto hello = returning_within(5s);
    hello.relayed = !has_journal;
    if (has_journal) hello.restart_grace = 15s;
    auto lab = open(hello);
    lab.a.call(t0, core::leave_args{}, 300s);
    lab.lose(t0);

    refuse_until(lab, t0, t0 + 5s - 1ns);
    BOOST_TEST(!lab.a.over());
    lab.a.advance(t0 + 5s);

    BOOST_TEST(lab.a.over());
    (void)lab.out();
    BOOST_TEST(lab.completions().at(0).what.outcome.text() == "OK");
  }
}

BOOST_AUTO_TEST_CASE(an_attempt_in_progress_at_the_end_of_the_return_time_is_awaited) {
  auto lab = open(returning_within(5s));
  lab.lose(t0);
  refuse_until(lab, t0, t0 + 4400ms);
  next_try(lab);

  lab.a.advance(t0 + 5s);
  BOOST_TEST(!lab.a.over());
  BOOST_TEST(lab.resume(t0 + 5s).a.up());
}

BOOST_AUTO_TEST_CASE(another_kind_of_failure_restarts_the_refusal_time) {
  for (bool const is_silent : {true, false}) {
    auto lab = open(returning_within(5s));
    lab.lose(t0);
    refuse_until(lab, t0, t0 + 4s);
    auto now = next_try(lab);
    if (is_silent) {
      lab.a.advance(now += 1s);
    } else {
      lab.a.connect_failed(now, 0, {errc::unavailable, "no route to host"}, false);
    }
    refuse_until(lab, now, t0 + 9s);

    BOOST_TEST(!lab.a.over());
  }
}

BOOST_AUTO_TEST_CASE(before_a_session_exists_refusals_end_nothing) {
  agent_lab lab;
  lab.a.start(t0);

  refuse_until(lab, t0, t0 + 299s);

  BOOST_TEST(!lab.a.over());
}

BOOST_AUTO_TEST_CASE(an_explicit_reconnect_timeout_applies_to_refusals) {
  auto options = agent_lab::default_options();
  options.fence_after = without_limit;
  auto lab = open(returning_within(5s), options);
  lab.lose(t0);

  refuse_until(lab, t0, t0 + 60s);

  BOOST_TEST(!lab.a.over());
}

BOOST_AUTO_TEST_CASE(
    without_a_stated_return_time_refusals_end_the_session_at_the_heartbeat_timeout) {
  auto lab = open(returning_within(0s));
  lab.lose(t0);

  refuse_until(lab, t0, t0 + 30s - 1ns);
  BOOST_TEST(!lab.a.over());
  lab.a.connect_failed(t0 + 30s, 0, refused_by_address, true);
  lab.a.advance(t0 + 30s);
  BOOST_TEST(lab.a.over());
}

BOOST_AUTO_TEST_CASE(the_message_after_a_restart_names_what_is_lost) {
  auto lab = open(hello_answer());
  lab.a.call(t0, barrier("b"), 300s);
  lab.lose(t0 + 1s);
  lab.a.connected(t0 + 1s, 0);
  core::goodbye farewell{{errc::aborted, "session ended: the coordinator was restarted"}, false};
  farewell.restarted = true;

  lab.say(t0 + 1s, {{}, farewell});

  (void)lab.out();
  BOOST_TEST(lab.completions().at(0).what.outcome.text() ==
             "UNAVAILABLE: the coordinator at b12:8476 was restarted; its keys and barriers are "
             "gone");
  BOOST_TEST(lab.a.end().text() == lab.completions().at(0).what.outcome.text());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
