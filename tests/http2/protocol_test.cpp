// Peers that break HTTP/2, and the limits that they set.

#include "coxswain/http2/reply_headers.hpp"
#include "coxswain/http2/server_session.hpp"
#include "tests/http2/conversation.hpp"
#include "tests/http2/frames.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::http2 {
namespace {

using test::frame;
using test::frame_type;
using test::number;
using test::server_harness;

constexpr std::string_view path = "/p.Service/Method";
constexpr std::uint8_t padded = 0x8;
constexpr std::uint8_t with_priority = 0x20;

std::string headers(std::uint32_t stream, test::fields const& fields, std::uint8_t flags = 0) {
  return frame(frame_type::headers, test::end_headers | flags, stream, test::header_block(fields));
}

std::string setting(std::uint64_t which, std::uint64_t value) {
  return frame(frame_type::settings, 0, 0, number(which, 2) + number(value, 4));
}

std::string window(std::uint32_t stream, std::uint64_t more) {
  return frame(frame_type::window_update, 0, stream, number(more, 4));
}

// The connection ends with this code (RFC 9113, section 7).
void check_end(std::string_view input, std::uint64_t code, std::uint64_t last = 1) {
  server_harness h;
  h.feed(test::preface() + test::whole_call(1, path, ""));
  h.output();
  h.feed(input);
  BOOST_TEST(!h.server.wants_read());
  BOOST_TEST(h.server.error() != "");
  auto const frames = h.output();
  BOOST_REQUIRE(!frames.empty());
  BOOST_TEST((frames.back().type == frame_type::go_away));
  BOOST_TEST(frames.back().payload.substr(0, 8) == number(last, 4) + number(code, 4));
  BOOST_TEST(!h.server.wants_write());
}

// Stream 3 is reset with this code, and others are served.
void check_reset(std::string_view input, std::uint64_t code) {
  server_harness h;
  h.feed(test::preface());
  h.output();
  h.feed(input);
  auto const frames = h.output();
  BOOST_REQUIRE(frames.size() == 1u);
  BOOST_TEST((frames[0].type == frame_type::reset));
  BOOST_TEST(frames[0].stream == 3u);
  BOOST_TEST(frames[0].payload == number(code, 4));
  BOOST_TEST(h.server.streams() == 0u);
  h.events.clear();
  h.feed(test::whole_call(5, path, ""));
  BOOST_TEST(h.take<call>().stream == stream_id{5});
}

test::fields with(std::string_view name, std::string_view value) {
  auto fields = test::call_fields(path);
  fields.emplace_back(name, value);
  return fields;
}

test::fields without(std::string_view name) {
  auto fields = test::call_fields(path);
  std::erase_if(fields, [&](auto const& one) { return one.first == name; });
  return fields;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(protocol_test)

BOOST_AUTO_TEST_CASE(frames_that_belong_nowhere_end_the_connection) {
  auto const block = test::header_block(test::call_fields(path));
  auto const begun = frame(frame_type::headers, 0, 3, block);
  check_end(frame(frame_type::data, 0, 0, "x"), 1);
  check_end(frame(frame_type::data, 0, 3, "x"), 1);
  check_end(frame(frame_type::reset, 0, 3, number(8, 4)), 1);
  check_end(window(3, 1), 1);
  check_end(window(2, 1), 1);
  check_end(headers(2, test::call_fields(path)), 1);
  check_end(headers(0, test::call_fields(path)), 1);
  check_end(frame(frame_type::settings, 0, 1), 1);
  check_end(frame(frame_type::ping, 0, 1, "12345678"), 1);
  check_end(frame(frame_type::go_away, 0, 1, "12345678"), 1);
  check_end(frame(frame_type{5}, 0, 1, "promise"), 1);
  check_end(frame(frame_type::continuation, test::end_headers, 1, block), 1);
  check_end(begun + frame(frame_type::continuation, test::end_headers, 5, block), 1);
  check_end(begun + frame(frame_type::ping, 0, 0, "12345678"), 1);
}

BOOST_AUTO_TEST_CASE(frames_of_a_wrong_length_end_the_connection) {
  check_end(frame(frame_type::reset, 0, 1, "123"), 6);
  check_end(frame(frame_type::settings, 0, 0, "12345"), 6);
  check_end(frame(frame_type::settings, test::ack, 0, "123456"), 6);
  check_end(frame(frame_type::ping, 0, 0, "1234567"), 6);
  check_end(frame(frame_type::go_away, 0, 0, "1234567"), 6);
  check_end(frame(frame_type::window_update, 0, 0, "123"), 6);
  check_end(number(16'385, 3) + std::string(6, '\0'), 6);
  check_end(frame(frame_type::data, padded, 1), 1);
  check_end(frame(frame_type::data, padded, 1, "\3ab"), 1);
  check_end(frame(frame_type::headers, test::end_headers | with_priority, 3, "1234"), 1);
}

BOOST_AUTO_TEST_CASE(settings_have_possible_values) {
  check_end(setting(2, 2), 1);
  check_end(setting(4, 0x8000'0000), 3);
  check_end(setting(5, 16'383), 1);
  check_end(setting(5, 0x100'0000), 1);
  server_harness h;
  h.feed(test::preface() + setting(2, 1) + setting(4, 0x7fff'ffff) + setting(5, 0xff'ffff) +
         setting(99, 1));
  BOOST_TEST(h.server.wants_read());
}

BOOST_AUTO_TEST_CASE(the_first_frame_is_settings) {
  for (auto const& first :
       {frame(frame_type::ping, 0, 0, "12345678"), frame(frame_type::settings, test::ack, 0)}) {
    server_harness h;
    h.feed("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + first);
    BOOST_TEST(h.server.error() == "the peer's first frame is not SETTINGS");
  }
}

BOOST_AUTO_TEST_CASE(windows_have_a_maximum) {
  check_end(window(0, 0), 1);
  check_end(window(0, 0x7fff'ffff), 3);
  check_end(window(1, 0x7fff'0000) + setting(4, 0x7fff'ffff), 3);
  auto const begun = headers(3, test::call_fields(path));
  check_reset(begun + window(3, 0), 1);
  check_reset(begun + window(3, 0x7fff'ffff), 3);
}

BOOST_AUTO_TEST_CASE(a_client_cannot_exceed_the_window_of_a_stream) {
  server_harness h;
  h.feed(test::preface() + headers(1, test::call_fields(path)));
  auto const much = test::message(std::string(1'000'000, 'x')).substr(0, 16'384);
  for (int i = 0; i < 3; ++i) h.feed(frame(frame_type::data, 0, 1, much));
  BOOST_TEST(h.server.wants_read());
  h.feed(frame(frame_type::data, 0, 1, much));
  BOOST_TEST(h.server.error() == "the peer exceeds the window of a stream");
}

BOOST_AUTO_TEST_CASE(a_malformed_request_is_reset) {
  for (auto const& fields :
       {with("Upper", "x"), with("x-any", "a\nb"), with("x-any", " a"), with("", "x"),
        with("x-any", "long enough\x7f for words"), with("x-any", "long\tenough\x1f for words"),
        with("connection", "close"), with("te", "gzip"), with("content-length", "x"),
        with(":path", "/late"), without(":method"), without(":scheme"), without(":path"),
        without(":authority"), test::fields{{":status", "200"}}}) {
    check_reset(headers(3, fields), 1);
  }
  auto const begun = headers(3, test::call_fields(path));
  check_reset(begun + headers(3, {{"x-trailer", "1"}}), 1);
  check_reset(begun + headers(3, {{":path", "/again"}}, test::end_stream), 1);
}

BOOST_AUTO_TEST_CASE(a_request_with_a_host_needs_no_authority) {
  auto fields = without(":authority");
  fields.emplace_back("host", "localhost");
  fields.emplace_back("x-any", "a tab\tis no control character");
  server_harness h;
  h.feed(test::preface() + headers(1, fields) +
         frame(frame_type::data, test::end_stream, 1, test::message("")));
  BOOST_TEST(h.take<call>().path == path);
}

BOOST_AUTO_TEST_CASE(the_announced_length_is_that_of_the_body) {
  auto const body = frame(frame_type::data, test::end_stream, 3, test::message("abc"));
  check_reset(headers(3, with("content-length", "7")) + body, 1);
  server_harness h;
  h.feed(test::preface() + headers(3, with("content-length", "8")) + body);
  BOOST_TEST(h.take<call>().message == "abc");
}

BOOST_AUTO_TEST_CASE(nothing_follows_the_end_of_a_request) {
  auto const whole = test::whole_call(3, path, "");
  check_reset(whole + frame(frame_type::data, 0, 3, "more"), 5);
  check_reset(whole + headers(3, {{"x-trailer", "1"}}, test::end_stream), 5);
}

BOOST_AUTO_TEST_CASE(padding_and_priorities_are_skipped) {
  auto const block = test::header_block(test::call_fields(path));
  server_harness h;
  h.feed(
      test::preface() + frame(frame_type::priority, 0, 1, "12345") +
      frame(frame_type{77}, 0xff, 9, "unknown") +
      frame(frame_type::headers, test::end_headers | padded | with_priority, 1,
            "\2" + std::string(5, '\0') + block + "pp") +
      frame(frame_type::data, test::end_stream | padded, 1, "\3" + test::message("abc") + "ppp"));
  BOOST_TEST(h.take<call>().message == "abc");
}

BOOST_AUTO_TEST_CASE(headers_may_come_in_several_frames) {
  auto const block = test::header_block(test::call_fields(path));
  server_harness h;
  h.feed(test::preface() + frame(frame_type::headers, 0, 1, block.substr(0, 20)) +
         frame(frame_type::continuation, 0, 1, block.substr(20, 30)) +
         frame(frame_type::continuation, test::end_headers, 1, block.substr(50)) +
         frame(frame_type::data, test::end_stream, 1, test::message("abc")));
  BOOST_TEST(h.take<call>().path == path);
}

BOOST_AUTO_TEST_CASE(damaged_headers_end_the_connection) {
  check_end(frame(frame_type::headers, test::end_headers, 3, "\xff\xff\xff\xff\xff"), 9, 3);
}

// One byte each for a field of 3,000.
BOOST_AUTO_TEST_CASE(equal_blocks_of_indexes_mean_what_the_table_has) {
  server_harness h;
  h.feed(test::preface());
  std::uint32_t stream = 1;
  auto const path_of_call = [&](std::string const& block) {
    h.feed(frame(frame_type::headers, test::end_headers, stream, block));
    h.feed(frame(frame_type::data, test::end_stream, stream, test::message("x")));
    stream += 2;
    return h.take<call>().path;
  };
  // :method, :scheme; :authority, :path, content-type, te: four entries of the table.
  auto const filling = [](std::string const& to) {
    return test::hex("83 86 41 01 61 44 02") + to + test::hex("5f 10") + "application/grpc" +
           test::hex("40 02") + "te" + test::hex("08") + "trailers";
  };
  auto const indexes = test::hex("83 86 c0 c1 bf be");

  BOOST_TEST(path_of_call(filling("/b")) == "/b");
  BOOST_TEST(path_of_call(indexes) == "/b");
  BOOST_TEST(path_of_call(indexes) == "/b");
  BOOST_TEST(path_of_call(filling("/c")) == "/c");
  BOOST_TEST(path_of_call(indexes) == "/c");
  BOOST_TEST(path_of_call(indexes) == "/c");
}

BOOST_AUTO_TEST_CASE(a_small_block_of_many_large_headers_ends_the_connection) {
  constexpr std::uint64_t enhance_your_calm = 11;
  std::string const large = "\x40\x01x\x7f\xb9\x16" + std::string(3000, 'v');
  auto const block = test::header_block({{":method", "POST"}}) + large + std::string(100, '\xbe');

  check_end(frame(frame_type::headers, test::end_headers, 3, block), enhance_your_calm, 3);
}

BOOST_AUTO_TEST_CASE(a_window_that_shrinks_below_zero_holds_back_the_rest) {
  server_harness h;
  h.feed(test::preface() + setting(4, 10) + window(0, 100'000) + test::whole_call(1, path, ""));
  h.server.reply(h.take<call>().stream, std::string(15, 'x'));
  BOOST_TEST(h.output().size() == 2u);
  BOOST_TEST(h.server.unsent_bytes() == 10u);
  h.feed(setting(4, 0));
  h.feed(window(1, 10));
  h.output();
  BOOST_TEST(h.server.waits_for_window());
  h.feed(window(1, 10));
  BOOST_TEST(h.output().size() == 2u);
  BOOST_TEST(h.server.streams() == 0u);
}

BOOST_AUTO_TEST_CASE(a_reply_whose_window_closes_again_waits) {
  server_harness h;
  h.feed(test::preface() + test::whole_call(1, path, ""));
  h.server.reply(h.take<call>().stream, std::string(30'000, 'x'));
  std::string some;
  h.server.append_output(some, 1'000);
  h.feed(setting(4, 0));
  h.output();
  BOOST_TEST(h.server.waits_for_window());
  h.feed(setting(4, 60'000));
  h.output();
  BOOST_TEST(h.server.unsent_bytes() == 0u);
}

BOOST_AUTO_TEST_CASE(the_window_of_the_connection_holds_back_messages_only) {
  server_harness h;
  h.feed(test::preface());
  for (std::uint32_t stream : {1, 3, 5}) h.feed(test::whole_call(stream, path, ""));
  h.server.reply(stream_id{1}, std::string(65'535 - 5, 'x'));
  h.output();
  BOOST_TEST(h.server.streams() == 2u);
  h.server.reply(stream_id{3}, "waits");
  h.server.fail(stream_id{5}, errc::not_found, "");
  BOOST_TEST(h.output().size() == 2u);
  BOOST_TEST(h.server.waits_for_window());
  h.feed(window(0, 10));
  BOOST_TEST(h.output().size() == 2u);
  BOOST_TEST(h.server.streams() == 0u);
}

BOOST_AUTO_TEST_CASE(replies_fit_any_header_table) {
  for (std::uint32_t const bytes : {0u, 50u, 103u, 104u, 1'000u, 4'096u, 9'999u}) {
    server_harness h;
    h.feed(test::preface());
    std::uint32_t stream = 1;
    for (int i = 0; i < 6; ++i) {
      if (i == 1 || i == 4) h.feed(setting(1, i == 1 ? bytes : bytes / 2));
      h.feed(test::whole_call(stream, path, ""));
      h.server.reply(h.take<call>().stream, "answer");
      auto const frames = h.output();
      BOOST_REQUIRE(frames.size() == 3u);
      BOOST_TEST(frames[0].payload == ":status: 200\ncontent-type: application/grpc\n");
      BOOST_TEST(frames[2].payload == "grpc-status: 0\n");
      stream += 2;
    }
  }
}

BOOST_AUTO_TEST_CASE(a_reply_takes_few_bytes_once_the_table_is_filled) {
  reply_headers headers;
  std::string first;
  headers.append_beginning(first);
  headers.append_success(first);
  std::string next;
  headers.append_beginning(next);
  headers.append_success(next);
  BOOST_TEST(first.size() > 30u);
  BOOST_TEST(next == test::hex("88 bf be"));
}

BOOST_AUTO_TEST_CASE(a_client_that_leaves_gets_the_replies_it_waits_for) {
  server_harness h;
  h.feed(test::preface() + test::whole_call(1, path, "") +
         frame(frame_type::go_away, 0, 0, number(0, 4) + number(0, 4)));
  BOOST_TEST(h.server.wants_read());
  h.server.reply(h.take<call>().stream, "answer");
  h.output();
  BOOST_TEST(!h.server.wants_read());
  BOOST_TEST(!h.server.wants_write());
  BOOST_TEST(h.server.error() == "");
}

BOOST_AUTO_TEST_CASE(streams_after_a_goodbye_are_not_served) {
  server_harness h;
  h.feed(test::preface() + test::whole_call(1, path, "") + test::whole_call(3, path, ""));
  h.events.clear();
  h.server.go_away(stream_id{1}, error_code::no_error, "bye");
  BOOST_TEST(h.server.streams() == 1u);
  h.feed(test::whole_call(5, path, "") + frame(frame_type::reset, 0, 5, number(8, 4)));
  BOOST_TEST(h.events.empty());
  BOOST_TEST(!h.server.reply(stream_id{3}, "late"));
  BOOST_TEST(h.server.reply(stream_id{1}, "in time"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::http2
