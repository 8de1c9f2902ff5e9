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
      using kind = wire::routed::kind;
      switch (what.what) {
        case kind::opened: text += "opened " + std::string{what.peer}; break;
        case kind::closed: text += "closed"; break;
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

  switchboard of;
};

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

BOOST_FIXTURE_TEST_CASE(a_client_that_has_gone_is_told_once_and_late_bytes_are_dropped, board) {
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
