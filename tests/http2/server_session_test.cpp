// The server's side, told bytes as XLA's clients send them.

#include "coxswain/http2/server_session.hpp"
#include "tests/http2/frames.hpp"

#include <boost/test/unit_test.hpp>

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

constexpr time_point t0{1h};

// A server, and what came of the bytes that it was told.
struct conversation {
  explicit conversation(limits const& l = limits{}) : server{l} {}

  void say(std::string_view bytes, time_point now = t0) {
    while (!bytes.empty()) bytes.remove_prefix(server.receive(now, bytes, events));
  }

  // What it writes, without its SETTINGS and acknowledgements of ours.
  std::vector<test::read_frame> hear() {
    std::string out;
    while (server.wants_write()) server.append_output(out, 100'000);
    auto frames = test::read_frames(out);
    std::erase_if(frames, [](auto const& one) { return one.type == frame_type::settings; });
    return frames;
  }

  template <class Event>
  Event take() {
    auto const found = std::get<Event>(events.at(0));
    events.erase(events.begin());
    return found;
  }

  server_session server;
  std::vector<server_event> events;
};

// What a client of gRPC 1.51.1 began with.
std::string golden_preface() {
  return hex(
      "505249202a20485454502f322e300d0a0d0a534d0d0a0d0a"
      "000024 04 00 00000000 0002 00000000 0003 00000000 0004 003fffff 0005 003fffff"
      "0006 00002000 fe03 00000001"
      "000004 08 00 00000000 003f0000");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(server_session_test)

BOOST_AUTO_TEST_CASE(a_server_sends_its_settings_first_of_all) {
  server_session server;
  std::string out;
  server.append_output(out, 1'000);

  auto const frames = test::read_frames(out);
  BOOST_REQUIRE(frames.size() == 2u);
  BOOST_TEST((frames[0].type == frame_type::settings));
  BOOST_TEST(frames[0].payload == hex("0009 00000001 0006 00004000"));
  BOOST_TEST((frames[1].type == frame_type::window_update));
  BOOST_TEST(!server.wants_write());
}

BOOST_AUTO_TEST_CASE(a_call_of_a_grpc_client_is_answered) {
  conversation talk;
  talk.say(golden_preface() + test::whole_call(1, "/p.Service/Method", "question"));
  auto const asked = talk.take<call>();
  BOOST_TEST(asked.path == "/p.Service/Method");
  BOOST_TEST(asked.message == "question");
  BOOST_TEST(!asked.timeout);
  talk.hear();

  BOOST_TEST(talk.server.reply(asked.stream, "answer"));
  auto const frames = talk.hear();
  BOOST_REQUIRE(frames.size() == 3u);
  BOOST_TEST((frames[0].type == frame_type::headers));
  BOOST_TEST(frames[0].payload.substr(0, 1) == "\x88");
  BOOST_TEST((frames[1].type == frame_type::data));
  BOOST_TEST(frames[1].payload == test::message("answer"));
  BOOST_TEST((frames[2].type == frame_type::headers));
  BOOST_TEST(int{frames[2].flags} == (test::end_stream | test::end_headers));
  BOOST_TEST(talk.server.streams() == 0u);
  BOOST_TEST(!talk.server.reply(asked.stream, "again"));
}

BOOST_AUTO_TEST_CASE(an_error_is_one_frame_of_headers) {
  conversation talk;
  talk.say(golden_preface() + test::whole_call(1, "/p.Service/Method", ""));
  talk.hear();

  BOOST_TEST(talk.server.fail(talk.take<call>().stream, errc::not_found, "no such key", "details"));
  auto const frames = talk.hear();
  BOOST_REQUIRE(frames.size() == 1u);
  BOOST_TEST((frames[0].type == frame_type::headers));
  BOOST_TEST(int{frames[0].flags} == (test::end_stream | test::end_headers));
  BOOST_TEST(talk.server.streams() == 0u);
}

BOOST_AUTO_TEST_CASE(a_cancelled_call_is_told) {
  conversation talk;
  talk.say(golden_preface() + test::whole_call(1, "/p.Service/Method", ""));
  auto const asked = talk.take<call>();
  talk.say(frame(frame_type::reset, 0, 1, test::number(8, 4)));

  auto const cancelled = talk.take<call_cancelled>();
  BOOST_TEST(cancelled.stream == asked.stream);
  BOOST_TEST((cancelled.why == error_code::cancel));
  BOOST_TEST(!talk.server.reply(asked.stream, "too late"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::http2
