// The client's side, mostly against our server.

#include "coxswain/http2/client_session.hpp"
#include "coxswain/http2/status_fields.hpp"
#include "tests/http2/conversation.hpp"
#include "tests/http2/frames.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::http2 {
namespace {

using test::frame;
using test::frame_type;
using test::take;

constexpr std::string_view method = "/p.Service/Method";

call_start to_method() {
  call_start how;
  how.path = method;
  return how;
}

// A client whose first call has begun, and the events that input causes.
struct client_harness {
  client_harness() {
    BOOST_REQUIRE((client.start(to_method(), "question") == stream_id{1}));
    std::string out;
    client.append_output(out, 100'000);
    client.receive(test::t0, frame(frame_type::settings, 0, 0), events);
  }

  void feed(std::string_view bytes) { client.receive(test::t0, bytes, events); }

  void feed_headers(test::fields const& fields, bool ends) {
    feed(frame(frame_type::headers, ends ? test::end_headers | test::end_stream : test::end_headers,
               1, test::header_block(fields)));
  }

  client_session client;
  std::vector<client_event> events;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(client_session_test)

BOOST_AUTO_TEST_CASE(a_call_gets_a_reply_and_a_status) {
  test::pair both;
  auto how = to_method();
  how.timeout = 5s;
  auto const asked = both.ask(how, "question");
  BOOST_TEST(asked.path == method);
  BOOST_TEST(asked.message == "question");
  BOOST_TEST((asked.timeout == 5s));

  BOOST_TEST(both.server.reply(asked.stream, "ans", bytes{"wer"}));
  both.exchange();
  auto const reply = take<reply_message>(both.client_events);
  BOOST_TEST(reply.stream == asked.stream);
  BOOST_TEST(reply.message == "answer");
  BOOST_TEST(both.end().outcome == status{});
  BOOST_TEST(both.client.streams() == 0u);
}

BOOST_AUTO_TEST_CASE(a_call_has_its_metadata) {
  test::pair both;
  std::array const metadata{header_field{"hasleader", "true"}, header_field{"user-agent", "rower"}};
  auto how = to_method();
  how.metadata = metadata;
  both.ask(how, "question");

  BOOST_TEST(both.server.user_agent() == "rower");
}

BOOST_AUTO_TEST_CASE(an_error_has_its_code_text_and_details) {
  test::pair both;
  auto const asked = both.ask(to_method(), "");
  BOOST_TEST(both.server.fail(asked.stream, errc::not_found, "no k\xc3\xa9y 50%", "\x00\xff"));

  auto const ended = both.end();
  BOOST_TEST(ended.outcome == (status{errc::not_found, "no k\xc3\xa9y 50%"}));
  BOOST_TEST(ended.details == "\x00\xff");
  BOOST_TEST(!ended.is_unseen);
}

BOOST_AUTO_TEST_CASE(the_trailers_of_an_error_fit_the_clients_limit) {
  test::pair both;
  auto const asked = both.ask(to_method(), "");
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += "\xe2\x82\xac";
  BOOST_TEST(both.server.fail(asked.stream, errc::internal, text, std::string(4'096, 'd')));
  auto const before = both.bytes_to_client;

  auto const ended = both.end();
  BOOST_TEST(both.bytes_to_client - before < header_block_bytes_max);
  BOOST_TEST(ended.outcome.message().ends_with("\xe2\x82\xac..."));
  BOOST_TEST(ended.details == std::string(4'096, 'd'));
}

BOOST_AUTO_TEST_CASE(messages_are_compressed_where_that_makes_them_shorter) {
  test::pair both;
  auto how = to_method();
  how.compresses = true;
  BOOST_TEST(both.ask(how, "abc").message == "abc");
  auto const before = both.bytes_to_server;
  std::string const content(20'000, 'x');

  BOOST_TEST(both.ask(how, content).message == content);
  BOOST_TEST(both.bytes_to_server - before < 500u);
}

BOOST_AUTO_TEST_CASE(a_cancelled_call_produces_no_further_events) {
  test::pair both;
  auto const asked = both.ask(to_method(), "");
  both.client.cancel(asked.stream);
  both.exchange();

  BOOST_TEST((take<call_cancelled>(both.server_events).why == error_code::cancel));
  BOOST_TEST(both.client_events.empty());
  BOOST_TEST(both.client.streams() == 0u);
}

BOOST_AUTO_TEST_CASE(a_call_can_be_cancelled_before_it_is_sent) {
  test::pair both;
  auto const id = both.client.start(to_method(), "");
  both.client.cancel(id.value());
  both.exchange();

  BOOST_TEST(both.server_events.empty());
  BOOST_TEST(both.client_events.empty());
  BOOST_TEST(both.client.streams() == 0u);
}

BOOST_AUTO_TEST_CASE(many_calls_are_open_at_once) {
  test::pair both;
  for (int i = 0; i < 1'000; ++i) BOOST_REQUIRE(both.client.start(to_method(), "").has_value());
  both.exchange();

  BOOST_TEST(both.server_events.size() == 1'000u);
}

BOOST_AUTO_TEST_CASE(a_unary_call_to_a_server_has_one_request_message) {
  test::pair both;
  auto how = to_method();
  how.stays_open = true;
  auto const id = both.client.start(how, "a").value();
  both.exchange();
  BOOST_TEST(both.server_events.empty());
  both.client.send(id, "b");

  BOOST_TEST(both.end().outcome.code() == errc::internal);
  BOOST_TEST(both.server_events.empty());
}

BOOST_AUTO_TEST_CASE(a_streaming_call_ends_with_its_last_message) {
  client_harness h;
  auto how = to_method();
  how.stays_open = true;
  auto const id = h.client.start(how, "a").value();
  h.client.send(id, "b", true);
  h.client.send(id, "ignored");
  std::string out;
  h.client.append_output(out, 100'000);

  std::string body;
  for (auto const& one : test::read_frames(out)) {
    if (one.type == frame_type::data) body += one.payload;
  }
  BOOST_TEST(body == test::message("a") + test::message("b"));
}

BOOST_AUTO_TEST_CASE(a_call_can_have_several_messages) {
  client_harness h;
  h.feed_headers({{":status", "200"}, {"content-type", "application/grpc"}}, false);
  auto const body = test::message("a") + test::message("") + test::message("c");
  for (char const c : body) h.feed(frame(frame_type::data, 0, 1, std::string(1, c)));

  for (auto const expected : {"a", "", "c"}) {
    BOOST_TEST(take<reply_message>(h.events).message == expected);
  }
  h.feed_headers({{"grpc-status", "14"}, {"grpc-message", "over"}}, true);
  BOOST_TEST(take<call_ended>(h.events).outcome == (status{errc::unavailable, "over"}));
}

BOOST_AUTO_TEST_CASE(a_peer_that_does_not_speak_grpc_is_an_error) {
  client_harness h;
  h.feed_headers({{":status", "503"}, {"content-type", "text/html"}}, true);

  auto const ended = take<call_ended>(h.events);
  BOOST_TEST(ended.outcome.code() == errc::unavailable);
  BOOST_TEST(ended.outcome.message() ==
             "the peer answered with HTTP status 503 and does not speak gRPC");
}

BOOST_AUTO_TEST_CASE(a_reset_stream_ends_its_call) {
  for (auto const& [code, expected] : {std::pair{7u, errc::unavailable},
                                       {8u, errc::cancelled},
                                       {11u, errc::resource_exhausted},
                                       {1u, errc::internal}}) {
    client_harness h;
    h.feed(frame(frame_type::reset, 0, 1, test::number(code, 4)));
    auto const ended = take<call_ended>(h.events);
    BOOST_TEST(ended.outcome.code() == expected);
    BOOST_TEST(ended.is_unseen == (code == 7));
  }
}

BOOST_AUTO_TEST_CASE(a_reply_above_the_limit_fails_only_its_call) {
  limits small;
  small.message_bytes_max = 1'000;
  test::pair both{limits{}, small};
  auto const first = both.ask(to_method(), "");
  auto const second = both.ask(to_method(), "");
  BOOST_TEST(both.server.reply(first.stream, std::string(1'001, 'x')));
  BOOST_TEST(both.server.reply(second.stream, std::string(1'000, 'x')));
  both.exchange();

  BOOST_TEST(take<call_ended>(both.client_events).outcome.code() == errc::resource_exhausted);
  BOOST_TEST(take<reply_message>(both.client_events).message.size() == 1'000u);
  BOOST_TEST(take<call_ended>(both.client_events).outcome.ok());
  BOOST_TEST(both.server.streams() == 0u);
}

BOOST_AUTO_TEST_CASE(both_sides_answer_pings) {
  test::pair both;
  both.server.ping(0x0123'4567'89ab'cdef);
  both.client.ping(7);
  both.exchange();

  BOOST_TEST(take<ping_answer>(both.server_events).payload == 0x0123'4567'89ab'cdefu);
  BOOST_TEST(take<ping_answer>(both.client_events).payload == 7u);
}

BOOST_AUTO_TEST_CASE(open_calls_continue_after_a_goaway_of_the_server) {
  test::pair both;
  auto const asked = both.ask(to_method(), "");
  both.server.go_away(stream_id{2'147'483'647}, error_code::no_error, "restart");
  both.exchange();
  auto const goodbye = take<peer_goodbye>(both.client_events);
  BOOST_TEST(goodbye.text == "restart");
  BOOST_TEST((goodbye.why == error_code::no_error));
  BOOST_TEST(!both.client.start(to_method(), "").has_value());

  BOOST_TEST(both.server.reply(asked.stream, "answer"));
  both.exchange();
  BOOST_TEST(take<reply_message>(both.client_events).message == "answer");
}

BOOST_AUTO_TEST_CASE(a_goaway_returns_the_calls_that_the_server_did_not_process) {
  test::pair both;
  auto const asked = both.ask(to_method(), "");
  both.server.go_away(stream_id{0}, error_code::no_error, "");
  both.exchange();

  take<peer_goodbye>(both.client_events);
  auto const ended = take<call_ended>(both.client_events);
  BOOST_TEST(ended.outcome.code() == errc::unavailable);
  BOOST_TEST(ended.is_unseen);
  BOOST_TEST(both.server_events.empty());
  BOOST_TEST(!both.server.reply(asked.stream, ""));
}

BOOST_AUTO_TEST_CASE(a_client_sends_goaway) {
  test::pair both;
  auto const asked = both.ask(to_method(), "");
  both.client.go_away(stream_id{0}, error_code::no_error, "that is all");
  both.exchange();

  BOOST_TEST(take<peer_goodbye>(both.server_events).text == "that is all");
  BOOST_TEST(both.server.reply(asked.stream, "answer"));
  both.exchange();
  BOOST_TEST(take<reply_message>(both.client_events).message == "answer");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::http2
