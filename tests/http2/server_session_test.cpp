// The server's side, fed with bytes as XLA's clients send them.

#include "coxswain/http2/server_session.hpp"
#include "coxswain/http2/gzip.hpp"
#include "tests/http2/conversation.hpp"
#include "tests/http2/frames.hpp"
#include "tests/main/contains.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace coxswain::http2 {
namespace {

using test::frame;
using test::frame_type;
using test::header_block;
using test::hex;
using test::server_harness;

constexpr auto end_of_headers = test::end_headers;
constexpr auto end_of_all = test::end_headers | test::end_stream;

// The first bytes of a client of gRPC 1.51.1.
std::string golden_preface() {
  return hex(
      "505249202a20485454502f322e300d0a0d0a534d0d0a0d0a"
      "000024 04 00 00000000 0002 00000000 0003 00000000 0004 003fffff 0005 003fffff"
      "0006 00002000 fe03 00000001"
      "000004 08 00 00000000 003f0000");
}

// A call with another value of one field.
test::fields fields_with(std::string_view name, std::string_view value) {
  auto fields = test::call_fields("/p.Service/Method");
  for (auto& field : fields) {
    if (field.first == name) field.second = value;
  }
  return fields;
}

std::string headers(std::uint32_t stream, test::fields const& fields) {
  return frame(frame_type::headers, end_of_headers, stream, header_block(fields));
}

// Expects one frame of headers that ends the stream and contains this text; `resets`: the client
// need not send the rest.
void check_refusal(std::vector<test::read_frame> const& frames, std::string_view text,
                   bool resets = false) {
  BOOST_REQUIRE(frames.size() == (resets ? 2u : 1u));
  BOOST_TEST((frames[0].type == frame_type::headers));
  BOOST_TEST(int{frames[0].flags} == end_of_all);
  BOOST_TEST((frames[0].payload.find(text) != std::string::npos), frames[0].payload);
  if (!resets) return;
  BOOST_TEST((frames[1].type == frame_type::reset));
  BOOST_TEST(frames[1].payload == test::number(0, 4));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(server_session_test)

BOOST_AUTO_TEST_CASE(a_server_sends_its_settings_first) {
  server_session server;
  std::string out;
  server.append_output(out, 1'000);

  auto const frames = test::read_frames(out);
  BOOST_REQUIRE(frames.size() == 2u);
  BOOST_TEST((frames[0].type == frame_type::settings));
  BOOST_TEST(frames[0].payload == hex("0009 00000001 0003 00001080 0006 00004000"));
  BOOST_TEST((frames[1].type == frame_type::window_update));
  BOOST_TEST(!server.wants_write());
}

BOOST_AUTO_TEST_CASE(a_call_by_a_grpc_client_is_answered) {
  server_harness h;
  h.feed(golden_preface() + test::whole_call(1, "/p.Service/Method", "question"));
  auto const asked = h.take<call>();
  BOOST_TEST(asked.path == "/p.Service/Method");
  BOOST_TEST(asked.message == "question");
  BOOST_TEST(!asked.timeout);
  BOOST_TEST(h.server.user_agent() == "grpc-c++/1.51.1 grpc-c/29.0.0 (linux; chttp2)");
  h.output();

  BOOST_TEST(h.server.reply(asked.stream, "answer"));
  auto const frames = h.output();
  BOOST_REQUIRE(frames.size() == 3u);
  BOOST_TEST((frames[0].type == frame_type::headers));
  BOOST_TEST(frames[0].payload == ":status: 200\ncontent-type: application/grpc\n");
  BOOST_TEST((frames[1].type == frame_type::data));
  BOOST_TEST(frames[1].payload == test::message("answer"));
  BOOST_TEST(frames[2].payload == "grpc-status: 0\n");
  BOOST_TEST(int{frames[2].flags} == end_of_all);
  BOOST_TEST(h.server.streams() == 0u);
  BOOST_TEST(!h.server.reply(asked.stream, "again"));
}

BOOST_AUTO_TEST_CASE(an_error_is_one_frame_of_headers) {
  server_harness h;
  h.feed(golden_preface() + test::whole_call(1, "/p.Service/Method", ""));
  h.output();

  BOOST_TEST(h.server.fail(h.take<call>().stream, errc::not_found, "no such key", "details"));
  check_refusal(h.output(),
                ":status: 200\ncontent-type: application/grpc\ngrpc-status: 5\n"
                "grpc-message: no such key\ngrpc-status-details-bin: ZGV0YWlscw\n");
  BOOST_TEST(h.server.streams() == 0u);
}

BOOST_AUTO_TEST_CASE(a_cancellation_is_reported) {
  server_harness h;
  h.feed(golden_preface() + test::whole_call(1, "/p.Service/Method", ""));
  auto const asked = h.take<call>();
  h.feed(frame(frame_type::reset, 0, 1, test::number(8, 4)));

  auto const cancelled = h.take<call_cancelled>();
  BOOST_TEST(cancelled.stream == asked.stream);
  BOOST_TEST((cancelled.why == error_code::cancel));
  BOOST_TEST(!h.server.reply(asked.stream, "too late"));
}

BOOST_AUTO_TEST_CASE(a_call_cancelled_before_it_is_complete_is_not_reported) {
  server_harness h;
  h.feed(test::preface() + headers(1, test::call_fields("/p.Service/Method")) +
         frame(frame_type::data, 0, 1, test::message("abc").substr(0, 6)) +
         frame(frame_type::reset, 0, 1, test::number(8, 4)));

  BOOST_TEST(h.events.empty());
  BOOST_TEST(h.server.streams() == 0u);
}

BOOST_AUTO_TEST_CASE(a_message_may_end_with_an_empty_frame) {
  server_harness h;
  h.feed(test::preface() + headers(1, test::call_fields("/p.Service/Method")) +
         frame(frame_type::data, 0, 1, test::message("abc")));
  BOOST_TEST(h.events.empty());

  h.feed(frame(frame_type::data, test::end_stream, 1));
  BOOST_TEST(h.take<call>().message == "abc");
}

BOOST_AUTO_TEST_CASE(a_timeout_is_passed_on) {
  server_harness h;
  auto fields = test::call_fields("/p.Service/Method");
  fields.emplace_back("grpc-timeout", "306S");
  h.feed(test::preface() + headers(1, fields) +
         frame(frame_type::data, test::end_stream, 1, test::message("")));
  BOOST_TEST((h.take<call>().timeout == 306s));

  fields.back().second = "soon";
  h.feed(headers(3, fields));
  check_refusal(h.output(), "grpc-status: 3\n", true);
}

BOOST_AUTO_TEST_CASE(a_request_that_is_not_grpc_gets_an_http_error_and_affects_no_others) {
  server_harness h;
  h.feed(test::preface() + headers(1, fields_with("content-type", "text/html")));
  check_refusal(h.output(), ":status: 415\n", true);
  h.feed(headers(3, fields_with("content-type", "application/grpcx")));
  check_refusal(h.output(), ":status: 415\n", true);
  h.feed(headers(5, fields_with(":method", "GET")));
  check_refusal(h.output(), ":status: 405\n", true);

  h.feed(headers(7, fields_with("content-type", "application/grpc+proto")) +
         frame(frame_type::data, test::end_stream, 7, test::message("")));
  BOOST_TEST(h.take<call>().stream == stream_id{7});
}

BOOST_AUTO_TEST_CASE(a_unary_call_has_exactly_one_message) {
  server_harness h;
  auto const begun = [](std::uint32_t stream) {
    return headers(stream, test::call_fields("/p.Service/Method"));
  };
  h.feed(test::preface() + begun(1) + frame(frame_type::data, test::end_stream, 1));
  check_refusal(h.output(), "grpc-status: 13\ngrpc-message: a unary call has no message");
  h.feed(frame(frame_type::headers, end_of_all, 3,
               header_block(test::call_fields("/p.Service/Method"))));
  check_refusal(h.output(), "grpc-message: a unary call has no message");
  h.feed(begun(5) + frame(frame_type::data, 0, 5, test::message("a") + test::message("b")));
  check_refusal(h.output(), "grpc-message: a unary call has a second message", true);
  h.feed(begun(7) +
         frame(frame_type::data, test::end_stream, 7, test::message("abc").substr(0, 6)));
  check_refusal(h.output(), "grpc-message: the message is cut off");
  h.feed(begun(9) + frame(frame_type::data, 0, 9, "\2....."));
  check_refusal(h.output(), "a message begins with byte 2", true);

  BOOST_TEST(h.events.empty());
  BOOST_TEST(h.server.streams() == 0u);
}

BOOST_AUTO_TEST_CASE(data_after_a_refusal_is_dropped) {
  server_harness h;
  h.feed(test::preface() + headers(1, fields_with("content-type", "text/html")));
  h.feed(frame(frame_type::data, 0, 1, std::string(10'000, 'x')));
  h.output();
  h.feed(frame(frame_type::data, test::end_stream, 1, std::string(10'000, 'x')));

  BOOST_TEST(h.server.wants_read());
  BOOST_TEST(h.server.streams() == 0u);
}

BOOST_AUTO_TEST_CASE(a_compressed_request_is_inflated) {
  server_harness h;
  std::string const content(2'000, 'x');
  auto const body = test::message(gzip(content), true);
  h.feed(test::preface() + headers(1, test::call_fields("/p.Service/Method")) +
         frame(frame_type::data, test::end_stream, 1, body));
  BOOST_TEST(h.take<call>().message == content);

  h.feed(headers(3, fields_with("grpc-encoding", "deflate")) +
         frame(frame_type::data, test::end_stream, 3, body));
  check_refusal(h.output(), "grpc-accept-encoding: identity,gzip\n");
  h.feed(headers(5, fields_with("grpc-encoding", "identity")) +
         frame(frame_type::data, test::end_stream, 5, body));
  check_refusal(h.output(), "grpc-status: 13\n");
}

BOOST_AUTO_TEST_CASE(
    a_request_that_inflates_above_the_limit_is_refused_and_its_connection_continues) {
  limits small;
  small.message_bytes_max = 10'000;
  server_harness h{small};
  auto const bomb = test::message(gzip(std::string(10'001, 'x')), true);
  h.feed(test::preface() + headers(1, test::call_fields("/p.Service/Method")) +
         frame(frame_type::data, test::end_stream, 1, bomb));
  check_refusal(h.output(), "grpc-status: 8\n");

  h.feed(test::whole_call(3, "/p.Service/Method", std::string(10'000, 'x')));
  BOOST_TEST(h.take<call>().message.size() == 10'000u);
}

BOOST_AUTO_TEST_CASE(headers_above_the_limit_are_refused_and_the_connection_continues) {
  server_harness h;
  std::string const much(15'900, 'x');
  auto fields = test::call_fields("/p.Service/Method");
  fields.emplace_back("x-more", much);
  h.feed(test::preface() + headers(1, fields));
  check_refusal(h.output(), "grpc-status: 8\n", true);

  fields.back().second = std::string_view{much}.substr(0, 15'400);
  h.feed(headers(3, fields) + frame(frame_type::data, test::end_stream, 3, test::message("")));
  BOOST_TEST(h.take<call>().stream == stream_id{3});
}

BOOST_AUTO_TEST_CASE(trailing_headers_of_a_request_end_it) {
  server_harness h;
  h.feed(test::preface() + headers(1, test::call_fields("/p.Service/Method")) +
         frame(frame_type::data, 0, 1, test::message("abc")) +
         frame(frame_type::headers, end_of_all, 1, header_block({{"x-trailer", "1"}})));

  BOOST_TEST(h.take<call>().message == "abc");
}

BOOST_AUTO_TEST_CASE(a_client_that_leaves_gets_the_replies_it_waits_for) {
  server_harness h;
  h.feed(test::preface() + test::whole_call(1, "/p.Service/Method", "") +
         frame(frame_type::go_away, 0, 0, test::number(0, 8)));
  BOOST_TEST(h.server.wants_read());
  h.server.reply(h.take<call>().stream, "answer");
  h.output();
  BOOST_TEST(!h.server.wants_read());
  BOOST_TEST(!h.server.wants_write());
  BOOST_TEST(h.server.error() == "");
}

BOOST_AUTO_TEST_CASE(streams_after_a_goodbye_are_not_served) {
  server_harness h;
  h.feed(test::preface() + test::whole_call(1, "/p.Service/Method", "") +
         test::whole_call(3, "/p.Service/Method", ""));
  h.events.clear();
  h.server.go_away(stream_id{1}, error_code::no_error, "bye");
  BOOST_TEST(h.server.streams() == 1u);
  h.feed(test::whole_call(5, "/p.Service/Method", "") +
         frame(frame_type::reset, 0, 5, test::number(8, 4)));
  BOOST_TEST(h.events.empty());
  BOOST_TEST(!h.server.reply(stream_id{3}, "late"));
  BOOST_TEST(h.server.reply(stream_id{1}, "in time"));
}

BOOST_AUTO_TEST_CASE(refused_calls_are_answered_at_their_headers) {
  server_harness h;
  h.server.refuse_calls(errc::unauthenticated, "a token is required", "details");
  auto const input = test::preface() + test::whole_call(1, "/p.Service/Method", "question");
  h.feed(std::string_view{input}.substr(0, input.size() - 10));

  auto const sent = h.output();
  BOOST_REQUIRE(sent.size() == 2u);
  BOOST_TEST(coxswain::test::contains(sent[0].payload, "grpc-status: 16"));
  BOOST_TEST(coxswain::test::contains(sent[0].payload, "a token is required"));
  BOOST_TEST((sent[1].type == frame_type::reset));
  BOOST_TEST(h.server.streams() == 0u);
  h.feed(std::string_view{input}.substr(input.size() - 10));
  BOOST_TEST(h.events.empty());
  BOOST_TEST(h.server.wants_read());
}

BOOST_AUTO_TEST_CASE(one_request_is_inflated_at_a_time_and_in_steps) {
  limits large;
  large.message_bytes_max = 16 * 1024 * 1024;
  frame_buffer buffer{};
  server_session server{large, nullptr, &buffer};
  std::string const text(3'000'000, 'a');
  auto const body = test::message(gzip(text), true);
  std::string input = test::preface();
  for (std::uint32_t stream : {1u, 3u}) {
    input += headers(stream, test::call_fields("/p.Service/Method")) +
             frame(frame_type::data, test::end_stream, stream, body);
  }
  std::vector<server_event> events;
  std::string_view rest{input};
  std::size_t times = 0;
  for (; !rest.empty() || server.has_events(); ++times) {
    rest.remove_prefix(server.receive(test::t0, rest, events));
    BOOST_TEST(server.work_bytes() < 400'000u);
    if (events.empty()) BOOST_TEST(!rest.empty());  // the second one waits
    BOOST_TEST(server.memory_bytes() < 8'500'000u);
  }
  BOOST_TEST(times > 2 * 3'000'000 / 400'000);
  BOOST_REQUIRE(events.size() == 2u);
  for (auto const& event : events) BOOST_TEST((std::get<call>(event).message == text));
  BOOST_TEST(server.memory_bytes() < 15'000u);
}

BOOST_AUTO_TEST_CASE(a_long_text_that_is_compressed_too_well_is_refused) {
  limits large;
  large.message_bytes_max = 16 * 1024 * 1024;
  server_harness h{large};
  h.feed(test::preface() + headers(1, test::call_fields("/p.Service/Method")) +
         frame(frame_type::data, test::end_stream, 1,
               test::message(gzip(std::string(5'000'000, '\0')), true)));
  while (h.server.has_events()) h.server.receive(test::t0, "", h.events);

  BOOST_TEST(h.events.empty());
  auto const sent = h.output();
  BOOST_REQUIRE(sent.size() == 1u);
  BOOST_TEST(coxswain::test::contains(sent[0].payload, "grpc-status: 8"));
  BOOST_TEST(coxswain::test::contains(sent[0].payload, "at most 200 times its length"));
}

BOOST_AUTO_TEST_CASE(a_call_that_ends_while_it_is_inflated_leaves_nothing) {
  limits large;
  large.message_bytes_max = 16 * 1024 * 1024;
  frame_buffer buffer{};
  server_session server{large, nullptr, &buffer};
  std::vector<server_event> events;
  server.receive(test::t0,
                 test::preface() + headers(1, test::call_fields("/p.Service/Method")) +
                     frame(frame_type::data, test::end_stream, 1,
                           test::message(gzip(std::string(3'000'000, 'a')), true)),
                 events);
  BOOST_TEST(server.has_events());
  server.go_away(stream_id{0}, error_code::no_error, "bye");

  BOOST_TEST(!server.has_events());
  BOOST_TEST(server.streams() == 0u);
  BOOST_TEST(server.memory_bytes() < 15'000u);
}

BOOST_AUTO_TEST_CASE(no_more_events_are_returned_than_requested) {
  limits few;
  few.events_at_once = 10;
  server_session server{few};
  std::string input = test::preface();
  for (std::uint32_t i = 0; i < 1'000; ++i) {
    input += test::whole_call(2 * i + 1, "/p.Service/Method", "");
  }
  std::string_view rest{input};
  std::size_t calls = 0;
  while (!rest.empty()) {
    std::vector<server_event> events;
    rest.remove_prefix(server.receive(test::t0, rest, events));
    BOOST_TEST(events.size() <= 40u);
    calls += events.size();
  }
  BOOST_TEST(calls == 1'000u);
}

BOOST_AUTO_TEST_CASE(a_conversation_does_not_depend_on_where_reads_split) {
  std::string const input = golden_preface() +
                            test::whole_call(1, "/p.Service/Method", "question") +
                            frame(frame_type::ping, 0, 0, "12345678") +
                            frame(frame_type::window_update, 0, 1, test::number(5, 4)) +
                            test::whole_call(3, "/p.Service/Other", std::string(300, 'y')) +
                            headers(5, fields_with("content-type", "text/html")) +
                            frame(frame_type::reset, 0, 3, test::number(8, 4));
  auto const given = [&](std::size_t cut) {
    server_harness h;
    h.feed(std::string_view{input}.substr(0, cut));
    h.feed(std::string_view{input}.substr(cut));
    std::string all;
    for (auto const& event : h.events) {
      if (auto const* const asked = std::get_if<call>(&event)) all += asked->path + asked->message;
      all += std::to_string(event.index());
    }
    // The order of acknowledgements may depend on it.
    auto frames = h.output();
    std::stable_sort(frames.begin(), frames.end(), [](auto const& a, auto const& b) {
      return std::pair{a.stream, a.type} < std::pair{b.stream, b.type};
    });
    for (auto const& one : frames) all += std::to_string(one.stream) + one.payload;
    return all;
  };

  auto const whole = given(input.size());
  for (std::size_t cut = 0; cut < input.size(); ++cut) BOOST_TEST(given(cut) == whole);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::http2
