// A relay's service for TCPStore clients, before a coordinator of a few lines.

#include "coxswain/relay/relay_tcp_store_service.hpp"

#include "coxswain/wire/frame.hpp"
#include "coxswain/wire/routed.hpp"
#include "tests/main/contains.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace coxswain::relay {
namespace {

constexpr time_point t0{std::chrono::hours{1}};
constexpr duration stalled_max = 30s;

core::hello_answer terms() {
  core::hello_answer made{incarnation{77}, "", session_id{4}, {7}, 1};
  made.heartbeat_timeout = 90s;
  made.value_bytes_max = 1 << 20;
  made.key_bytes_max = 1024;
  return made;
}

std::string number(std::uint64_t n, std::size_t width = 8) {
  std::string bytes;
  for (std::size_t i = 0; i < width; ++i) bytes += static_cast<char>(n >> 8 * i & 0xff);
  return bytes;
}
std::string text(std::string const& of) { return number(of.size()) + of; }
std::string set(std::string const& key, std::string const& value) {
  return "\x01" + text(key) + text(value);
}
std::string get(std::string const& key) { return "\x03" + text(key); }
std::string wait(std::string const& key) { return "\x06" + number(1) + text(key); }
std::string queue_pop(std::string const& key) { return "\x0f" + text(key); }
std::string ping() { return "\x0d" + number(7, 4); }

// Its values outlast a trunk, the requests that it has not answered do not.
struct job {
  struct route {
    wire::frame_decoder frames{wire::message_bytes_max};
    std::string unsent;
    std::size_t room{wire::route_room_max};
  };

  explicit job(bool is_up = true) {
    service.begin(t0);
    if (is_up) service.trunk_up();
  }

  std::uint32_t connect() {
    auto const one = service.open("10.0.0.1:5", core::session_secret{9});
    service.content(one, tcp_store::greeting);
    return one;
  }
  std::uint32_t greeted() {
    auto const one = connect();
    answer();
    requests.clear();
    return one;
  }
  std::string send(std::uint32_t by, std::string_view bytes) {
    service.content(by, bytes);
    answer();
    return read(by);
  }
  std::string read(std::uint32_t by) {
    std::string all;
    for (auto next = service.to_write(by); !next.empty(); next = service.to_write(by)) {
      auto const size = next.size();
      all += next;
      service.wrote(by, size);
      answer();
    }
    return all;
  }

  void lose_trunk() {
    service.trunk_down();
    board.reset();
    trunk = wire::frame_decoder{wire::message_bytes_max};
    routes.clear();
  }

  // Everything that was sent so far.
  void answer() {
    for (auto sent = std::exchange(board.output(), {}); !sent.empty();
         sent = std::exchange(board.output(), {})) {
      trunk.feed(sent);
      while (auto const payload = trunk.next().value()) {
        auto const one = wire::decode_routed(*payload).value();
        auto& on = routes[one.route];
        if (one.what == wire::routed::kind::room) on.room += one.room;
        if (one.what == wire::routed::kind::content) {
          on.frames.feed(one.content);
          std::string frame;
          wire::append_room(frame, one.route, static_cast<std::uint32_t>(one.content.size()));
          pass(frame, one.route);
        }
        while (auto const frame = on.frames.next().value()) {
          answer(one.route, wire::decode_client(*frame).value());
        }
        flush(one.route);
      }
    }
  }
  void answer(std::uint32_t route, core::client_message const& asked) {
    if (std::holds_alternative<core::hello_args>(asked.what)) {
      requests += "hello ";
      say(route, {}, {{}, terms()});
    } else if (auto const* const again = std::get_if<core::resume_args>(&asked.what)) {
      requests += "resume ";
      say(route, {}, {{}, core::resume_answer{again->open}});
    } else if (std::holds_alternative<core::bye_args>(asked.what)) {
      requests += "bye ";
      say(route, {}, {{}, core::goodbye{{}, false}});
    } else if (auto const* const put = std::get_if<core::put_args>(&asked.what)) {
      requests += "put ";
      values[put->key] = put->value;
      say(route, asked.id, {});
    } else if (auto const* const one = std::get_if<core::try_get_args>(&asked.what)) {
      requests += "get ";
      if (values.contains(one->key)) {
        say(route, asked.id, {{}, core::value_answer{bytes{std::string{values[one->key]}}, 1}});
      } else {
        say(route, asked.id, {{errc::not_found, "no such key"}, {}});
      }
    } else if (std::holds_alternative<core::take_args>(asked.what)) {
      requests += "take ";
      core::value_answer item{bytes{std::string{"item"}}, 1};
      item.redeliveries = 0;
      say(route, asked.id, {{}, std::move(item)});
    } else if (auto const* const end = std::get_if<core::update_lease_args>(&asked.what)) {
      requests += end->change == core::lease_change::finish ? "finish " : "release ";
      say(route, asked.id, {});
    } else if (std::holds_alternative<core::get_all_args>(asked.what)) {
      requests += "wait ";
    } else if (asked.id == request_id{}) {
      requests += "heartbeat ";
    }
  }
  void say(std::uint32_t route, request_id to, core::answer const& what) {
    auto const encoded = wire::encode(what);
    auto& unsent = routes[route].unsent;
    wire::append_server_head(unsent, to, encoded.size());
    unsent.append(encoded.head).append(encoded.tail.view());
    flush(route);
  }
  void flush(std::uint32_t route) {
    auto& on = routes[route];
    while (!on.unsent.empty() && on.room > 0) {
      auto const piece = on.unsent.substr(0, std::min(on.room, wire::route_content_max));
      on.unsent.erase(0, piece.size());
      on.room -= piece.size();
      std::string frame;
      wire::append_content_head(frame, route, piece.size());
      frame += piece;
      pass(frame, route);
    }
  }
  void pass(std::string_view frame, std::uint32_t route) {
    BOOST_TEST_REQUIRE(board.received(frame.substr(wire::length_bytes)).ok());
    service.route_changed(route);
  }

  switchboard board{""};
  std::string log;
  relay_tcp_store_service service{board,
                                  {"train", "token", stalled_max},
                                  terms(),
                                  [this](core::severity, std::string const& line) { log += line; }};
  wire::frame_decoder trunk{wire::message_bytes_max};
  std::map<std::uint32_t, route> routes;
  std::map<std::string, std::string> values;
  std::string requests;
};

BOOST_AUTO_TEST_SUITE(relay_tcp_store_service_test)

BOOST_AUTO_TEST_CASE(a_client_is_served) {
  job j;
  auto const one = j.greeted();

  BOOST_TEST(j.send(one, ping()) == number(7, 4));
  BOOST_TEST(j.send(one, set("/k", "v") + get("/k")) == text("v"));
  BOOST_TEST(j.values.at("torch/k") == "v");
}

BOOST_AUTO_TEST_CASE(an_item_that_was_written_to_its_client_is_finished) {
  job j;
  auto const received = j.greeted();
  BOOST_TEST(!j.send(received, queue_pop("/q")).empty());
  j.service.close(received, core::loss::closed);
  j.answer();
  BOOST_TEST(j.requests == "take finish bye ");

  auto const unread = j.greeted();
  j.service.content(unread, queue_pop("/q"));
  j.answer();
  j.service.close(unread, core::loss::closed);
  j.answer();
  BOOST_TEST(j.requests == "take bye ");
}

BOOST_AUTO_TEST_CASE(requests_wait_for_the_next_trunk) {
  job j;
  auto const one = j.greeted();
  j.send(one, set("/k", "v"));
  j.lose_trunk();

  BOOST_TEST(j.send(one, ping()) == number(7, 4));
  BOOST_TEST(j.send(one, get("/k")).empty());
  BOOST_TEST(!j.service.ends(one));
  j.requests.clear();
  j.service.trunk_up();
  j.answer();

  BOOST_TEST(j.requests == "resume get ");
  BOOST_TEST(j.read(one) == text("v"));
}

BOOST_AUTO_TEST_CASE(a_client_without_a_trunk_is_served_by_the_next_one) {
  job j{false};
  auto const one = j.connect();
  BOOST_TEST(j.send(one, ping() + set("/k", "v") + get("/k")) == number(7, 4));

  j.service.trunk_up();
  j.answer();

  BOOST_TEST(j.requests == "hello put get ");
  BOOST_TEST(j.read(one) == text("v"));
}

BOOST_AUTO_TEST_CASE(what_a_client_has_sent_takes_effect_after_its_end) {
  job j;
  auto const one = j.connect();
  j.service.content(one, set("/k", "v"));
  j.service.close(one, core::loss::closed);
  BOOST_TEST(j.values.empty());

  j.answer();

  BOOST_TEST(j.requests == "hello put bye ");
  BOOST_TEST(j.values.at("torch/k") == "v");
  BOOST_TEST(j.board.size() == 0u);
}

BOOST_AUTO_TEST_CASE(nor_does_a_lost_trunk_undo_it) {
  job j;
  auto const one = j.greeted();
  j.service.content(one, set("/k", "v") + wait("/never"));
  j.service.close(one, core::loss::closed);
  j.lose_trunk();

  j.service.trunk_up();
  j.answer();

  BOOST_TEST(j.requests == "resume put wait bye ");
  BOOST_TEST(j.values.at("torch/k") == "v");
  BOOST_TEST(j.board.size() == 0u);
}

BOOST_AUTO_TEST_CASE(a_client_that_ends_without_a_trunk_and_a_request_is_forgotten) {
  job j;
  auto const one = j.greeted();
  j.lose_trunk();
  j.service.close(one, core::loss::closed);
  j.service.trunk_up();

  BOOST_TEST(j.board.size() == 0u);
}

BOOST_AUTO_TEST_CASE(a_silent_client_lives) {
  job j;
  j.greeted();

  j.service.begin(t0 + 30s - 1ns);
  j.service.advance(true);
  j.answer();
  BOOST_TEST(j.requests.empty());
  BOOST_TEST((j.service.next_deadline() == t0 + 30s));
  j.service.begin(t0 + 30s);
  j.service.advance(true);
  j.answer();

  BOOST_TEST(j.requests == "heartbeat ");
}

BOOST_AUTO_TEST_CASE(a_client_that_reads_nothing_is_not_read_and_then_cut_off) {
  job j;
  auto const one = j.greeted();
  j.values["torch/k"] = std::string(60'000, 'v');
  std::string many;
  for (int i = 0; i < 1'000; ++i) many += get("/k");
  j.service.content(one, many);
  j.answer();

  BOOST_TEST(j.service.room(one) == 0u);
  BOOST_TEST(j.service.to_write(one).size() < 300'000u);
  j.service.begin(t0 + stalled_max - 1ns);
  BOOST_TEST(!j.service.take_stalled());
  j.service.begin(t0 + stalled_max);
  BOOST_TEST((j.service.take_stalled() == one));
  BOOST_TEST(test::contains(j.log, "10.0.0.1:5 read nothing for 30 s"));

  BOOST_TEST(j.read(one).size() == 1'000u * (8 + 60'000));
  BOOST_TEST(j.service.room(one) > 0u);
}

BOOST_AUTO_TEST_CASE(a_client_has_few_requests_open) {
  job j;
  auto const one = j.greeted();
  std::string many;
  for (int i = 0; i < 100; ++i) many += set("/k", std::string(10'000, 'v'));
  j.service.content(one, many);
  BOOST_TEST(j.service.room(one) == 0u);

  j.answer();

  std::vector<std::uint32_t> changed;
  j.service.take_changed(changed);
  BOOST_TEST(!changed.empty());
  BOOST_TEST(j.service.room(one) > 0u);
}

BOOST_AUTO_TEST_CASE(the_end_of_the_session_is_that_of_the_connection) {
  job j;
  auto const one = j.greeted();
  auto const other = j.greeted();
  j.say(1, {}, {{}, core::goodbye{{errc::unavailable, "the job is over"}, false}});
  BOOST_TEST(j.service.ends(one));
  BOOST_TEST(!j.service.ends(other));

  j.service.trunk_over({errc::unavailable, "gone"});
  BOOST_TEST(j.service.ends(other));
}

BOOST_AUTO_TEST_CASE(large_requests_wait_for_memory) {
  job j;
  auto const memory = make_meter(1024 * 1024);
  relay_tcp_store_service service{j.board, {}, terms(), {}, memory};
  service.begin(t0);
  auto const one = service.open("10.0.0.1:5", core::session_secret{9});
  memory->add_transit(1024 * 1024);
  service.content(one,
                  std::string{tcp_store::greeting} + "\x01" + text("/k") + number(100'000) + "vv");
  BOOST_TEST(service.room(one) == 0u);
  BOOST_TEST((service.next_deadline() == t0 + 50ms));

  memory->subtract_transit(1024 * 1024);
  service.begin(t0 + 50ms);
  service.advance(true);

  BOOST_TEST(service.room(one) > 0u);
  BOOST_TEST(!service.ends(one));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::relay
