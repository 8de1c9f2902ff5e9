// The WebSocket over real sockets, with hand-written frames (RFC 6455).

#include "tests/status/page_harness.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

namespace coxswain::status_page {
namespace {

using server::join_frame;
using server::put_frame;

constexpr auto upgrade =
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

struct ws_frame {
  int opcode{};
  std::string payload;
};

// A frame of a client: masked, with a mask of zeros.
std::string masked(int opcode, std::string_view payload) {
  std::string frame{static_cast<char>(0x80 | opcode)};
  if (payload.size() < 126) {
    frame += static_cast<char>(0x80 | payload.size());
  } else {
    frame += static_cast<char>(0xfe);
    frame += static_cast<char>(payload.size() >> 8);
    frame += static_cast<char>(payload.size() & 0xff);
  }
  return frame.append(4, '\0').append(payload);
}

// A browser after the handshake, and its received frames.
class browser {
 public:
  explicit browser(page_harness& h, std::string const& fields = "") : peer_{h.visit()} {
    peer_.send(page_harness::request("GET", "/api/v1/live", upgrade + fields));
    welcome_ = peer_.next(false);
  }

  [[nodiscard]] reply const& welcome() const { return welcome_; }
  http_peer& peer() { return peer_; }

  ws_frame next() {
    auto const head = take(2);
    std::uint64_t size = static_cast<unsigned char>(head[1]) & 0x7f;
    if (size >= 126) {
      auto const bytes = take(size == 126 ? 2 : 8);
      size = 0;
      for (char const byte : bytes) size = size * 256 + static_cast<unsigned char>(byte);
    }
    return {head[0] & 0x0f, take(static_cast<std::size_t>(size))};
  }

  // The code of a close frame.
  static int code_of(ws_frame const& f) {
    BOOST_TEST_REQUIRE(f.opcode == 8);
    return static_cast<unsigned char>(f.payload[0]) * 256 +
           static_cast<unsigned char>(f.payload[1]);
  }

 private:
  std::string take(std::size_t size) {
    if (unread_.size() < size) unread_ += peer_.bytes(size - unread_.size());
    BOOST_TEST_REQUIRE(unread_.size() >= size);
    auto const taken = unread_.substr(0, size);
    unread_.erase(0, size);
    return taken;
  }

  http_peer peer_;
  reply welcome_;
  std::string unread_;
};

struct quick_harness : page_harness {
  explicit quick_harness(std::uint32_t tasks = 2) : page_harness{tasks} {
    page_options.live_period = 5ms;
    page_options.picture_age_max = 0ms;
  }
};

BOOST_AUTO_TEST_SUITE(watch_test)

BOOST_AUTO_TEST_CASE(a_watcher_gets_the_job_and_then_its_changes) {
  quick_harness h;
  browser b{h};
  BOOST_TEST(b.welcome().code == 101);
  auto const first = b.next();
  BOOST_TEST(first.opcode == 1);
  BOOST_TEST(first.payload.starts_with(R"({"type":"state","state":{)"));

  auto task = h.greeted();
  task.send(join_frame(1, 1));
  std::string update;
  while (!has(update, "\"state\":\"joining\"")) update = b.next().payload;

  BOOST_TEST(update.starts_with(R"({"type":"update","summary":{)"));
  BOOST_TEST(has(update, R"("tasks":[{"task":1,)"));
}

BOOST_AUTO_TEST_CASE(three_watchers_get_the_same) {
  quick_harness h;
  browser a{h};
  browser b{h};
  browser c{h};
  BOOST_TEST(a.next().payload == b.next().payload);
  c.next();
  auto client = h.greeted();
  client.send(put_frame(1, "k", "v"));
  for (auto* const one : {&a, &b, &c}) {
    while (!has(one->next().payload, "\"keys\":1")) {
    }
  }
}

BOOST_AUTO_TEST_CASE(a_request_from_another_origin_is_refused) {
  quick_harness h;
  browser foreign{h, "Origin: http://evil.example\r\n"};
  BOOST_TEST(foreign.welcome().code == 403);
  browser own{h, "Origin: http://localhost\r\n"};
  BOOST_TEST(own.welcome().code == 101);
}

BOOST_AUTO_TEST_CASE(a_watcher_needs_a_token_if_tokens_are_set) {
  quick_harness h;
  h.page_options.credentials = {{core::role::reader, "look"}};
  browser nobody{h};
  BOOST_TEST(nobody.welcome().code == 401);
  browser somebody{h, "Authorization: Bearer look\r\n"};
  BOOST_TEST(somebody.welcome().code == 101);
}

BOOST_FIXTURE_TEST_CASE(a_request_without_upgrade_gets_426, quick_harness) {
  auto const r = get("/api/v1/live");
  BOOST_TEST(r.code == 426);
  BOOST_TEST(has(r.head, "Upgrade: websocket"));
}

BOOST_AUTO_TEST_CASE(a_watcher_that_sends_a_message_is_closed) {
  quick_harness h;
  browser b{h};
  b.next();
  b.peer().send(masked(1, "hello"));
  BOOST_TEST(browser::code_of(b.next()) == 1008);
}

BOOST_AUTO_TEST_CASE(a_too_long_message_is_not_read) {
  quick_harness h;
  browser b{h};
  b.next();
  b.peer().send(masked(2, std::string(5000, 'x')));
  BOOST_TEST(browser::code_of(b.next()) == 1009);
}

BOOST_AUTO_TEST_CASE(an_invalid_frame_ends_the_connection) {
  quick_harness h;
  for (auto const* const bytes :
       {"\xff\xff\xff\xff\xff", "\x81\x05hello", "\x83\x80\x00\x00\x00"}) {
    browser b{h};
    b.next();
    b.peer().send(bytes);
    b.peer().shut();
    b.peer().expect_end();
  }
  h.until([&] { return h.shown->connections() == 0; });
}

BOOST_AUTO_TEST_CASE(pings_are_answered_and_a_goodbye_is_returned) {
  quick_harness h;
  browser b{h};
  b.next();
  b.peer().send(masked(9, "are you there?"));
  auto const pong = b.next();
  BOOST_TEST(pong.opcode == 10);
  BOOST_TEST(pong.payload == "are you there?");
  b.peer().send(masked(8, "\x03\xe8"));
  BOOST_TEST(browser::code_of(b.next()) == 1000);
  h.until([&] { return h.shown->connections() == 0; });
}

BOOST_AUTO_TEST_CASE(a_watcher_that_does_not_read_is_disconnected) {
  quick_harness h{100'000};
  h.page_options.answer_timeout = 30ms;
  auto peer = h.visit();
  peer.read_little();
  h.until([&] { return h.shown->connections() == 1; });
  peer.send(page_harness::request("GET", "/api/v1/live", upgrade));
  h.until([&] { return h.shown->connections() == 0; });
}

BOOST_AUTO_TEST_CASE(a_vanished_watcher_is_detected) {
  quick_harness h;
  h.page_options.idle_timeout = 30ms;
  browser b{h};
  h.until([&] { return h.shown->connections() == 0; });
}

BOOST_AUTO_TEST_CASE(the_page_can_be_destroyed_before_its_watchers) {
  quick_harness h;
  browser b{h};
  b.next();
  h.shown.reset();
  b.peer().expect_end();
}

BOOST_AUTO_TEST_CASE(watchers_get_the_end_of_the_job_before_that_of_the_page) {
  quick_harness h;
  h.page_options.live_period = 1h;
  h.page_options.picture_age_max = 1h;
  browser b{h};
  b.next();

  h.made->stop("all processes have ended");
  bool has_finished{};
  asio::co_spawn(h.io, h.shown->finish(), [&](std::exception_ptr) { has_finished = true; });
  h.until([&] { return has_finished; });
  h.shown.reset();

  BOOST_TEST(has(b.next().payload, "Stopped: all processes have ended"));
}

BOOST_AUTO_TEST_CASE(nobody_is_waited_for_if_nobody_watches) {
  quick_harness h;
  h.open();
  bool has_finished{};
  asio::co_spawn(h.io, h.shown->finish(), [&](std::exception_ptr) { has_finished = true; });

  h.io.poll();

  BOOST_TEST(has_finished);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::status_page
