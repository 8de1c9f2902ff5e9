#include "coxswain/relay/core_links.hpp"

#include "coxswain/wire/frame.hpp"
#include "coxswain/wire/routed.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <utility>
#include <vector>

namespace coxswain::relay {
namespace {

using core::answer;
using core::client_message;

constexpr time_point t0{};
constexpr core::session_secret secret{7};

struct links {
  explicit links(bool is_up = true) {
    if (is_up) of.trunk_up();
  }

  connection_id hello() {
    auto const id = of.connected(t0, "pid 1", secret);
    of.received(t0, id, {{}, 0, {}, core::hello_args{}});
    return id;
  }
  connection_id greeted() {
    auto const id = hello();
    say(++route, {}, {{}, core::hello_answer{incarnation{9}, "", session_id{4}, secret}});
    return id;
  }
  void bye(connection_id by) { of.received(t0, by, {{}, 0, {}, core::bye_args{}}); }
  void increment(connection_id by, std::uint64_t id) {
    of.received(t0, by, {request_id{id}, 0, {}, core::increment_args{"k", 1}});
  }

  // The coordinator says this on a route.
  void say(std::uint32_t on, request_id id, answer const& what) {
    auto const encoded = wire::encode(what);
    std::string bytes;
    wire::append_server_head(bytes, id, encoded.size());
    bytes.append(encoded.head).append(encoded.tail.view());
    std::string frame;
    wire::append_content_head(frame, on, bytes.size());
    frame += bytes;
    BOOST_TEST_REQUIRE(board.received(frame.substr(wire::length_bytes)).ok());
    of.changed(t0, on);
  }

  // The messages on the trunk since the last look: "1 opened, 1 hello, 1 #5 @0, 1 resume 5".
  std::string sent() {
    std::string text;
    wire::frame_decoder trunk{wire::message_bytes_max};
    auto const bytes = std::exchange(board.output(), {});
    trunk.feed(bytes);
    while (auto const payload = trunk.next().value()) {
      auto const one = wire::decode_routed(*payload).value();
      std::string const on = (text.empty() ? "" : ", ") + std::to_string(one.route) + " ";
      using kind = wire::routed::kind;
      if (one.what == kind::opened) text += on + "opened";
      if (one.what == kind::closed) text += on + (one.has_exited ? "exited" : "closed");
      if (one.what == kind::content) text += on + shown(one.content);
    }
    return text;
  }
  static std::string shown(std::string_view content) {
    auto const one = wire::decode_client(content.substr(wire::length_bytes)).value();
    if (std::holds_alternative<core::hello_args>(one.what)) return "hello";
    if (auto const* const cancel = std::get_if<core::cancel_args>(&one.what)) {
      return "cancel " + std::to_string(cancel->request.value);
    }
    if (auto const* const again = std::get_if<core::resume_args>(&one.what)) {
      std::string text = "resume";
      for (auto const id : again->open) text += " " + std::to_string(id.value);
      return text;
    }
    if (std::holds_alternative<core::bye_args>(one.what)) return "bye";
    if (one.id == request_id{}) return "heartbeat";
    return "#" + std::to_string(one.id.value) + " @" + std::to_string(one.answered_through);
  }

  std::vector<core::outgoing> messages() {
    std::vector<core::outgoing> all;
    of.take_outgoing(all);
    return all;
  }

  switchboard board{""};
  core_links of{board, 100};
  std::uint32_t route{};
};

BOOST_AUTO_TEST_SUITE(core_links_test)

BOOST_AUTO_TEST_CASE(requests_wait_for_the_reply_to_hello) {
  links l;
  auto const one = l.hello();
  l.increment(one, 5);
  BOOST_TEST(l.sent() == "1 opened, 1 hello");

  l.say(1, {}, {{}, core::hello_answer{}});

  BOOST_TEST(l.sent() == "1 #5 @0");
  BOOST_TEST(l.messages().size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_session_resumes_on_the_next_trunk) {
  links l;
  auto const one = l.greeted();
  l.increment(one, 5);
  l.increment(one, 6);
  l.increment(one, 7);
  l.say(1, request_id{5}, {{}, core::counter_answer{}});
  l.sent();
  l.messages();

  l.of.trunk_down();
  l.board.reset();
  l.increment(one, 8);
  l.of.heard(t0, one);
  l.of.trunk_up();
  BOOST_TEST(l.sent() == "1 opened, 1 resume 6 7");

  l.say(1, {}, {{}, core::resume_answer{{request_id{7}}}});

  BOOST_TEST(l.sent() == "1 #7 @1, 1 #8 @1");
  BOOST_TEST(l.messages().empty());  // the service notices nothing
  l.say(1, request_id{6}, {{}, core::counter_answer{}});
  BOOST_TEST(l.messages().at(0).in_reply_to == request_id{6});
}

BOOST_AUTO_TEST_CASE(replies_to_a_session_that_is_held_back_are_read_later) {
  links l;
  auto const slow = l.greeted();
  auto const other = l.greeted();
  l.increment(slow, 5);
  l.increment(other, 5);
  l.messages();
  bool is_full = true;
  l.of.hold_back([&](connection_id of) { return of == slow && is_full; });

  l.say(1, request_id{5}, {{}, core::counter_answer{}});
  l.say(2, request_id{5}, {{}, core::counter_answer{}});

  auto messages = l.messages();
  BOOST_TEST_REQUIRE(messages.size() == 1u);
  BOOST_TEST(messages[0].to == other);
  l.of.read_held_back(t0);
  BOOST_TEST(l.messages().empty());
  BOOST_TEST(l.of.has_held_back());

  is_full = false;
  l.of.read_held_back(t0);

  messages = l.messages();
  BOOST_TEST_REQUIRE(messages.size() == 1u);
  BOOST_TEST(messages[0].to == slow);
  BOOST_TEST(!l.of.has_held_back());
}

BOOST_AUTO_TEST_CASE(what_was_held_back_is_gone_with_the_trunk_or_the_session) {
  links l;
  auto const slow = l.greeted();
  auto const ended = l.greeted();
  l.increment(slow, 5);
  l.increment(ended, 5);
  l.of.hold_back([](connection_id) { return true; });
  l.say(1, request_id{5}, {{}, core::counter_answer{}});
  l.say(2, request_id{5}, {{}, core::counter_answer{}});
  l.of.session_lost(t0, ended, core::loss::closed);
  l.messages();

  l.of.hold_back([](connection_id) { return false; });
  l.of.trunk_down();
  l.of.read_held_back(t0);

  BOOST_TEST(l.messages().empty());
  BOOST_TEST(!l.of.has_held_back());
}

BOOST_AUTO_TEST_CASE(the_service_hears_of_requests_that_are_lost_with_its_own_connection) {
  links l;
  auto const one = l.of.connected(t0, "pid 1", secret);
  core::resume_args again;
  again.open = {request_id{5}, request_id{6}};
  l.of.received(t0, one, {{}, 3, {}, again});
  BOOST_TEST(l.sent() == "1 opened, 1 resume 5 6");

  l.say(1, {}, {{}, core::resume_answer{{request_id{5}}}});

  auto const messages = l.messages();
  BOOST_TEST_REQUIRE(messages.size() == 1u);
  auto const& lost = std::get<core::resume_answer>(messages[0].what->value);
  BOOST_TEST(lost.unknown.size() == 1u);
  BOOST_TEST(l.sent().empty());
}

BOOST_AUTO_TEST_CASE(a_cancelled_request_is_not_repeated) {
  links l;
  auto const one = l.greeted();
  l.increment(one, 5);
  l.of.trunk_down();
  l.board.reset();
  l.sent();

  l.of.received(t0, one, {{}, 0, {}, core::cancel_args{request_id{5}}});
  l.of.trunk_up();

  BOOST_TEST(l.sent() == "1 opened, 1 resume");
  BOOST_TEST(l.of.open_bytes() == 0u);
}

BOOST_AUTO_TEST_CASE(a_goodbye_that_permits_it_is_followed_by_another_attempt) {
  links l;
  l.greeted();
  l.sent();
  l.messages();

  l.say(1, {}, {{}, core::goodbye{{errc::resource_exhausted, "full"}, true}});

  BOOST_TEST(l.messages().empty());
  BOOST_TEST_REQUIRE(l.of.next_deadline().has_value());
  l.of.advance(*l.of.next_deadline() - 1ns);
  BOOST_TEST(l.sent() == "1 closed");
  l.of.advance(*l.of.next_deadline());
  BOOST_TEST(l.sent() == "2 opened, 2 resume");
}

BOOST_AUTO_TEST_CASE(a_final_goodbye_ends_the_session) {
  links l;
  l.greeted();
  l.messages();

  l.say(1, {}, {{}, core::goodbye{{errc::aborted, "restarted"}, false}});

  auto const messages = l.messages();
  BOOST_TEST_REQUIRE(messages.size() == 1u);
  BOOST_TEST(std::holds_alternative<core::goodbye>(messages[0].what->value));
  BOOST_TEST(l.of.size() == 0u);
}

BOOST_AUTO_TEST_CASE(a_bye_comes_after_all_requests_and_again_until_it_is_answered) {
  links l;
  auto const one = l.hello();
  l.increment(one, 5);
  l.bye(one);
  BOOST_TEST(l.sent() == "1 opened, 1 hello");
  l.say(1, {}, {{}, core::hello_answer{}});
  BOOST_TEST(l.sent() == "1 #5 @0, 1 bye");

  l.of.trunk_down();
  l.board.reset();
  l.of.trunk_up();
  BOOST_TEST(l.sent() == "1 opened, 1 resume 5");
  l.say(1, {}, {{}, core::resume_answer{}});
  BOOST_TEST(l.sent() == "1 bye");
  l.say(1, {}, {{}, core::goodbye{{}, false}});

  BOOST_TEST(l.of.size() == 0u);
  BOOST_TEST(l.of.open_bytes() == 0u);
}

BOOST_AUTO_TEST_CASE(a_bye_without_requests_does_not_wait_for_a_trunk) {
  links l;
  auto const messages = l.greeted();
  auto const greeting = l.greeted();
  l.bye(messages);
  l.of.trunk_down();
  BOOST_TEST(l.of.size() == 1u);
  l.bye(greeting);

  BOOST_TEST(l.of.size() == 0u);
}

BOOST_AUTO_TEST_CASE(the_kind_of_a_loss_reaches_the_coordinator) {
  links l;
  auto const closed = l.greeted();
  auto const exited = l.greeted();
  auto const silent = l.greeted();
  l.sent();
  l.messages();

  l.of.session_lost(t0, closed, core::loss::closed);
  l.of.session_lost(t0, exited, core::loss::exited);
  l.of.session_lost(t0, silent, core::loss::unreachable);

  BOOST_TEST(l.sent() == "1 closed, 2 exited");
  l.say(3, {}, {{}, core::probe{}});
  BOOST_TEST(l.messages().empty());
  BOOST_TEST(l.board.size() == 1u);
}

BOOST_AUTO_TEST_CASE(the_end_of_the_trunk_is_that_of_all_sessions) {
  links l;
  l.greeted();
  l.greeted();
  l.messages();

  l.of.trunk_over({errc::unavailable, "gone"});

  BOOST_TEST(l.messages().size() == 2u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::relay
