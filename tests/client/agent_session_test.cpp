// The session: connection loss and resume, goodbyes, leaving.

#include "coxswain/wire/ranges.hpp"
#include "tests/client/agent_lab.hpp"
#include "tests/main/contains.hpp"

#include <boost/test/unit_test.hpp>

namespace coxswain::test {
namespace {

std::string last_words(agent_lab const& lab, std::size_t i = 0) {
  return lab.completions().at(i).what.outcome.message();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(agent_resume)

BOOST_AUTO_TEST_CASE(a_lost_connection_is_replaced_at_once_and_the_session_resumed) {
  auto lab = agent_lab::open();
  lab.a.call(t0, core::get_args{"a", {}}, 300s);
  lab.a.call(t0, core::increment_args{"n", 1}, 300s);
  lab.reply(t0, 2, {{}, core::counter_answer{1, 1}});
  lab.a.call(t0, core::put_args{"b", "", false}, 300s);
  BOOST_TEST(lab.out() == "#1 get a 300 s | #2 increment n | #3 put b ack=1 | done #2 OK");

  BOOST_TEST(lab.lose(t0 + 1s).out() == "open | disconnected");
  BOOST_TEST(lab.connected(t0 + 3s / 2).out() == "resume 1,3 ack=1");
  auto const resume = std::get<core::resume_args>(lab.messages().at(0).what);
  BOOST_TEST(resume.session == session_id{7});
  BOOST_TEST((resume.secret == hello_answer().secret));
  BOOST_TEST(resume.coordinator == incarnation{99});

  BOOST_TEST(lab.say(t0 + 2s, unknown({})).out() == "reconnected after 1 s");
  BOOST_TEST(lab.a.reconnects() == 1u);

  lab.reply(t0 + 2s, 3);
  lab.a.call(t0 + 2s, core::put_args{"c", "", false}, 300s);
  BOOST_TEST(lab.out() == "#4 put c ack=2 | done #3 OK");
}

BOOST_AUTO_TEST_CASE(unknown_requests_are_resent_with_the_remaining_time) {
  auto lab = agent_lab::open();
  lab.a.call(t0, core::get_args{"a", {}}, 10s);
  lab.a.call(t0, core::get_args{"b", {}}, 10s);
  lab.a.call(t0, core::get_args{"c", {}}, without_limit);
  lab.lose(t0 + 2s);
  lab.a.call(t0 + 2s, core::get_args{"d", {}}, 10s);
  (void)lab.out();

  BOOST_TEST(lab.connected(t0 + 3s).out() == "resume 1,2,3");
  lab.a.call(t0 + 3s, core::get_args{"e", {}}, 10s);
  lab.say(t0 + 3s, unknown({request_id{1}, request_id{3}}));

  BOOST_TEST(lab.out() ==
             "#1 get a 7 s | #3 get c no limit | #4 get d 9 s | #5 get e 10 s | reconnected after "
             "1 s");
}

BOOST_AUTO_TEST_CASE(unsent_requests_unknown_to_the_coordinator_are_sent_once) {
  auto lab = agent_lab::open();
  lab.lose(t0);
  lab.a.call(t0, core::get_args{"a", {}}, 10s);
  (void)lab.out();

  lab.resume(t0, {request_id{1}});

  BOOST_TEST(lab.out() == "resume | #1 get a 10 s | reconnected after 0 ms");
}

BOOST_AUTO_TEST_CASE(an_invalid_reply_to_a_resume_is_retried) {
  for (core::answer const& what : {core::answer{{}, hello_answer()}, core::answer{}}) {
    auto lab = agent_lab::open();
    lab.lose(t0);
    BOOST_TEST(lab.connected(t0).out() == "resume | open | disconnected");

    BOOST_TEST(lab.say(t0, what).out() == "close");
    BOOST_TEST(lab.advance(*lab.a.next_deadline()) == "open");
  }
}

BOOST_AUTO_TEST_CASE(a_second_answer_to_the_handshake_ends_the_session) {
  for (core::answer const& again : {core::answer{{}, hello_answer()}, unknown({})}) {
    auto lab = agent_lab::open();

    BOOST_TEST(lab.say(t0, again).a.over());
    BOOST_TEST(contains(lab.a.end().message(), "a second reply to the handshake"));
  }
}

// Impossible values from a coordinator would make its clients wait forever.
BOOST_AUTO_TEST_CASE(an_out_of_range_hello_reply_ends_the_session) {
  constexpr auto longest = wire::stated_time_max;
  constexpr std::uint64_t largest = wire::message_bytes_max;
  auto const end_of = [](auto change) {
    agent_lab lab;
    lab.a.start(t0);
    lab.a.connected(t0, 0);
    auto given = hello_answer();
    change(given);
    lab.say(t0, {{}, given});
    return lab.a.end();
  };
  BOOST_TEST(end_of([&](auto& a) { a.heartbeat_period = a.heartbeat_timeout = longest; }).ok());
  BOOST_TEST(end_of([&](auto& a) { a.frame_bytes_max = a.value_bytes_max = largest; }).ok());
  BOOST_TEST(end_of([](auto& a) { a.num_tasks = wire::stated_tasks_max; }).ok());
  BOOST_TEST(end_of([](auto& a) { a.hosted_by_task = 3; }).ok());

  for (auto const& [why, text] : {
           std::pair{end_of([](auto& a) { a.heartbeat_period = without_limit; }),
                     "a heartbeat period of more than 30 days"},
           {end_of([&](auto& a) { a.heartbeat_period = longest + 1ms; }), "a heartbeat period"},
           {end_of([&](auto& a) { a.heartbeat_timeout = longest + 1ms; }), "a heartbeat timeout"},
           {end_of([&](auto& a) { a.reconnect_grace = longest + 1ms; }), "a reconnect grace"},
           {end_of([&](auto& a) { a.coordinator_return = longest + 1ms; }), "coordinator_return"},
           {end_of([&](auto& a) { a.suspect_after = longest + 1ms; }), "a suspect_after"},
           {end_of([&](auto& a) { a.frame_bytes_max = largest + 1; }),
            "frame_bytes_max 2147483648"},
           {end_of([&](auto& a) { a.value_bytes_max = largest + 1; }), "value_bytes_max"},
           {end_of([&](auto& a) { a.key_bytes_max = largest + 1; }), "key_bytes_max"},
           {end_of([](auto& a) { a.num_tasks = 0; }), "a job of 0 tasks"},
           {end_of([](auto& a) { a.num_tasks = 0xffff'ffff; }), "a job of 4294967295 tasks"},
           {end_of([](auto& a) { a.hosted_by_task = 4; }), "task 4 of 4"},
       }) {
    BOOST_TEST(why.code() == errc::failed_precondition);
    BOOST_TEST(contains(why.message(), text));
    BOOST_TEST(contains(why.message(), "the peer at b12:8476 states"));
  }
}

BOOST_AUTO_TEST_CASE(a_coordinator_of_a_lower_term_is_not_accepted) {
  auto lab = agent_lab::open();
  auto const term_seen = [&] {
    (void)lab.out();
    return std::get<core::resume_args>(lab.messages().at(0).what).term_seen;
  };
  auto const resumed_in = [&](time_point now, std::uint64_t term) {
    return lab.say(now, {{}, core::resume_answer{{}, term}}).out();
  };
  lab.lose(t0 + 1s).connected(t0 + 1s);
  BOOST_TEST(term_seen() == 0u);
  BOOST_TEST(resumed_in(t0 + 1s, 5) == "reconnected after 0 ms");

  lab.lose(t0 + 10s).connected(t0 + 10s);
  BOOST_TEST(term_seen() == 5u);
  BOOST_TEST(resumed_in(t0 + 10s, 4) == "close");

  lab.a.advance(t0 + 11s);
  lab.connected(t0 + 11s);
  BOOST_TEST(term_seen() == 5u);
  // An old coordinator states none.
  BOOST_TEST(resumed_in(t0 + 11s, 0) == "reconnected after 1 s");
}

BOOST_AUTO_TEST_CASE(each_resume_has_the_next_number) {
  auto lab = agent_lab::open();
  for (std::uint32_t number = 1; number < 4; ++number) {
    auto const now = t0 + number * 10s;
    lab.lose(now).connected(now);
    (void)lab.out();
    auto const resume = std::get<core::resume_args>(lab.messages().at(0).what);
    BOOST_TEST(resume.resume_count == number);
    static_cast<void>(lab.say(now, {{}, core::resume_answer{}}).out());
  }
}

BOOST_AUTO_TEST_CASE(reply_counting_continues_after_a_resume) {
  auto lab = agent_lab::open();
  lab.a.call(t0, core::increment_args{"n", 1}, 300s);
  lab.a.call(t0, core::increment_args{"n", 1}, 300s);
  lab.reply(t0, 1, {{}, core::counter_answer{1, 1}});
  lab.lose(t0);
  lab.resume(t0);
  BOOST_TEST(lab.out() ==
             "resume 2 ack=1 | open | done #1 OK | disconnected | reconnected after 0 "
             "ms");

  lab.reply(t0, 2, {{}, core::counter_answer{2, 2}});
  lab.a.call(t0, core::increment_args{"n", 1}, 300s);

  BOOST_TEST(lab.out() == "#3 increment n ack=2 | done #2 OK");
}

BOOST_AUTO_TEST_CASE(only_complete_frames_before_a_loss_count) {
  auto lab = agent_lab::open();
  lab.a.call(t0, core::get_args{"a", {}}, 300s);
  lab.a.call(t0, core::get_args{"b", {}}, 300s);
  (void)lab.out();
  auto const second = frame(request_id{2}, answer_of("v"));

  lab.a.received(t0, frame(request_id{1}, answer_of("v")) + second.substr(0, second.size() - 1));
  lab.lose(t0);
  lab.a.received(t0, second.substr(second.size() - 1));
  BOOST_TEST(lab.connected(t0).out() == "resume 2 ack=1 | open | done #1 OK | disconnected");
}

BOOST_AUTO_TEST_CASE(calls_that_do_not_fit_in_a_resume_end_as_unknown) {
  constexpr std::size_t many = 20'000;
  auto lab = agent_lab::open();
  for (std::size_t i = 0; i < many; ++i) lab.a.call(t0, core::get_args{"a", {}}, 300s);
  lab.lose(t0);
  (void)lab.out();

  lab.a.connected(t0, 0);
  (void)lab.out();

  std::string resume;
  wire::append_frame(resume, lab.messages().at(0));
  BOOST_TEST(resume.size() <= core::hello_frame_bytes_max);
  auto const named = std::get<core::resume_args>(lab.messages().at(0).what).open;
  BOOST_TEST(named.size() > 12'000u);
  BOOST_TEST(named.back() == request_id{named.size()});
  BOOST_TEST(lab.completions().size() == many - named.size());
  BOOST_TEST((lab.completions().at(0).what.outcome.code() == errc::unavailable));
  BOOST_TEST(last_words(lab).starts_with("outcome unknown"));
}

BOOST_AUTO_TEST_CASE(cancelled_calls_that_do_not_fit_in_a_resume_end_nothing) {
  constexpr std::size_t many = 20'000;
  auto lab = agent_lab::open();
  for (std::size_t i = 0; i < many; ++i) lab.a.call(t0, core::get_args{"a", {}}, 300s);
  lab.a.cancel(t0, request_id{many});
  lab.reply(t0, many, answer_of("v"));
  lab.lose(t0);
  (void)lab.out();

  lab.a.connected(t0, 0);
  (void)lab.out();

  auto const named = std::get<core::resume_args>(lab.messages().at(0).what).open;
  BOOST_TEST(lab.completions().size() == many - 1 - named.size());
  BOOST_TEST((lab.completions().back().call < request_id{many}));
}

BOOST_AUTO_TEST_CASE(unsent_bytes_are_dropped_with_their_connection) {
  auto lab = agent_lab::open();
  lab.a.call(t0, core::put_args{"k", "", false}, 300s);

  BOOST_TEST(lab.lose(t0).out() == "open | disconnected");
  BOOST_TEST(lab.connected(t0).out() == "resume 1");
}

BOOST_AUTO_TEST_CASE(a_call_cancelled_while_disconnected_is_not_resumed) {
  auto lab = agent_lab::open();
  lab.a.call(t0, core::get_args{"a", {}}, 300s);
  lab.a.call(t0, core::get_args{"b", {}}, 300s);
  lab.lose(t0);
  lab.a.call(t0, core::get_args{"c", {}}, 300s);
  (void)lab.out();

  lab.a.cancel(t0, request_id{1});
  lab.a.cancel(t0, request_id{3});
  BOOST_TEST(lab.resume(t0).out() == "resume 2 | reconnected after 0 ms");
}

BOOST_AUTO_TEST_CASE(a_call_cancelled_during_the_resume_is_cancelled_after_it) {
  auto lab = agent_lab::open();
  for (char const* key : {"a", "b", "c"}) lab.a.call(t0, core::get_args{key, {}}, 300s);
  lab.lose(t0);
  lab.a.connected(t0, 0);
  (void)lab.out();

  lab.a.cancel(t0, request_id{3});
  lab.a.cancel(t0, request_id{1});
  lab.say(t0, unknown({request_id{1}, request_id{2}}));

  BOOST_TEST(lab.out() == "#2 get b 300 s | cancel 3 | reconnected after 0 ms");
}

BOOST_AUTO_TEST_CASE(a_cancellation_crossing_its_reply_is_repeated_after_a_loss) {
  auto lab = agent_lab::open();
  lab.a.call(t0, core::pop_args{"q"}, 300s);
  lab.a.cancel(t0, request_id{1});
  lab.reply(t0, 1, answer_of("an item"));
  (void)lab.out();
  lab.lose(t0);
  lab.resume(t0);

  // The coordinator may not know that the item was not delivered, although its reply was counted.
  std::string const out = lab.out();
  BOOST_TEST(out.find("resume 1 ack=1") != out.npos, out);
  BOOST_TEST(out.find("cancel 1 ack=1") != out.npos, out);
}

BOOST_AUTO_TEST_CASE(a_cancellation_known_to_have_arrived_is_not_repeated) {
  auto lab = agent_lab::open();
  lab.a.call(t0, core::pop_args{"q"}, 300s);
  lab.a.cancel(t0, request_id{1});
  lab.reply(t0, 1, answer_of("an item"));
  lab.a.call(t0, core::try_get_args{"k"}, 300s);
  lab.reply(t0, 2, answer_of("a value"));
  (void)lab.out();
  lab.lose(t0);
  BOOST_TEST(lab.resume(t0).out().find("cancel") == std::string::npos);
}

// Final by §2.1, like a wrong token.
BOOST_AUTO_TEST_CASE(a_client_rejected_before_its_session_exists_does_not_retry) {
  status const why{errc::unauthenticated, "its certificate has expired"};
  for (bool const is_open : {false, true}) {
    agent_lab lab;
    lab.a.start(t0);
    if (is_open) lab.a.connected(t0, 0);
    (void)lab.out();

    lab.a.rejected(t0 + 1s, 0, why);

    BOOST_TEST(lab.out() == "close | ended UNAUTHENTICATED");
    BOOST_TEST(lab.a.over());
    BOOST_TEST(lab.a.end() == why);
  }
}

BOOST_AUTO_TEST_CASE(a_rejected_client_with_a_live_session_retries) {
  status const why{errc::unauthenticated, "its certificate has expired"};
  auto lab = agent_lab::open();
  lab.a.rejected(t0, 0, why);
  BOOST_TEST(lab.out() == "open | disconnected");
  lab.a.rejected(t0, 0, why);
  BOOST_TEST(lab.advance(*lab.a.next_deadline()) == "open");
  lab.a.connected(t0 + 1s, 0);
  lab.a.rejected(t0 + 1s, 0, why);
  lab.a.advance(*lab.a.next_deadline());

  BOOST_TEST(lab.resume(t0 + 2s).a.up());
}

BOOST_AUTO_TEST_CASE(a_rejection_without_a_transport_is_ignored) {
  auto lab = agent_lab::open();
  lab.lose(t0);
  lab.a.connect_failed(t0, 0, connection_refused, false);
  (void)lab.out();

  lab.a.rejected(t0, 0, connection_refused);

  BOOST_TEST(lab.out() == "");
}

BOOST_AUTO_TEST_CASE(the_reconnect_backoff_is_at_most_a_quarter_of_the_grace) {
  auto lab = agent_lab::open();
  lab.lose(t0 + 5s);
  auto longest = duration::zero();
  auto now = t0 + 5s;

  while (now < t0 + 30s) {
    lab.a.connect_failed(now, 0, connection_refused, false);
    auto const next = *lab.a.next_deadline();
    longest = std::max(longest, next - now);
    lab.a.advance(now = next);
  }

  BOOST_TEST((longest <= 500ms));
  BOOST_TEST((longest > 400ms));
}

BOOST_AUTO_TEST_CASE(a_reconnect_attempt_takes_at_most_half_of_the_grace) {
  auto lab = agent_lab::open();
  lab.lose(t0);
  BOOST_TEST(lab.connected(t0 + 500ms).out() == "resume | open | disconnected");
  BOOST_TEST(lab.advance(t0 + 1s - 1ns) == "");

  BOOST_TEST(lab.advance(t0 + 1s) == "close");
}

BOOST_AUTO_TEST_CASE(repeatedly_lost_connections_are_retried_with_backoff) {
  auto lab = agent_lab::open();
  auto now = t0;
  unsigned opened = 0;

  while (now < t0 + 10s) {
    lab.lose(now);
    if (!contains(lab.out(), "open")) {
      now = *lab.a.next_deadline();
      lab.a.advance(now);
      BOOST_TEST(contains(lab.out(), "open"));
    }
    ++opened;
    lab.resume(now);
  }

  BOOST_TEST(opened > 20u);
  BOOST_TEST(opened < 100u);
}

BOOST_AUTO_TEST_CASE(after_a_stable_connection_the_next_attempt_is_immediate) {
  auto lab = agent_lab::open();
  lab.lose(t0);
  lab.a.connect_failed(t0, 0, connection_refused, false);
  lab.a.advance(*lab.a.next_deadline());
  lab.resume(t0 + 1s);
  (void)lab.out();

  BOOST_TEST(lab.lose(t0 + 1501ms).out() == "open | disconnected");
}

BOOST_AUTO_TEST_CASE(an_outage_is_reported_once) {
  auto lab = agent_lab::open();
  BOOST_TEST(lab.lose(t0).out() == "open | disconnected");

  lab.a.connect_failed(t0, 0, connection_refused, false);
  lab.a.advance(*lab.a.next_deadline());
  lab.a.connected(t0 + 1s, 0);
  lab.lose(t0 + 1s);

  BOOST_TEST(!contains(lab.out(), "disconnected"));
}

BOOST_AUTO_TEST_CASE(malformed_input_ends_an_established_session) {
  auto lab = agent_lab::open();
  lab.a.call(t0, core::get_args{"a", {}}, 300s);
  (void)lab.out();

  lab.a.received(t0, std::string{"\0\0\0\1\xff", 5});

  BOOST_TEST(lab.out() == "close | done #1 UNAVAILABLE | ended UNAVAILABLE");
  BOOST_TEST(contains(last_words(lab),
                      "outcome unknown: the coordinator at b12:8476 "
                      "sent an invalid message"));
}

BOOST_AUTO_TEST_CASE(a_foreign_program_at_the_address_does_not_end_an_established_session) {
  auto lab = agent_lab::open();
  lab.lose(t0);
  lab.a.connected(t0, 0);
  (void)lab.out();

  lab.a.received(t0, "HTTP/1.1 400 Bad Request\r\n\r\n");

  BOOST_TEST(lab.out() == "close");
  BOOST_TEST(!lab.a.over());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(agent_goodbye)

BOOST_AUTO_TEST_CASE(a_goodbye_that_may_resume_is_reported_once_and_the_session_resumed) {
  auto lab = agent_lab::open();

  lab.say(t0 + 5s, goodbye(errc::unavailable, "moving", true));
  BOOST_TEST(lab.out() == "close | open | goodbye UNAVAILABLE");

  lab.a.connect_failed(t0 + 5s, 0, connection_refused, false);
  BOOST_TEST(lab.advance(*lab.a.next_deadline()) == "open");
  BOOST_TEST(lab.resume(t0 + 6s).out() == "resume | reconnected after 1 s");
}

BOOST_AUTO_TEST_CASE(a_final_goodbye_ends_the_session) {
  auto lab = agent_lab::open();
  lab.a.call(t0, core::get_args{"a", {}}, 300s);
  (void)lab.out();

  lab.say(t0, goodbye(errc::unavailable, "shutting down", false));

  BOOST_TEST(lab.out() == "close | done #1 UNAVAILABLE | goodbye UNAVAILABLE | ended UNAVAILABLE");
  BOOST_TEST(last_words(lab) ==
             "outcome unknown: the coordinator at b12:8476 has ended the "
             "session: UNAVAILABLE: shutting down");

  BOOST_TEST(lab.call(t0, core::put_args{"k", "", false}, 300s).out() == "done #2 UNAVAILABLE");
  BOOST_TEST(contains(last_words(lab), "has ended the session"));
}

// A goodbye replaces upstream's reply to the poll for errors (§2.6).
BOOST_AUTO_TEST_CASE(cancelled_poll_for_error_request_as_a_goodbye_that_may_resume_is_no_failure) {
  for (errc const code : {errc::cancelled, errc::unavailable, errc::internal}) {
    auto lab = agent_lab::open();
    lab.a.call(t0, core::get_args{"a", {}}, 300s);
    (void)lab.out();

    lab.say(t0 + 5s, goodbye(code, "moving", true));

    BOOST_TEST(lab.out() == "close | open | goodbye " + std::string{name(code)});
    BOOST_TEST(lab.completions().empty());
  }
}

BOOST_AUTO_TEST_CASE(
    invalid_poll_for_error_request_and_poll_for_error_request_with_failed_precondition_end_it) {
  for (errc const code : {errc::invalid_argument, errc::failed_precondition}) {
    auto lab = agent_lab::open();

    lab.say(t0 + 5s, goodbye(code, "no", false));
    BOOST_TEST(lab.out() == "close | goodbye " + std::string{name(code)} + " | ended UNAVAILABLE");

    lab.say(t0 + 6s, goodbye(code, "no", false));
    BOOST_TEST(lab.advance(t0 + 1h) == "");
  }
}

// Sharp edge 27.
BOOST_AUTO_TEST_CASE(a_report_that_may_not_have_arrived_does_not_succeed) {
  auto lab = agent_lab::open();
  lab.a.call(t0, core::report_error_args{{errc::internal, "boom"}}, 300s);
  (void)lab.out();
  lab.lose(t0);

  lab.a.advance(t0 + 30s);  // the fence
  (void)lab.out();

  BOOST_TEST_REQUIRE(lab.completions().size() == 1u);
  BOOST_TEST(lab.completions()[0].what.outcome.code() == errc::unavailable);
  BOOST_TEST(contains(last_words(lab), "outcome unknown: "));
}

BOOST_AUTO_TEST_CASE(an_ended_session_cannot_be_resumed) {
  auto lab = agent_lab::open();
  lab.a.call(t0, core::get_args{"a", {}}, 300s);
  lab.lose(t0);
  lab.a.call(t0, core::get_args{"b", {}}, 300s);
  lab.a.connected(t0, 0);
  (void)lab.out();

  lab.say(t0, goodbye(errc::aborted, "session ended", false));

  BOOST_TEST(lab.out() ==
             "close | done #1 UNAVAILABLE | done #2 UNAVAILABLE | goodbye ABORTED | "
             "ended UNAVAILABLE");
  BOOST_TEST(contains(last_words(lab, 0), "outcome unknown: "));
  BOOST_TEST(contains(last_words(lab, 0), "session ended"));
  BOOST_TEST(contains(last_words(lab, 1), " (this call was never sent)"));
}

BOOST_AUTO_TEST_CASE(a_resume_refused_for_lack_of_room_is_retried) {
  auto lab = agent_lab::open();
  lab.lose(t0 + 5s);
  lab.a.connected(t0 + 5s, 0);
  (void)lab.out();

  BOOST_TEST(lab.say(t0 + 5s, goodbye(errc::unavailable, "no room", false)).out() == "close");

  BOOST_TEST(lab.advance(*lab.a.next_deadline()) == "open");
}

BOOST_AUTO_TEST_CASE(an_agreement_is_reported_and_answered_with_a_call_for_the_task) {
  auto lab = agent_lab::open();

  BOOST_TEST(lab.say(t0, {{}, core::freeze_request{3}}).out() == "freeze 3");
  lab.a.call(t0, core::frozen_args{3, 7}, without_limit);

  BOOST_TEST(lab.out() == "#1 frozen");
  BOOST_TEST((lab.messages().at(0).task == task_id{1}));
}

BOOST_AUTO_TEST_CASE(after_bye_nothing_is_sent_or_read) {
  auto lab = agent_lab::open();
  lab.a.call(t0, core::get_args{"a", {}}, 300s);
  (void)lab.out();

  lab.a.bye(t0, true);
  BOOST_TEST(lab.out() == "bye abandoned | close | done #1 CANCELLED");

  lab.reply(t0, 1, answer_of("v"));
  lab.lose(t0);
  lab.a.advance(t0 + 1000s);
  lab.a.bye(t0 + 1000s, true);
  BOOST_TEST(lab.out() == "");
  BOOST_TEST((lab.a.next_deadline() == std::nullopt));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(agent_leave)

BOOST_AUTO_TEST_CASE(bye_acknowledges_the_reply_to_leave) {
  auto lab = agent_lab::open();
  lab.a.call(t0, core::leave_args{}, 300s);
  BOOST_TEST(lab.reply(t0, 1).out() == "#1 leave 300 s | done #1 OK");

  lab.a.bye(t0, false);

  BOOST_TEST(lab.out() == "bye ack=1 | close");
  lab.a.call(t0, core::put_args{"k", "", false}, 300s);
  BOOST_TEST(lab.out() == "done #2 FAILED_PRECONDITION");
  BOOST_TEST(last_words(lab) == "this client has left the job");
}

BOOST_AUTO_TEST_CASE(nothing_after_the_reply_to_leave_is_a_failure) {
  for (int what = 0; what < 3; ++what) {
    auto lab = agent_lab::open();
    lab.a.call(t0, core::join_args{}, 300s);
    lab.reply(t0, 1, {{}, core::join_answer{}});
    lab.a.call(t0, core::leave_args{}, 300s);
    (void)lab.out();

    auto const left = frame(request_id{2}, {});
    auto const goodbye_frame = frame({}, goodbye(errc::unavailable, "all have left", false));
    if (what == 0) lab.a.received(t0, left + goodbye_frame);
    if (what == 1) lab.a.received(t0, left);
    if (what == 1) lab.lose(t0);
    if (what == 2) lab.a.received(t0, left + std::string{"\0\0\0\1\xff", 5});

    BOOST_TEST(lab.out() == (what == 1 ? "done #2 OK" : "close | done #2 OK"));
    BOOST_TEST(lab.a.over());
    lab.a.bye(t0, false);
    BOOST_TEST(lab.out() == "");
  }
}

BOOST_AUTO_TEST_CASE(a_session_of_many_tasks_continues_until_all_have_left) {
  auto lab = agent_lab::open();
  lab.a.call(t0, core::join_args{}, 300s, task_id{0});
  lab.a.call(t0, core::join_args{}, 300s, task_id{1});
  lab.reply(t0, 1, {{}, core::join_answer{}});
  lab.reply(t0, 2, {{}, core::join_answer{}});
  lab.a.call(t0, core::leave_args{}, 300s, task_id{0});
  lab.reply(t0, 3);
  (void)lab.out();

  BOOST_TEST(lab.lose(t0).out() == "open | disconnected");
  lab.resume(t0);
  lab.a.call(t0, core::leave_args{}, 300s, task_id{1});
  lab.reply(t0, 4, {{errc::internal, "a task died"}, {}});
  (void)lab.out();
  BOOST_TEST(lab.lose(t0).out() == "");
  BOOST_TEST(lab.a.over());
}

BOOST_AUTO_TEST_CASE(a_refused_connection_while_leaving_completes_the_leave) {
  auto lab = agent_lab::open();
  lab.a.call(t0, core::leave_args{}, 300s);
  lab.lose(t0);
  (void)lab.out();

  lab.a.connect_failed(t0, 0, connection_refused, true);

  BOOST_TEST(lab.out() == "done #1 OK");
  BOOST_TEST(lab.a.over());
}

BOOST_AUTO_TEST_CASE(an_unreachable_host_while_leaving_does_not_complete_the_leave) {
  auto lab = agent_lab::open();
  lab.a.call(t0, core::leave_args{}, 300s);
  lab.lose(t0);
  (void)lab.out();

  lab.a.connect_failed(t0, 0, connection_refused, false);

  BOOST_TEST(lab.out() == "");
  BOOST_TEST(!lab.a.over());
}

BOOST_AUTO_TEST_CASE(an_unsent_leave_is_not_completed) {
  auto lab = agent_lab::open();
  lab.lose(t0);
  lab.a.call(t0, core::leave_args{}, 300s);
  (void)lab.out();

  lab.a.connect_failed(t0, 0, connection_refused, true);

  BOOST_TEST(!contains(lab.out(), "done"));
}

BOOST_AUTO_TEST_CASE(a_leave_is_not_completed_while_other_calls_are_open) {
  auto lab = agent_lab::open();
  lab.a.call(t0, core::get_args{"k", {}}, 300s);
  lab.a.call(t0, core::leave_args{}, 300s);
  lab.lose(t0);
  (void)lab.out();

  lab.a.connect_failed(t0, 0, connection_refused, true);

  BOOST_TEST(!contains(lab.out(), "done"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
