// Peers that do too much of something, or nothing.

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
using test::server_harness;
using test::t0;

// The server ends the connection, and reports why to its owner and, by a code, to the peer.
void check_refusal(server_harness& h, std::string_view why) {
  BOOST_TEST(h.server.error() == why);
  BOOST_TEST(!h.server.wants_read());
  auto const frames = h.output();
  BOOST_REQUIRE(!frames.empty());
  BOOST_TEST((frames.back().type == frame_type::go_away));
  BOOST_TEST(frames.back().payload.substr(4, 4) == test::number(11, 4));
  BOOST_TEST(!h.server.wants_write());
}

void check_health(server_harness& h, std::uint32_t stream) {
  h.feed(test::whole_call(stream, "/p.Service/Method", ""));
  BOOST_REQUIRE(!h.events.empty());
  BOOST_TEST((std::get<call>(h.events.back()).stream == stream_id{stream}));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(floods_test)

BOOST_AUTO_TEST_CASE(up_to_a_thousand_pings_a_second_are_answered) {
  auto const ping = frame(frame_type::ping, 0, 0, "12345678");
  server_harness h;
  h.feed(test::preface());
  for (int i = 0; i < 1'000; ++i) h.feed(ping);
  BOOST_TEST(h.output().size() == 1'000u);
  for (int i = 0; i < 1'000; ++i) h.feed(ping, t0 + 1s);
  BOOST_TEST(h.output().size() == 1'000u);
  check_health(h, 1);

  h.feed(ping, t0 + 1s);
  check_refusal(h, "the peer floods the connection with PING");
}

BOOST_AUTO_TEST_CASE(many_pings_in_one_write_are_a_flood) {
  std::string pings;
  for (int i = 0; i < 10'000; ++i) pings += frame(frame_type::ping, 0, 0, "12345678");
  server_harness h;
  h.feed(test::preface() + pings);

  check_refusal(h, "the peer floods the connection with PING");
}

BOOST_AUTO_TEST_CASE(many_settings_are_a_flood) {
  std::string settings;
  for (int i = 0; i < 1'001; ++i) settings += frame(frame_type::settings, 0, 0);
  server_harness h;
  h.feed(test::preface() + settings);

  check_refusal(h, "the peer floods the connection with SETTINGS");
}

BOOST_AUTO_TEST_CASE(many_entries_of_one_settings_are_a_flood) {
  std::string entries;
  for (int i = 0; i < 33; ++i) entries += test::number(0xfe04, 2) + test::number(1, 4);
  server_harness h;
  h.feed(test::preface() + frame(frame_type::settings, 0, 0, entries));

  BOOST_TEST(h.output().size() == 1u);
  BOOST_TEST(!h.server.wants_read());
  BOOST_TEST(h.server.error() != "");
}

BOOST_AUTO_TEST_CASE(endless_continuations_are_a_flood) {
  auto const fields = test::header_block(test::call_fields("/p.Service/Method"));
  auto input = test::preface() + frame(frame_type::headers, 0, 1, fields);
  for (int i = 0; i < 20; ++i) input += frame(frame_type::continuation, 0, 1, "");
  server_harness h;
  h.feed(input);

  check_refusal(h, "the peer floods the connection with CONTINUATION frames");
}

BOOST_AUTO_TEST_CASE(a_small_block_of_many_large_headers_is_a_flood) {
  std::string const large = "\x40\x01x\x7f\xb9\x16" + std::string(3000, 'v');
  auto const block = test::header_block({{":method", "POST"}}) + large + std::string(100, '\xbe');
  server_harness h;
  h.feed(test::preface() + frame(frame_type::headers, test::end_headers, 3, block));

  check_refusal(h, "the peer floods the connection with headers");
}

BOOST_AUTO_TEST_CASE(an_ending_client_can_cancel_all_its_calls) {
  limits few;
  few.resets_at_once_max = 100;
  few.resets_per_second_max = 100;
  server_harness h{few};
  h.feed(test::preface());
  std::uint32_t stream = 1;
  auto const cancelled_call = [&] {
    h.feed(test::whole_call(stream, "/p.Service/Method", "") +
           frame(frame_type::reset, 0, stream, test::number(8, 4)));
    stream += 2;
  };
  for (int i = 0; i < 100; ++i) cancelled_call();
  check_health(h, stream);
  stream += 2;

  cancelled_call();
  check_refusal(h, "the peer floods the connection with cancelled calls");
}

BOOST_AUTO_TEST_CASE(calls_reset_before_they_are_complete_count_as_well) {
  limits few;
  few.resets_at_once_max = 100;
  few.resets_per_second_max = 100;
  server_harness h{few};
  h.feed(test::preface());
  auto const fields = test::header_block(test::call_fields("/p.Service/Method"));
  for (std::uint32_t i = 0; i < 101; ++i) {
    h.feed(frame(frame_type::headers, test::end_headers, 2 * i + 1, fields) +
           frame(frame_type::reset, 0, 2 * i + 1, test::number(8, 4)));
  }

  check_refusal(h, "the peer floods the connection with cancelled calls");
}

BOOST_AUTO_TEST_CASE(calls_beyond_the_limit_of_streams_are_refused_unseen) {
  limits few;
  few.streams_max = 2;
  few.refused_at_once_max = 10;
  few.refused_per_second_max = 10;
  server_harness h{few};
  h.feed(test::preface());
  std::uint32_t stream = 1;
  for (int i = 0; i < 12; ++i, stream += 2) {
    h.feed(test::whole_call(stream, "/p.Service/Method", ""));
  }
  BOOST_TEST(h.events.size() == 2u);
  BOOST_TEST(h.server.streams() == 2u);
  auto const refused = h.output();
  BOOST_TEST(refused.size() == 10u);
  BOOST_TEST((refused[0].type == frame_type::reset));
  BOOST_TEST(refused[0].payload == test::number(7, 4));

  h.server.reply(h.take<call>().stream, "answer");
  h.output();
  check_health(h, stream);
  stream += 2;
  h.feed(test::whole_call(stream, "/p.Service/Method", ""));
  check_refusal(h, "the peer floods the connection with calls beyond its limit of streams");
}

BOOST_AUTO_TEST_CASE(settings_touch_each_stream_once) {
  server_harness h;
  h.feed(test::preface());
  constexpr std::uint32_t streams = 4'000;
  for (std::uint32_t i = 0; i < streams; ++i) {
    h.feed(test::whole_call(2 * i + 1, "/p.Service/Method", ""));
  }
  std::string windows;
  for (std::uint64_t i = 0; i < 32; ++i) windows += test::number(4, 2) + test::number(i, 4);
  h.feed(frame(frame_type::settings, 0, 0, windows));

  BOOST_TEST(h.server.work_bytes() >= 64 * streams);
  BOOST_TEST(h.server.work_bytes() < 2 * 64 * streams);
  h.server.reply(h.take<call>().stream, std::string(100, 'x'));
  auto const sent = h.output();
  BOOST_TEST((sent.back().type == frame_type::data));
  BOOST_TEST(sent.back().payload.size() == 31u);
}

BOOST_AUTO_TEST_CASE(all_work_is_counted_and_ends_a_receive) {
  limits little;
  little.work_at_once = 5'000;
  server_session server{little};
  std::string input = test::preface();
  for (int i = 0; i < 100; ++i) input += frame(frame_type::window_update, 0, 0, test::number(1, 4));
  std::vector<server_event> events;
  std::size_t times = 0;
  for (std::string_view rest{input}; !rest.empty(); ++times) {
    rest.remove_prefix(server.receive(t0, rest, events));
    BOOST_TEST(server.work_bytes() > 0u);
    BOOST_TEST(server.work_bytes() < 6'000u);
  }
  BOOST_TEST(times >= 10u);
}

BOOST_AUTO_TEST_CASE(answers_that_the_peer_does_not_take_are_counted) {
  server_harness h;
  h.feed(test::preface());
  h.output();
  for (std::uint32_t i = 0; i < 100; ++i) {
    h.feed(test::whole_call(2 * i + 1, "/p.Service/Method", ""));
    h.server.fail(h.take<call>().stream, errc::not_found, std::string(1'000, 'x'));
  }
  BOOST_TEST(h.server.answer_bytes() > 80'000u);
  BOOST_TEST(h.server.burden() > 80'000u);
  h.output();
  BOOST_TEST(h.server.answer_bytes() == 0u);
  BOOST_TEST(h.server.burden() < 15'000u);
}

BOOST_AUTO_TEST_CASE(without_memory_only_small_connections_begin_calls) {
  memory_meter meter{1'000'000};
  server_session server{limits{}, &meter};
  std::vector<server_event> events;
  server.receive(t0, test::preface() + test::whole_call(1, "/p.Service/Method", "a"), events);
  meter.add_transit(1'000'000);
  server.receive(t0, test::whole_call(3, "/p.Service/Method", "b"), events);
  BOOST_TEST(events.size() == 2u);

  server.reply(stream_id{1}, std::string(100'000, 'x'));
  server.receive(t0, test::whole_call(5, "/p.Service/Method", "c"), events);
  BOOST_TEST(events.size() == 2u);
  meter.subtract_transit(1'000'000);
  server.receive(t0, test::whole_call(7, "/p.Service/Method", "d"), events);
  BOOST_TEST(events.size() == 3u);
}

BOOST_AUTO_TEST_CASE(a_window_that_never_opens_is_detected) {
  server_harness h;
  auto const no_window = test::number(4, 2) + test::number(0, 4);
  h.feed("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(frame_type::settings, 0, 0, no_window));
  h.feed(test::whole_call(1, "/p.Service/Method", ""));
  h.feed(test::whole_call(3, "/p.Service/Method", ""));
  BOOST_TEST(h.server.reply(h.take<call>().stream, "answer"));
  h.output();

  BOOST_TEST(h.server.waits_for_window());
  BOOST_TEST(h.server.unsent_bytes() == 11u);
  BOOST_TEST(h.server.sent_bytes() == 0u);

  // Frames other than DATA are not delayed.
  BOOST_TEST(h.server.fail(h.take<call>().stream, errc::not_found, ""));
  BOOST_TEST(h.output().size() == 1u);

  h.feed(frame(frame_type::window_update, 0, 1, test::number(11, 4)));
  h.output();
  BOOST_TEST(!h.server.waits_for_window());
  BOOST_TEST(h.server.sent_bytes() == 11u);
  BOOST_TEST(h.server.streams() == 0u);
}

BOOST_AUTO_TEST_CASE(a_large_header_table_is_not_kept) {
  server_harness h;
  auto const large_table = test::number(1, 2) + test::number(100'000'000, 4);
  h.feed("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(frame_type::settings, 0, 0, large_table));
  h.output();
  auto const before = h.server.memory_bytes();
  for (std::uint32_t i = 0; i < 2'000; ++i) {
    h.feed(test::whole_call(2 * i + 1, "/p.Service/Method", ""));
    h.server.fail(h.take<call>().stream, errc::not_found, std::to_string(i));
    h.output();
  }

  BOOST_TEST(h.server.memory_bytes() < before + 16'000);
}

BOOST_AUTO_TEST_CASE(a_connection_that_is_not_http2_ends_at_once) {
  server_harness h;
  h.feed("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");

  BOOST_TEST(h.server.error() == "the peer does not speak HTTP/2");
  BOOST_TEST(!h.server.wants_read());
  BOOST_TEST(!h.server.wants_write());
}

BOOST_AUTO_TEST_CASE(a_protocol_error_ends_the_connection_with_a_goodbye) {
  server_harness h;
  h.feed(test::preface() + frame(frame_type::data, 0, 1, "what stream?"));
  auto const frames = h.output();

  BOOST_REQUIRE(frames.size() == 1u);
  BOOST_TEST((frames[0].type == frame_type::go_away));
  BOOST_TEST(!h.server.wants_read());
  BOOST_TEST(h.server.error() != "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::http2
