// TCPStore clients before a coordinator's core, in virtual time. The expected replies are those of
// torch's own server, recorded.

#include "coxswain/tcp_store/client.hpp"

#include "coxswain/core/coordinator.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::tcp_store {
namespace {

using namespace std::string_literals;

constexpr time_point t0{std::chrono::hours{1000}};

std::string number(std::int64_t n) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(static_cast<std::uint64_t>(n) >> 8 * i);
  return bytes;
}
std::string text(std::string const& of) {
  return number(static_cast<std::int64_t>(of.size())) + of;
}

std::string const no_item = number(0);
std::string item(std::string const& value) { return number(1) + text(value); }

core::config small() {
  core::config made;
  made.num_tasks = 1;
  made.value_bytes_max = 10'000;
  made.page_entries_max = 3;
  return made;
}

struct harness {
  struct peer {
    client of{100'000, nullptr};
    std::string replies;
    bool has_ended{};
    std::string why;
  };

  connection_id connect() {
    core::session_secret secret{};
    secret[0] = static_cast<std::uint8_t>(++connected);
    auto const id = core.connected(now, "10.0.0.1:" + std::to_string(connected), secret);
    peers.try_emplace(id);
    core.received(now, id, client::hello("", ""));
    core.reading_paused(now, id);  // as the server says, since such a client sends no heartbeats
    return id;
  }

  // What the client reads next.
  std::string call(connection_id on, request what) {
    output out;
    auto& p = peers.at(on);
    status const why = p.of.received(std::move(what), out);
    if (!why.ok()) p.why = why.message();
    p.has_ended |= !why.ok();
    apply(on, std::move(out));
    advance();
    return read(on);
  }

  std::string read(connection_id on) { return std::exchange(peers.at(on).replies, {}); }

  // Closes the connection after it has read everything, or breaks it.
  void close(connection_id which, bool in_order) {
    output out;
    if (in_order) peers.at(which).of.closed_in_order(out);
    apply(which, std::move(out));
    core::client_message bye;
    bye.what = core::bye_args{};
    core.received(now, which, std::move(bye));
    core.lost(now, which, core::loss::closed);
    peers.erase(which);
    advance();
  }

  void advance() {
    for (int i = 0; i < 20; ++i) {
      core.advance(now);
      std::vector<core::outgoing> all;
      core.take_outgoing(all);
      for (auto const& one : all) {
        if (!peers.contains(one.to)) continue;
        output out;
        auto const fate = peers.at(one.to).of.answered(one, out);
        if (fate.what == client::fate::ends) {
          peers.at(one.to).has_ended = true;
          peers.at(one.to).why = fate.why.message();
        }
        apply(one.to, std::move(out));
      }
      core.check_invariants();
    }
  }

  void apply(connection_id of, output&& what) {
    for (auto& one : what.to_core) core.received(now, of, std::move(one));
    for (auto const& one : what.to_client) {
      peers.at(of).replies += one.copied;
      peers.at(of).replies += one.shared.view();
    }
  }

  time_point now{t0};
  core::coordinator core{small(), incarnation{1}, t0};
  std::map<connection_id, peer> peers;
  unsigned connected{};
};

BOOST_AUTO_TEST_SUITE(tcp_store_client)

BOOST_AUTO_TEST_CASE(a_client_greets_and_counts_itself) {
  harness h;
  auto const c = h.connect();
  BOOST_TEST(h.call(c, {query::validate, {}, magic}) == "");
  BOOST_TEST(h.call(c, {query::ping, {}, 0x01020304}) == "\4\3\2\1"s);
  BOOST_TEST(h.call(c, {query::add, {"init/"}, 1}) == number(1));
  BOOST_TEST(h.call(h.connect(), {query::add, {"init/"}, 1}) == number(2));
  BOOST_TEST(h.call(c, {query::count_keys}) == number(1));
  BOOST_TEST(!h.peers.at(c).has_ended);

  static_cast<void>(h.call(c, {query::validate, {}, 7}));
  BOOST_TEST(h.peers.at(c).has_ended);
}

BOOST_AUTO_TEST_CASE(values_are_set_read_counted_and_removed) {
  harness h;
  auto const c = h.connect();
  BOOST_TEST(h.call(c, {query::set, {"/k", "v"}}) == "");
  BOOST_TEST(h.call(c, {query::set, {"/k", "w"}}) == "");
  BOOST_TEST(h.call(c, {query::wait, {"/k"}}) == "\0"s);
  BOOST_TEST(h.call(c, {query::get, {"/k"}}) == text("w"));
  BOOST_TEST(h.call(c, {query::append, {"/k", "x"}}) == "");
  BOOST_TEST(h.call(c, {query::append, {"/new", "y"}}) == "");
  BOOST_TEST(h.call(c, {query::multi_set, {"/a", "1", "/b", std::string(5'000, 'b'), "/a", "3"}}) ==
             "");
  BOOST_TEST(h.call(c, {query::multi_get, {"/b", "/a", "/k", "/new"}}) ==
             text(std::string(5'000, 'b')) + text("3") + text("wx") + text("y"));
  BOOST_TEST(h.call(c, {query::multi_get}) == "");
  BOOST_TEST(h.call(c, {query::multi_set}) == "");
  BOOST_TEST(h.call(c, {query::count_keys}) == number(4));
  BOOST_TEST(h.call(c, {query::delete_key, {"/a"}}) == number(1));
  BOOST_TEST(h.call(c, {query::delete_key, {"/a"}}) == number(0));
  BOOST_TEST(h.call(c, {query::add, {"/n"}, 5}) == number(5));
  BOOST_TEST(h.call(c, {query::add, {"/n"}, -7}) == number(-2));
  BOOST_TEST(h.call(c, {query::get, {"/n"}}) == text("-2"));
  BOOST_TEST(h.call(c, {query::list_keys}) ==
             number(4) + text("/b") + text("/k") + text("/n") + text("/new"));
  BOOST_TEST(h.core.value("torch/k")->value.view() == "wx");
}

BOOST_AUTO_TEST_CASE(compare_set_is_as_odd_as_upstreams) {
  harness h;
  auto const c = h.connect();
  auto const compare_set = [&](std::string expected, std::string desired) {
    return h.call(c, {query::compare_set, {"/k", std::move(expected), std::move(desired)}});
  };
  BOOST_TEST(compare_set("q", "x") == text("q"));  // the key is missing, and stays so
  BOOST_TEST(h.call(c, {query::check, {"/k"}}) == "\1"s);
  BOOST_TEST(compare_set("", "x") == text("x"));
  BOOST_TEST(compare_set("q", "y") == text("x"));
  BOOST_TEST(compare_set("", "y") == text("x"));
  BOOST_TEST(compare_set("x", "y") == text("y"));
  BOOST_TEST(h.call(c, {query::set, {"/k", ""}}) == "");
  BOOST_TEST(compare_set("", "z") == text("z"));
}

BOOST_AUTO_TEST_CASE(check_says_whether_all_keys_have_values) {
  harness h;
  auto const c = h.connect();
  static_cast<void>(h.call(c, {query::set, {"/a", "1"}}));
  BOOST_TEST(h.call(c, {query::check, {"/a"}}) == "\0"s);
  BOOST_TEST(h.call(c, {query::check, {"/b"}}) == "\1"s);
  BOOST_TEST(h.call(c, {query::check, {"/a", "/b"}}) == "\1"s);
  BOOST_TEST(h.call(c, {query::check}) == "\0"s);
  static_cast<void>(h.call(c, {query::set, {"/b", "1"}}));
  BOOST_TEST(h.call(c, {query::check, {"/a", "/b"}}) == "\0"s);
}

BOOST_AUTO_TEST_CASE(a_wait_ends_when_all_its_keys_have_values) {
  harness h;
  auto const waits = h.connect();
  auto const sets = h.connect();
  BOOST_TEST(h.call(waits, {query::wait, {"/a", "/b"}}) == "");
  h.now += 1h;
  h.advance();
  BOOST_TEST(h.call(sets, {query::set, {"/a", "1"}}) == "");
  BOOST_TEST(h.read(waits) == "");
  BOOST_TEST(h.call(sets, {query::add, {"/b"}, 1}) == number(1));
  BOOST_TEST(h.read(waits) == "\0"s);
  BOOST_TEST(h.call(waits, {query::wait}) == "\0"s);
}

BOOST_AUTO_TEST_CASE(a_wait_that_is_cancelled_is_answered_once) {
  harness h;
  auto const waits = h.connect();
  auto const sets = h.connect();
  BOOST_TEST(h.call(waits, {query::wait, {"/a"}}) == "");
  BOOST_TEST(h.call(waits, {query::cancel_wait}) == "\1"s);
  static_cast<void>(h.call(sets, {query::set, {"/a", "1"}}));
  BOOST_TEST(h.read(waits) == "");
  // It came too late: the client reads both.
  BOOST_TEST(h.call(waits, {query::wait, {"/a"}}) == "\0"s);
  BOOST_TEST(h.call(waits, {query::cancel_wait}) == "\1"s);
}

BOOST_AUTO_TEST_CASE(items_are_pushed_counted_and_popped) {
  harness h;
  auto const c = h.connect();
  BOOST_TEST(h.call(c, {query::queue_pop, {"/q"}}) == no_item);
  BOOST_TEST(h.call(c, {query::queue_length, {"/q"}}) == number(0));
  BOOST_TEST(h.call(c, {query::queue_push, {"/q", "1"}}) == "");
  BOOST_TEST(h.call(c, {query::queue_push, {"/q", std::string(5'000, 'b')}}) == "");
  BOOST_TEST(h.call(c, {query::queue_length, {"/q"}}) == number(2));
  BOOST_TEST(h.call(c, {query::check, {"/q"}}) == "\0"s);
  BOOST_TEST(h.call(c, {query::wait, {"/q"}}) == "\0"s);
  BOOST_TEST(h.call(c, {query::queue_pop, {"/q"}}) == item("1"));
  BOOST_TEST(h.call(c, {query::queue_pop, {"/q"}}) == item(std::string(5'000, 'b')));
  BOOST_TEST(h.call(c, {query::check, {"/q"}}) == "\1"s);
  BOOST_TEST(h.call(c, {query::count_keys}) == number(0));
  BOOST_TEST(h.call(c, {query::queue_length, {"/q"}}) == number(0));
}

BOOST_AUTO_TEST_CASE(each_item_wakes_one_of_those_that_wait_to_pop) {
  harness h;
  auto const first = h.connect();
  auto const second = h.connect();
  auto const pushes = h.connect();
  BOOST_TEST(h.call(first, {query::wait, {"/q"}}) == "");
  BOOST_TEST(h.call(second, {query::wait, {"/q"}}) == "");
  static_cast<void>(h.call(pushes, {query::queue_push, {"/q", "1"}}));
  BOOST_TEST(h.read(first) == "\0"s);
  BOOST_TEST(h.read(second) == "");
  BOOST_TEST(h.call(pushes, {query::queue_pop, {"/q"}}) == no_item);  // it is the first one's
  BOOST_TEST(h.call(first, {query::queue_pop, {"/q"}}) == item("1"));
  static_cast<void>(h.call(pushes, {query::queue_push, {"/q", "2"}}));
  BOOST_TEST(h.read(second) == "\0"s);
  BOOST_TEST(h.call(second, {query::queue_pop, {"/q"}}) == item("2"));
}

BOOST_AUTO_TEST_CASE(an_item_that_ended_a_wait_returns_unless_it_is_popped) {
  harness h;
  auto const c = h.connect();
  auto const other = h.connect();
  static_cast<void>(h.call(other, {query::queue_push, {"/q", "1"}}));
  BOOST_TEST(h.call(c, {query::wait, {"/q"}}) == "\0"s);
  BOOST_TEST(h.call(c, {query::ping, {}, 7}) == "\7\0\0\0"s);
  BOOST_TEST(h.call(other, {query::queue_length, {"/q"}}) == number(1));

  BOOST_TEST(h.call(c, {query::wait, {"/q"}}) == "\0"s);
  BOOST_TEST(h.call(other, {query::queue_length, {"/q"}}) == number(0));
  for (int i = 0; i < 110; ++i) {  // a longer step would count as a stall
    h.now += 50ms;
    h.advance();
  }
  BOOST_TEST(h.call(other, {query::queue_pop, {"/q"}}) == item("1"));
  BOOST_TEST(h.call(c, {query::queue_pop, {"/q"}}) == no_item);
}

BOOST_AUTO_TEST_CASE(a_wait_for_an_item_is_cancelled_as_others_are) {
  harness h;
  auto const c = h.connect();
  auto const pushes = h.connect();
  BOOST_TEST(h.call(c, {query::wait, {"/q"}}) == "");
  BOOST_TEST(h.call(c, {query::cancel_wait}) == "\1"s);
  static_cast<void>(h.call(pushes, {query::queue_push, {"/q", "1"}}));
  BOOST_TEST(h.read(c) == "");
  BOOST_TEST(h.call(pushes, {query::queue_length, {"/q"}}) == number(1));
  // It came too late.
  BOOST_TEST(h.call(c, {query::wait, {"/q"}}) == "\0"s);
  BOOST_TEST(h.call(c, {query::cancel_wait}) == "\1"s);
  BOOST_TEST(h.call(pushes, {query::queue_length, {"/q"}}) == number(1));
}

BOOST_AUTO_TEST_CASE(an_item_is_gone_once_its_client_has_read_it_and_not_before) {
  for (bool const waits : {false, true}) {
    for (bool const in_order : {false, true}) {
      harness h;
      auto const pops = h.connect();
      auto const other = h.connect();
      static_cast<void>(h.call(other, {query::queue_push, {"/q", "1"}}));
      static_cast<void>(h.call(other, {query::queue_push, {"/q", "2"}}));
      if (waits) static_cast<void>(h.call(pops, {query::wait, {"/q"}}));
      BOOST_TEST(h.call(pops, {query::queue_pop, {"/q"}}) == item("1"));
      h.close(pops, in_order);
      BOOST_TEST(h.call(other, {query::queue_pop, {"/q"}}) == item(in_order ? "2" : "1"));
    }
  }
}

BOOST_AUTO_TEST_CASE(an_item_that_was_not_popped_survives_its_client) {
  for (bool const in_order : {false, true}) {
    harness h;
    auto const waits = h.connect();
    auto const other = h.connect();
    static_cast<void>(h.call(other, {query::queue_push, {"/q", "1"}}));
    BOOST_TEST(h.call(waits, {query::wait, {"/q"}}) == "\0"s);
    h.close(waits, in_order);
    BOOST_TEST(h.call(other, {query::queue_pop, {"/q"}}) == item("1"));
  }
}

BOOST_AUTO_TEST_CASE(a_read_item_is_finished_with_the_next_request) {
  harness h;
  auto const pops = h.connect();
  auto const other = h.connect();
  static_cast<void>(h.call(other, {query::queue_push, {"/q", "1"}}));
  BOOST_TEST(h.call(pops, {query::queue_pop, {"/q"}}) == item("1"));
  static_cast<void>(h.call(pops, {query::set, {"/k", "v"}}));
  h.close(pops, false);
  BOOST_TEST(h.call(other, {query::queue_pop, {"/q"}}) == no_item);
}

BOOST_AUTO_TEST_CASE(a_barrier_counts_its_arrivals_in_its_key) {
  harness h;
  auto const a = h.connect();
  auto const b = h.connect();
  BOOST_TEST(h.call(a, {query::barrier, {"/b"}, 2}) == "");
  BOOST_TEST(h.call(b, {query::barrier, {"/b"}, 2}) == "\0"s);
  BOOST_TEST(h.read(a) == "\0"s);
  BOOST_TEST(h.call(a, {query::barrier, {"/b"}, 2}) == "\0"s);  // as late
  BOOST_TEST(h.call(a, {query::list_keys}) == number(1) + text("/b"));
  BOOST_TEST(h.call(a, {query::get, {"/b"}}) == text("3"));

  BOOST_TEST(h.call(a, {query::delete_key, {"/b"}}) == number(1));
  BOOST_TEST(h.call(a, {query::barrier, {"/b"}, 2}) == "");
  BOOST_TEST(h.call(a, {query::cancel_wait}) == "\1"s);
  BOOST_TEST(h.call(a, {query::barrier, {"/b"}, 2}) == "\0"s);  // both count
  BOOST_TEST(h.call(a, {query::barrier, {"/none"}, 0}) == "\0"s);
}

// A reply with all of them would be too large.
BOOST_AUTO_TEST_CASE(to_wait_and_to_check_moves_no_values) {
  harness h;
  auto const c = h.connect();
  std::vector<std::string> keys;
  for (int i = 0; i < 30; ++i) {
    keys.push_back("/" + std::to_string(i));
    static_cast<void>(h.call(c, {query::set, {keys.back(), std::string(10'000, 'v')}}));
  }
  BOOST_TEST(h.call(c, {query::wait, keys}) == "\0"s);
  BOOST_TEST(h.call(c, {query::check, keys}) == "\0"s);
  BOOST_TEST(!h.peers.at(c).has_ended);
}

BOOST_AUTO_TEST_CASE(what_fails_without_a_reply_ends_the_connection_and_says_why) {
  harness h;
  for (auto const& [what, why] : std::vector<std::pair<request, std::string>>{
           {{query::set, {"/k", std::string(10'001, 'v')}}, "set of a TCPStore client failed"},
           {{query::set, {"/a\0b"s, "v"}}, "NUL"},
           {{query::add, {"/text"}, 1}, "add of a TCPStore client failed"},
           {{query::get, {"/missing"}}, "not found"},
           {{query::multi_get, {"/missing", "/text"}}, "not all keys"},
           {{query::queue_push, {"/q", std::string(10'001, 'v')}},
            "queue_push of a TCPStore client"},
           {{query::barrier, {"/text"}, 1}, "barrier of a TCPStore client"}}) {
    auto const c = h.connect();
    static_cast<void>(h.call(c, {query::set, {"/text", "abc"}}));
    BOOST_TEST(h.call(c, what) == "");
    BOOST_TEST(h.peers.at(c).has_ended);
    BOOST_TEST(h.peers.at(c).why.find(why) != std::string::npos);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::tcp_store
