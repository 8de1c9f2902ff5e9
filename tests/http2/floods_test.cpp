// Peers that do too much of something, or nothing at all.

#include "coxswain/http2/server_session.hpp"
#include "tests/http2/conversation.hpp"
#include "tests/http2/frames.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace coxswain::http2 {
namespace {

using test::frame;
using test::frame_type;
using test::t0;
using test::told_server;

// The server ends the connection, and says why to its owner and, by a code, to the peer.
void check_refusal(told_server& talk, std::string_view why) {
  BOOST_TEST(talk.server.error() == why);
  BOOST_TEST(!talk.server.wants_read());
  auto const frames = talk.hear();
  BOOST_REQUIRE(!frames.empty());
  BOOST_TEST((frames.back().type == frame_type::go_away));
  BOOST_TEST(frames.back().payload.substr(4, 4) == test::number(11, 4));
  BOOST_TEST(!talk.server.wants_write());
}

void check_health(told_server& talk, std::uint32_t stream) {
  talk.say(test::whole_call(stream, "/p.Service/Method", ""));
  BOOST_REQUIRE(!talk.events.empty());
  BOOST_TEST((std::get<call>(talk.events.back()).stream == stream_id{stream}));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(floods_test)

BOOST_AUTO_TEST_CASE(a_thousand_pings_a_second_are_answered_and_no_more) {
  auto const ping = frame(frame_type::ping, 0, 0, "12345678");
  told_server talk;
  talk.say(test::preface());
  for (int i = 0; i < 1'000; ++i) talk.say(ping);
  BOOST_TEST(talk.hear().size() == 1'000u);
  for (int i = 0; i < 1'000; ++i) talk.say(ping, t0 + 1s);
  BOOST_TEST(talk.hear().size() == 1'000u);
  check_health(talk, 1);

  talk.say(ping, t0 + 1s);
  check_refusal(talk, "the peer floods the connection with PING");
}

BOOST_AUTO_TEST_CASE(many_pings_in_one_write_are_a_flood) {
  std::string pings;
  for (int i = 0; i < 10'000; ++i) pings += frame(frame_type::ping, 0, 0, "12345678");
  told_server talk;
  talk.say(test::preface() + pings);

  check_refusal(talk, "the peer floods the connection with PING");
}

BOOST_AUTO_TEST_CASE(many_settings_are_a_flood) {
  std::string settings;
  for (int i = 0; i < 1'001; ++i) settings += frame(frame_type::settings, 0, 0);
  told_server talk;
  talk.say(test::preface() + settings);

  check_refusal(talk, "the peer floods the connection with SETTINGS");
}

BOOST_AUTO_TEST_CASE(many_entries_of_one_settings_are_a_flood) {
  std::string entries;
  for (int i = 0; i < 33; ++i) entries += test::number(0xfe04, 2) + test::number(1, 4);
  told_server talk;
  talk.say(test::preface() + frame(frame_type::settings, 0, 0, entries));

  BOOST_TEST(talk.hear().size() == 1u);
  BOOST_TEST(!talk.server.wants_read());
  BOOST_TEST(talk.server.error() != "");
}

BOOST_AUTO_TEST_CASE(endless_continuations_are_a_flood) {
  auto const fields = test::header_block(test::call_fields("/p.Service/Method"));
  auto input = test::preface() + frame(frame_type::headers, 0, 1, fields);
  for (int i = 0; i < 20; ++i) input += frame(frame_type::continuation, 0, 1, "");
  told_server talk;
  talk.say(input);

  check_refusal(talk, "the peer floods the connection with CONTINUATION frames");
}

BOOST_AUTO_TEST_CASE(a_client_that_ends_may_cancel_all_it_waits_for) {
  limits few;
  few.resets_at_once_max = 100;
  few.resets_per_second_max = 100;
  told_server talk{few};
  talk.say(test::preface());
  std::uint32_t stream = 1;
  auto const cancelled_call = [&] {
    talk.say(test::whole_call(stream, "/p.Service/Method", "") +
             frame(frame_type::reset, 0, stream, test::number(8, 4)));
    stream += 2;
  };
  for (int i = 0; i < 100; ++i) cancelled_call();
  check_health(talk, stream);
  stream += 2;

  cancelled_call();
  check_refusal(talk, "the peer floods the connection with cancelled calls");
}

BOOST_AUTO_TEST_CASE(calls_that_are_reset_before_they_are_whole_count_as_well) {
  limits few;
  few.resets_at_once_max = 100;
  few.resets_per_second_max = 100;
  told_server talk{few};
  talk.say(test::preface());
  auto const fields = test::header_block(test::call_fields("/p.Service/Method"));
  for (std::uint32_t i = 0; i < 101; ++i) {
    talk.say(frame(frame_type::headers, test::end_headers, 2 * i + 1, fields) +
             frame(frame_type::reset, 0, 2 * i + 1, test::number(8, 4)));
  }

  check_refusal(talk, "the peer floods the connection with cancelled calls");
}

BOOST_AUTO_TEST_CASE(a_window_that_never_opens_is_seen) {
  told_server talk;
  auto const no_window = test::number(4, 2) + test::number(0, 4);
  talk.say("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(frame_type::settings, 0, 0, no_window));
  talk.say(test::whole_call(1, "/p.Service/Method", ""));
  talk.say(test::whole_call(3, "/p.Service/Method", ""));
  BOOST_TEST(talk.server.reply(talk.take<call>().stream, "answer"));
  talk.hear();

  BOOST_TEST(talk.server.waits_for_window());
  BOOST_TEST(talk.server.unsent_bytes() == 11u);
  BOOST_TEST(talk.server.sent_bytes() == 0u);

  // What is no DATA is not kept waiting.
  BOOST_TEST(talk.server.fail(talk.take<call>().stream, errc::not_found, ""));
  BOOST_TEST(talk.hear().size() == 1u);

  talk.say(frame(frame_type::window_update, 0, 1, test::number(11, 4)));
  talk.hear();
  BOOST_TEST(!talk.server.waits_for_window());
  BOOST_TEST(talk.server.sent_bytes() == 11u);
  BOOST_TEST(talk.server.streams() == 0u);
}

BOOST_AUTO_TEST_CASE(a_large_table_of_headers_is_not_kept) {
  told_server talk;
  auto const large_table = test::number(1, 2) + test::number(100'000'000, 4);
  talk.say("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(frame_type::settings, 0, 0, large_table));
  talk.hear();
  auto const before = talk.server.memory_bytes();
  for (std::uint32_t i = 0; i < 2'000; ++i) {
    talk.say(test::whole_call(2 * i + 1, "/p.Service/Method", ""));
    talk.server.fail(talk.take<call>().stream, errc::not_found, std::to_string(i));
    talk.hear();
  }

  BOOST_TEST(talk.server.memory_bytes() < before + 16'000);
}

BOOST_AUTO_TEST_CASE(what_is_no_http2_ends_at_once) {
  told_server talk;
  talk.say("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");

  BOOST_TEST(talk.server.error() == "the peer does not speak HTTP/2");
  BOOST_TEST(!talk.server.wants_read());
  BOOST_TEST(!talk.server.wants_write());
}

BOOST_AUTO_TEST_CASE(a_broken_protocol_ends_with_a_goodbye) {
  told_server talk;
  talk.say(test::preface() + frame(frame_type::data, 0, 1, "what stream?"));
  auto const frames = talk.hear();

  BOOST_REQUIRE(frames.size() == 1u);
  BOOST_TEST((frames[0].type == frame_type::go_away));
  BOOST_TEST(!talk.server.wants_read());
  BOOST_TEST(talk.server.error() != "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::http2
