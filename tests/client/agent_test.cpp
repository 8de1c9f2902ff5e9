// Handshakes, and failures before a session exists.

#include "tests/client/agent_lab.hpp"
#include "tests/main/contains.hpp"

#include <boost/test/unit_test.hpp>

namespace coxswain::test {
namespace {

status end_of(agent_lab const& lab) { return lab.a.end(); }

core::join_args const join_with_hello{.self = incarnation{9}, .with_hello = true};

}  // namespace

BOOST_AUTO_TEST_SUITE(agent_handshake)

BOOST_FIXTURE_TEST_CASE(the_first_attempt_is_immediate_and_sends_hello, agent_lab) {
  a.start(t0);
  BOOST_TEST(out() == "open");

  a.connected(t0, 0);
  BOOST_TEST(out() == "hello");
  auto const hello = std::get<core::hello_args>(messages().at(0).what);
  BOOST_TEST(hello.version == core::protocol_version);
  BOOST_TEST(hello.job == "job");
  BOOST_TEST(hello.label == "me:1");

  say(t0, {{}, hello_answer()});
  BOOST_TEST(out() == "opened");
  BOOST_TEST(a.up());
  BOOST_TEST(a.session()->num_tasks == 4u);
}

BOOST_FIXTURE_TEST_CASE(calls_made_before_the_session_are_sent_once_it_exists, agent_lab) {
  a.start(t0);
  a.call(t0, core::increment_args{"n", 1}, 300s);
  a.call(t0, core::get_args{"k", {}}, 10s);
  a.connected(t0 + 1s, 0);
  BOOST_TEST(out() == "hello | open");

  say(t0 + 1s, {{}, hello_answer()});

  BOOST_TEST(out() == "#1 increment n | #2 get k 9 s | opened");
}

BOOST_FIXTURE_TEST_CASE(a_first_join_follows_the_hello_at_once_if_it_asks_for_it, agent_lab) {
  a.start(t0);
  call(t0, join_with_hello, 20s).call(t0, core::get_args{"k", {}}, 30s);
  BOOST_TEST(connected(t0 + 1s).out() == "hello | #1 join 20 s with hello | open");

  say(t0 + 2s, {{}, hello_answer()});

  BOOST_TEST(out() == "#2 get k 28 s | opened");
  BOOST_TEST(reply(t0 + 3s, 1).out() == "done #1 OK");
}

BOOST_FIXTURE_TEST_CASE(another_first_call_waits_for_the_hello_reply, agent_lab) {
  a.start(t0);
  call(t0, core::get_args{"k", {}}, 30s).call(t0, join_with_hello, 20s);
  BOOST_TEST(connected(t0 + 1s).out() == "hello | open");
  BOOST_TEST(say(t0 + 2s, {{}, hello_answer()}).out() == "#1 get k 28 s | #2 join 20 s | opened");

  agent_lab plain;
  plain.a.start(t0);
  plain.call(t0, core::join_args{incarnation{9}, {}}, 20s);
  BOOST_TEST(plain.connected(t0).out() == "hello | open");
  BOOST_TEST(plain.say(t0, {{}, hello_answer()}).out() == "#1 join 20 s | opened");
}

BOOST_FIXTURE_TEST_CASE(a_join_that_is_too_large_for_a_handshake_waits_for_the_reply, agent_lab) {
  core::join_args named = join_with_hello;
  named.member.assign(core::hello_frame_bytes_max, 'm');
  a.start(t0);
  call(t0, named, 20s);
  BOOST_TEST(connected(t0).out() == "hello | open");
  BOOST_TEST(say(t0, {{}, hello_answer()}).out() == "done #1 RESOURCE_EXHAUSTED | opened");
}

BOOST_AUTO_TEST_CASE(the_time_of_a_join_begins_with_the_session) {
  for (bool const with_hello : {true, false}) {
    agent_lab lab;
    lab.a.start(t0);
    auto join = join_with_hello;
    join.with_hello = with_hello;
    lab.call(t0, join, 20s).connected(t0 + 200s).say(t0 + 201s, {{}, hello_answer()});
    for (auto now = t0 + 201s; now < t0 + 222s; now += 1s) lab.say(now, {}).a.advance(now);
    BOOST_TEST(!contains(lab.out(), "done #1"));

    lab.a.advance(t0 + 222s);

    BOOST_TEST(contains(lab.out(), "done #1 DEADLINE_EXCEEDED"));
  }
}

BOOST_FIXTURE_TEST_CASE(a_join_whose_hello_got_no_reply_waits_for_the_next_one, agent_lab) {
  a.start(t0);
  call(t0, join_with_hello, 20s);
  BOOST_TEST(connected(t0).out() == "hello | #1 join 20 s with hello | open");
  lose(t0 + 1s).a.advance(t0 + 2s);
  BOOST_TEST(connected(t0 + 2s).out() == "hello | open");
  BOOST_TEST(say(t0 + 3s, {{}, hello_answer()}).out() == "#1 join 20 s | opened");

  BOOST_TEST(lose(t0 + 4s).out() == "open | disconnected");
  BOOST_TEST(connected(t0 + 4s).out() == "resume 1");
}

BOOST_AUTO_TEST_CASE(a_join_that_was_sent_with_hello_is_queued_again_after_a_loss) {
  auto options = agent_lab::default_options();
  options.queued_bytes_max = 65;  // the join has 64, the removal 65
  agent_lab lab{options};
  lab.a.start(t0);
  lab.call(t0, join_with_hello, 20s).connected(t0).call(t0, core::remove_args{"k"}, 30s);
  BOOST_TEST(lab.out() == "hello | #1 join 20 s with hello | open");
  lab.a.cancel(t0, request_id{2});
  lab.lose(t0 + 1s).call(t0 + 1s, core::remove_args{"k"}, 30s);
  BOOST_TEST(lab.out() == "done #3 RESOURCE_EXHAUSTED");
}

BOOST_FIXTURE_TEST_CASE(a_join_that_is_cancelled_before_the_reply_is_cancelled_after_it,
                        agent_lab) {
  a.start(t0);
  call(t0, join_with_hello, 20s).connected(t0).a.cancel(t0, request_id{1});
  BOOST_TEST(out() == "hello | #1 join 20 s with hello | open");

  BOOST_TEST(say(t0, {{}, hello_answer()}).out() == "cancel 1 | opened");
}

BOOST_FIXTURE_TEST_CASE(a_join_that_is_cancelled_after_a_loss_is_forgotten, agent_lab) {
  a.start(t0);
  call(t0, join_with_hello, 20s).connected(t0).lose(t0 + 1s).a.cancel(t0 + 1s, request_id{1});
  (void)advance(t0 + 2s);
  BOOST_TEST(connected(t0 + 2s).out() == "hello");
  BOOST_TEST(say(t0 + 2s, {{}, hello_answer()}).out() == "opened");
}

BOOST_FIXTURE_TEST_CASE(a_join_ends_with_the_attempt_to_connect, agent_lab) {
  a.start(t0);
  call(t0, join_with_hello, 20s);
  BOOST_TEST(connected(t0).out() == "hello | #1 join 20 s with hello | open");
  BOOST_TEST(say(t0, goodbye(errc::unauthenticated, "wrong token", false)).out() ==
             "close | done #1 UNAVAILABLE | ended UNAUTHENTICATED");
}

BOOST_AUTO_TEST_CASE(connecting_is_retried_with_backoff_up_to_a_second_until_its_deadline) {
  auto options = agent_lab::default_options();
  options.connect_timeout = 60s;
  agent_lab lab{options};
  lab.a.start(t0);
  auto now = t0;
  auto longest = duration::zero();
  unsigned tries = 0;

  while (!lab.a.over()) {
    if (lab.out() == "open") {
      ++tries;
      lab.a.connect_failed(now, 0, connection_refused, true);
      BOOST_TEST(lab.out() == "");
    }
    auto const next = lab.a.next_deadline();
    if (!next) break;
    longest = std::max(longest, *next - now);
    now = *next;
    lab.a.advance(now);
  }

  BOOST_TEST((now == t0 + 60s));
  BOOST_TEST((longest <= 1s));
  BOOST_TEST((longest > 900ms));
  BOOST_TEST(end_of(lab).code() == errc::deadline_exceeded);
  BOOST_TEST(end_of(lab).message() == "no coordinator could be reached at b12:8476 within 60 s (" +
                                          std::to_string(tries) +
                                          " tries); last error: UNAVAILABLE: connection refused");
}

BOOST_FIXTURE_TEST_CASE(connect_deadline_is_exact, agent_lab) {
  a.start(t0);
  a.connected(t0 + 299s, 0);
  a.advance(t0 + 300s - 1ns);
  BOOST_TEST(!a.over());

  a.advance(t0 + 300s);

  BOOST_TEST(a.over());
  BOOST_TEST(out() == "open | close | ended DEADLINE_EXCEEDED");
  BOOST_TEST((a.next_deadline() == std::nullopt));
}

BOOST_FIXTURE_TEST_CASE(a_connection_attempt_takes_at_most_ten_seconds, agent_lab) {
  a.start(t0);
  BOOST_TEST(out() == "open");
  a.advance(t0 + 10s - 1ns);
  BOOST_TEST(out() == "");
  BOOST_TEST((a.next_deadline() == t0 + 10s));

  a.advance(t0 + 10s);
  BOOST_TEST(out() == "close");

  a.advance(*a.next_deadline());
  BOOST_TEST(out() == "open");
}

BOOST_FIXTURE_TEST_CASE(results_of_an_abandoned_attempt_are_ignored, agent_lab) {
  a.start(t0);
  a.advance(t0 + 10s);
  BOOST_TEST(out() == "open | close");
  auto const next = a.next_deadline();

  a.connect_failed(t0 + 10s, 0, connection_refused, true);
  a.connected(t0 + 10s, 0);

  BOOST_TEST(out() == "");
  BOOST_TEST((a.next_deadline() == next));
}

BOOST_AUTO_TEST_CASE(a_host_that_never_replied_is_named_without_an_error) {
  auto options = agent_lab::default_options();
  options.connect_timeout = 5s;
  agent_lab lab{options};
  lab.a.start(t0);
  lab.a.reached(0, attempt_stage::connecting);

  lab.a.advance(t0 + 5s);

  BOOST_TEST(end_of(lab).message() ==
             "no coordinator could be reached at b12:8476 within 5 s (1 try); last error: "
             "UNAVAILABLE: no response to the connection attempt");
}

BOOST_FIXTURE_TEST_CASE(transport_progress_does_not_answer_the_handshake, agent_lab) {
  a.start(t0);
  a.connected(t0, 0);
  a.write_progressed(t0 + 9s);
  BOOST_TEST(out() == "hello | open");

  a.advance(t0 + 10s);

  BOOST_TEST(out() == "close");
}

BOOST_FIXTURE_TEST_CASE(a_silent_peer_counts_as_no_answer, agent_lab) {
  a.start(t0);
  a.connected(t0 + 4s, 0);
  BOOST_TEST(out() == "hello | open");

  a.advance(t0 + 10s);

  BOOST_TEST(out() == "close");
}

BOOST_AUTO_TEST_CASE(a_permanent_refusal_is_final) {
  for (errc const code : {errc::failed_precondition, errc::unauthenticated, errc::invalid_argument,
                          errc::permission_denied}) {
    agent_lab lab;
    lab.a.start(t0);
    BOOST_TEST(lab.connected(t0).out() == "hello | open");

    lab.say(t0, goodbye(code, "not you", false));

    BOOST_TEST(lab.out() == "close | ended " + std::string{name(code)});
    BOOST_TEST(end_of(lab).code() == code);
    BOOST_TEST(end_of(lab).message() == "not you (reported by the coordinator at b12:8476)");
  }
}

BOOST_AUTO_TEST_CASE(a_refusal_without_a_reason_is_no_coordinators) {
  agent_lab lab;
  lab.a.start(t0);
  lab.a.connected(t0, 0);

  lab.say(t0, goodbye(errc::ok, "", false));

  BOOST_TEST(lab.out() == "open | close");
  BOOST_TEST(!lab.a.over());
  lab.a.advance(t0 + 300s);
  BOOST_TEST(contains(end_of(lab).message(), "a Goodbye without a reason"));
}

BOOST_AUTO_TEST_CASE(a_refusal_of_a_version_1_coordinator_is_shown_unchanged) {
  agent_lab lab;
  lab.a.start(t0);
  lab.a.connected(t0, 0);
  std::string const reason = "the client speaks protocol version 2, this coordinator version 1";
  auto const size = static_cast<char>(reason.size());

  // Goodbye{code: FAILED_PRECONDITION, reason: ...}
  std::string const goodbye = std::string{"\x08\x09\x12"} + size + reason;
  std::string const message = '\x6a' + (static_cast<char>(goodbye.size()) + goodbye);
  lab.a.received(t0, std::string(3, '\0') + (static_cast<char>(message.size()) + message));

  BOOST_TEST(end_of(lab).code() == errc::failed_precondition);
  BOOST_TEST(end_of(lab).message() == reason + " (reported by the coordinator at b12:8476)");
}

BOOST_AUTO_TEST_CASE(an_unavailable_coordinator_is_retried_and_named_at_the_deadline) {
  agent_lab lab;
  lab.a.start(t0);
  lab.a.connected(t0, 0);
  lab.say(t0, goodbye(errc::unavailable, "an old coordinator is still there", false));
  BOOST_TEST(lab.out() == "open | close");
  BOOST_TEST(!lab.a.over());

  lab.a.advance(t0 + 300s);

  BOOST_TEST(end_of(lab).code() == errc::deadline_exceeded);
  BOOST_TEST(contains(end_of(lab).message(), "an old coordinator is still there"));
}

BOOST_AUTO_TEST_CASE(
    connect_aborted_error_should_be_retried_as_connect_internal_error_should_be_retried) {
  for (errc const code : {errc::aborted, errc::internal, errc::cancelled, errc::deadline_exceeded,
                          errc::resource_exhausted}) {
    agent_lab lab;
    lab.a.start(t0);
    for (int i = 0; i < 2; ++i) {
      lab.a.connected(t0 + i * 1s, 0);
      lab.say(t0 + i * 1s, goodbye(code, "not now", false));
      BOOST_TEST(lab.advance(t0 + (i + 1) * 1s) ==
                 (i == 0 ? "open | close | open" : "close | open"));
    }

    lab.a.connected(t0 + 2s, 0);
    BOOST_TEST(lab.say(t0 + 2s, {{}, hello_answer()}).out() == "hello | opened");
  }
}

BOOST_AUTO_TEST_CASE(
    connect_aborted_error_should_fail_eventually_with_deadline_exceeded_that_names_it) {
  agent_lab lab;
  lab.a.start(t0);
  lab.a.connected(t0, 0);
  lab.say(t0, goodbye(errc::aborted, "not now", false));

  lab.a.advance(t0 + 300s);

  BOOST_TEST(end_of(lab).code() == errc::deadline_exceeded);
  BOOST_TEST(contains(end_of(lab).message(), "ABORTED: not now"));
}

BOOST_AUTO_TEST_CASE(a_port_of_another_program_is_retried) {
  agent_lab lab;
  lab.a.start(t0);
  BOOST_TEST(lab.connected(t0).out() == "hello | open");

  lab.a.received(t0, "HTTP/1.1 400 Bad Request\r\n\r\n");

  BOOST_TEST(lab.out() == "close");
  lab.a.advance(t0 + 300s);
  BOOST_TEST(contains(end_of(lab).message(), "does not speak the protocol: The peer speaks HTTP"));
}

BOOST_FIXTURE_TEST_CASE(a_first_message_other_than_a_hello_reply_is_retried, agent_lab) {
  a.start(t0);
  a.connected(t0, 0);
  BOOST_TEST(out() == "hello | open");

  say(t0, unknown({}));

  BOOST_TEST(out() == "close");
  BOOST_TEST(!a.over());
}

BOOST_FIXTURE_TEST_CASE(a_retryable_refusal_is_retried_whatever_its_code, agent_lab) {
  a.start(t0);
  a.connected(t0, 0);
  BOOST_TEST(out() == "hello | open");

  say(t0, goodbye(errc::failed_precondition, "later", true));

  BOOST_TEST(out() == "close");
  a.advance(*a.next_deadline());
  BOOST_TEST(out() == "open");
}

BOOST_FIXTURE_TEST_CASE(a_connection_lost_in_the_handshake_is_retried_without_an_event, agent_lab) {
  a.start(t0);
  a.connected(t0, 0);
  BOOST_TEST(out() == "hello | open");

  lose(t0);
  a.advance(*a.next_deadline());

  BOOST_TEST(out() == "open");
}

BOOST_AUTO_TEST_CASE(frames_may_be_split_anywhere) {
  std::string const stream = frame({}, {{}, hello_answer()}) +
                             frame(request_id{1}, answer_of("v")) + frame({}, {{}, core::probe{}}) +
                             frame(request_id{2}, {});
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    agent_lab lab;
    lab.a.start(t0);
    lab.a.call(t0, core::get_args{"k", {}}, 300s);
    lab.a.call(t0, core::put_args{"k", "v", false}, 300s);
    lab.a.connected(t0, 0);

    lab.a.received(t0, stream.substr(0, cut));
    lab.a.received(t0, stream.substr(cut));

    BOOST_TEST(lab.out() ==
               "hello | #1 get k 300 s | #2 put k | heartbeat ack=1 | open | done #1 OK | done #2 "
               "OK | opened");
  }
}

BOOST_AUTO_TEST_CASE(same_input_gives_the_same_output) {
  std::string transcripts[2];
  for (auto& transcript : transcripts) {
    agent_lab lab;
    lab.a.start(t0);
    auto now = t0;
    for (int i = 0; i < 100; ++i) {
      transcript += lab.out() + "@" + std::to_string(now.time_since_epoch().count()) + "\n";
      lab.a.connect_failed(now, 0, connection_refused, true);
      now = *lab.a.next_deadline();
      lab.a.advance(now);
    }
  }

  BOOST_TEST(transcripts[0] == transcripts[1]);
}

BOOST_FIXTURE_TEST_CASE(bye_is_sent_during_the_handshake, agent_lab) {
  a.start(t0);
  a.connected(t0, 0);

  a.bye(t0, true);

  BOOST_TEST(out() == "hello | bye abandoned | open | close");
  BOOST_TEST(a.over());
}

BOOST_FIXTURE_TEST_CASE(bye_ends_an_attempt_to_connect, agent_lab) {
  a.start(t0);
  BOOST_TEST(out() == "open");

  a.bye(t0, true);

  BOOST_TEST(out() == "close");
  a.connected(t0, 0);
  a.advance(t0 + 1000s);
  BOOST_TEST(out() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
