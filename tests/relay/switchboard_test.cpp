#include "coxswain/relay/switchboard.hpp"

#include "coxswain/wire/frame.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <utility>

namespace coxswain::relay {
namespace {

constexpr core::session_secret secret{7};

struct board {
  // The messages for the trunk, one after the other: "1 opened pid 1, 1 content 5".
  std::string out() {
    std::string text;
    wire::frame_decoder decoder{wire::message_bytes_max};
    auto const bytes = std::exchange(of.output(), {});
    decoder.feed(bytes);
    while (auto const payload = decoder.next().value()) {
      auto const what = wire::decode_routed(*payload).value();
      if (!text.empty()) text += ", ";
      text += std::to_string(what.route) + " ";
      auto silent = what.silent;
      using kind = wire::routed::kind;
      switch (what.what) {
        case kind::opened: text += "opened " + std::string{what.peer}; break;
        case kind::closed: text += what.has_exited ? "exited" : "closed"; break;
        case kind::shared: text += "shared"; break;
        case kind::living:
          text += "living";
          while (auto const one = wire::take_route(silent)) text += " -" + std::to_string(*one);
          break;
        case kind::room: text += "room " + std::to_string(what.room); break;
        case kind::content: text += "content " + std::to_string(what.content.size()); break;
      }
    }
    return text;
  }
  status hear(std::string frame) { return of.received(frame.substr(wire::length_bytes)); }
  status hear_content(std::uint32_t route, std::string const& what) {
    std::string frame;
    wire::append_content_head(frame, route, what.size());
    return hear(frame + what);
  }
  status hear_room(std::uint32_t route, std::uint32_t bytes) {
    std::string frame;
    wire::append_room(frame, route, bytes);
    return hear(frame);
  }
  status hear_closed(std::uint32_t route) {
    std::string frame;
    wire::append_closed(frame, route);
    return hear(frame);
  }
  std::vector<std::uint32_t> changed() {
    std::vector<std::uint32_t> all;
    of.take_changed(all);
    return all;
  }

  // What the client reads.
  std::string written(std::uint32_t route) {
    std::string const bytes{of.to_write(route)};
    of.wrote(route, bytes.size());
    return bytes;
  }

  switchboard of{std::string("\0\0\0\2\1\1", 6)};
};

std::string const heartbeat{"\0\0\0\2\x10\7", 6};  // seven replies were received
std::string const reply{"\0\0\0\2\1\1", 6};

BOOST_AUTO_TEST_SUITE(switchboard_test)

BOOST_FIXTURE_TEST_CASE(routes_are_numbered_and_carry_bytes_both_ways, board) {
  BOOST_TEST(of.open(secret, "pid 1") == 1u);
  BOOST_TEST(of.open(secret, std::string(100, 'p')) == 2u);
  of.content(1, "hello");
  BOOST_TEST(out() == "1 opened pid 1, 2 opened " + std::string(64, 'p') + ", 1 content 5");

  BOOST_TEST(hear_content(2, "reply").ok());
  BOOST_TEST((changed() == std::vector<std::uint32_t>{2}));
  BOOST_TEST(of.to_write(2) == "reply");
  of.wrote(2, 3);
  BOOST_TEST(of.to_write(2) == "ly");
}

BOOST_FIXTURE_TEST_CASE(a_client_is_read_while_the_coordinator_has_room, board) {
  of.open(secret, "");
  for (std::size_t i = 0; i < wire::route_room_max / 16'384; ++i) {
    of.content(1, std::string(16'384, 'x'));
  }
  BOOST_TEST(of.room(1) == 0u);

  BOOST_TEST(hear_room(1, 10).ok());
  BOOST_TEST((changed() == std::vector<std::uint32_t>{1}));
  BOOST_TEST(of.room(1) == 10u);
}

BOOST_FIXTURE_TEST_CASE(room_is_reported_when_the_client_has_read_half_of_it, board) {
  of.open(secret, "");
  for (int i = 0; i < 4; ++i) BOOST_TEST(hear_content(1, std::string(16'000, 'x')).ok());
  static_cast<void>(out());

  of.wrote(1, 32'767);
  BOOST_TEST(out() == "");
  of.wrote(1, 1);
  BOOST_TEST(out() == "1 room 32768");
}

BOOST_FIXTURE_TEST_CASE(the_end_comes_after_the_last_byte, board) {
  of.open(secret, "");
  static_cast<void>(hear_content(1, "bye"));
  BOOST_TEST(hear_closed(1).ok());

  BOOST_TEST(of.ends(1));
  BOOST_TEST(of.to_write(1) == "bye");
  static_cast<void>(out());
  of.closed(1);
  BOOST_TEST(out() == "");
  BOOST_TEST(of.size() == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_client_that_has_gone_is_reported_once_and_late_bytes_are_dropped, board) {
  of.open(secret, "");
  of.closed(1);

  BOOST_TEST(out() == "1 opened , 1 closed");
  BOOST_TEST(hear_content(1, "late").ok());
  BOOST_TEST(hear_closed(1).ok());
  BOOST_TEST(changed().empty());
}

BOOST_FIXTURE_TEST_CASE(violations_of_the_coordinator_are_errors, board) {
  BOOST_TEST(!hear_content(1, "never opened").ok());
  of.open(secret, "");
  BOOST_TEST(!hear_room(1, 1).ok());
  BOOST_TEST(!hear("0000\xaa\1").ok());
  for (int i = 0; i < 4; ++i) BOOST_TEST(hear_content(1, std::string(16'000, 'x')).ok());
  BOOST_TEST(!hear_content(1, std::string(16'000, 'x')).ok());
}

BOOST_FIXTURE_TEST_CASE(the_same_heartbeat_is_replied_to_here, board) {
  of.reply_to_heartbeats(true);
  of.open(secret, "");
  of.content(1, heartbeat);
  BOOST_TEST(out() == "1 opened , 1 content 6");
  of.content(1, heartbeat);
  BOOST_TEST(out() == "1 content 6");  // not answered yet
  BOOST_TEST(hear_content(1, reply).ok());
  BOOST_TEST(written(1) == reply);

  auto const room = of.room(1);
  of.content(1, heartbeat);
  BOOST_TEST(out() == "");
  BOOST_TEST(written(1) == reply);
  BOOST_TEST(of.room(1) == room);

  of.reply_to_heartbeats(false);
  of.content(1, heartbeat);
  BOOST_TEST(out() == "1 content 6");
}

BOOST_FIXTURE_TEST_CASE(a_heartbeat_after_anything_else_reaches_the_coordinator, board) {
  auto const answered = [&] {
    of.content(1, heartbeat);
    static_cast<void>(hear_content(1, reply));
    static_cast<void>(written(1));
    static_cast<void>(out());
  };
  of.reply_to_heartbeats(true);
  of.open(secret, "");

  answered();
  static_cast<void>(hear_content(1, "\0\0\0\1p"));  // a probe
  static_cast<void>(written(1));
  of.content(1, heartbeat);
  BOOST_TEST(out() == "1 content 6");

  answered();
  of.content(1, std::string("\0\0\0\2\x10\x8", 6));  // with new output
  BOOST_TEST(out() == "1 content 6");

  answered();
  of.content(1, std::string(1, '\0'));  // a part of a frame
  of.content(1, heartbeat);
  BOOST_TEST(out() == "1 content 1, 1 content 6");
}

BOOST_FIXTURE_TEST_CASE(heartbeats_within_a_frame_are_none, board) {
  of.reply_to_heartbeats(true);
  of.open(secret, "");
  of.content(1, "PRI * HTTP/2.0");
  for (int i = 0; i < 3; ++i) {
    of.content(1, heartbeat);
    static_cast<void>(hear_content(1, reply));
    static_cast<void>(written(1));
  }
  BOOST_TEST(out() == "1 opened , 1 content 14, 1 content 6, 1 content 6, 1 content 6");
}

BOOST_FIXTURE_TEST_CASE(silent_clients_are_reported, board) {
  for (int i = 0; i < 3; ++i) of.open(secret, "");
  of.report_living();
  of.content(2, "x");
  of.report_living();

  BOOST_TEST(out() == "1 opened , 2 opened , 3 opened , 0 living, 2 content 1, 0 living -1 -3");
}

BOOST_FIXTURE_TEST_CASE(a_shared_reply_becomes_a_frame_for_each, board) {
  for (int i = 0; i < 3; ++i) of.open(secret, "");
  of.closed(2);
  std::string to;
  wire::append_receiver(to, {1, request_id{7}});
  wire::append_receiver(to, {2, request_id{8}});
  wire::append_receiver(to, {3, request_id{300}});
  std::string frame;
  wire::append_shared(frame, "rest", to);

  BOOST_TEST(hear(frame).ok());
  BOOST_TEST((changed() == std::vector<std::uint32_t>{1, 3}));
  BOOST_TEST(written(1) == std::string("\0\0\0\6\x8\7rest", 10));
  BOOST_TEST(written(3) == std::string("\0\0\0\7\x8\xac\2rest", 11));

  to.clear();
  wire::append_receiver(to, {4, request_id{1}});
  frame.clear();
  wire::append_shared(frame, "rest", to);
  BOOST_TEST(!hear(frame).ok());
}

BOOST_FIXTURE_TEST_CASE(the_end_of_a_process_is_reported, board) {
  of.open(secret, "");
  of.closed(1, true);
  BOOST_TEST(out() == "1 opened , 1 exited");
}

BOOST_FIXTURE_TEST_CASE(a_new_trunk_begins_anew, board) {
  of.open(secret, "");
  of.reset();

  BOOST_TEST(of.size() == 0u);
  BOOST_TEST(out() == "");
  BOOST_TEST(of.open(secret, "") == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::relay
