#include "coxswain/relay/relay_xla_service.hpp"

#include "coxswain/http2/client_session.hpp"
#include "coxswain/wire/frame.hpp"
#include "coxswain/wire/routed.hpp"
#include "coxswain/xla/codec.hpp"
#include "tests/main/contains.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace coxswain::relay {
namespace {

constexpr time_point t0{std::chrono::hours{1}};
constexpr incarnation coordinator_self{77};
constexpr duration stalled_max = 30s;

core::hello_answer terms() {
  core::hello_answer made{coordinator_self, "", session_id{4}, {7}, 1};
  made.heartbeat_timeout = 100s;
  made.value_bytes_max = 1 << 20;
  made.key_bytes_max = 1024;
  return made;
}

// A coordinator with one value, and a JAX client that has asked for it and has read nothing of the
// reply.
struct stalled_client {
  stalled_client() {
    of.begin(t0);
    of.trunk_up();
    number = of.open("process 1", core::session_secret{9});
    xla::request asked;
    asked.name = "k";
    asked.service = coordinator_self;
    xla::method_path const path{xla::method::try_get_key_value, xla::generation::third};
    auto const at = xla::path_of(path);
    BOOST_TEST_REQUIRE(client.start({.path = at}, xla::encode_request(path, asked)).has_value());
    send();
    answer();
  }

  // The client's output.
  void send() {
    std::string out;
    while (client.wants_write()) client.append_output(out, 1 << 20);
    if (!out.empty()) of.content(number, out);
  }

  void answer() {
    wire::frame_decoder trunk{wire::message_bytes_max};
    for (auto sent = std::exchange(board.output(), {}); !sent.empty();
         sent = std::exchange(board.output(), {})) {
      trunk.feed(sent);
      while (auto const payload = trunk.next().value()) {
        auto const one = wire::decode_routed(*payload).value();
        if (one.what == wire::routed::kind::content) answer(one.route, one.content);
      }
    }
  }
  void answer(std::uint32_t route, std::string_view content) {
    auto const asked = wire::decode_client(content.substr(wire::length_bytes)).value();
    if (std::holds_alternative<core::hello_args>(asked.what)) {
      say(route, {}, {{}, terms()});
    } else if (std::holds_alternative<core::try_get_args>(asked.what)) {
      say(route, asked.id, {{}, core::value_answer{bytes{std::string(200'000, 'v')}, 1}});
    }
  }
  void say(std::uint32_t route, request_id to, core::answer const& what) {
    auto const encoded = wire::encode(what);
    std::string bytes;
    wire::append_server_head(bytes, to, encoded.size());
    bytes.append(encoded.head).append(encoded.tail.view());
    for (std::size_t at = 0; at < bytes.size(); at += wire::route_content_max) {
      auto const piece = std::string_view{bytes}.substr(at, wire::route_content_max);
      std::string frame;
      wire::append_content_head(frame, route, piece.size());
      frame += piece;
      BOOST_TEST_REQUIRE(board.received(std::string_view{frame}.substr(wire::length_bytes)).ok());
      of.route_changed(route);
    }
  }

  // The client's kernel takes this many bytes of what is written; the client itself none.
  void take(std::size_t bytes_max) {
    for (auto next = of.to_write(number); bytes_max > 0 && !next.empty();
         next = of.to_write(number)) {
      auto const now = std::min(bytes_max, next.size());
      taken += next.substr(0, now);
      of.wrote(number, now);
      bytes_max -= now;
    }
  }
  // The client itself reads that.
  void read() {
    std::vector<http2::client_event> events;
    client.receive(t0, std::exchange(taken, {}), events);
    send();
  }

  bool is_stalled(duration since, bool reads = true) {
    of.begin(t0 + since);
    of.advance(reads);
    return of.take_stalled() == number;
  }

  switchboard board{""};
  std::string log;
  relay_xla_service of{
      board, {}, terms(), stalled_max, [this](core::severity, std::string const& text) {
        log += text;
      }};
  http2::client_session client;
  std::uint32_t number{};
  std::string taken;
};

constexpr std::size_t all = 1 << 30;

BOOST_AUTO_TEST_SUITE(relay_xla_service_test)

BOOST_FIXTURE_TEST_CASE(a_client_whose_socket_is_full_is_cut_off, stalled_client) {
  BOOST_TEST(!is_stalled(stalled_max - 1ns));
  BOOST_TEST((of.next_deadline() == t0 + stalled_max));
  BOOST_TEST(is_stalled(stalled_max));
  BOOST_TEST(test::contains(log, "process 1 read nothing for 30 s"));

  of.close(number, core::loss::closed);
  BOOST_TEST(!is_stalled(2 * stalled_max));
}

BOOST_FIXTURE_TEST_CASE(a_client_with_a_closed_window_is_cut_off, stalled_client) {
  take(all);
  BOOST_TEST(of.to_write(number).empty());

  of.begin(t0 + 10s);
  client.ping(1);
  send();
  take(all);

  BOOST_TEST(!is_stalled(stalled_max - 1ns));
  BOOST_TEST(is_stalled(stalled_max));
}

BOOST_FIXTURE_TEST_CASE(a_client_that_reads_slowly_is_not_cut_off, stalled_client) {
  for (auto now = 20s; now < 100s; now += 20s) {
    BOOST_TEST(!is_stalled(now));
    take(100);
  }
  take(all);
  read();
  BOOST_TEST(!is_stalled(109s));
  take(all);
  read();
  BOOST_TEST(!is_stalled(138s));
  for (int i = 0; i < 10; ++i) {
    take(all);
    read();
  }
  BOOST_TEST(!is_stalled(1h));
}

BOOST_FIXTURE_TEST_CASE(a_client_that_is_not_read_is_not_cut_off, stalled_client) {
  BOOST_TEST(!is_stalled(20s, false));
  BOOST_TEST(!is_stalled(50s - 1ns));
  BOOST_TEST(is_stalled(50s));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::relay
