// torch's TCPStore clients at the dispatch, in virtual time, with the protocol's bytes.

#include "coxswain/server/dispatch.hpp"
#include "coxswain/tcp_store/request.hpp"

#include <boost/test/unit_test.hpp>

#include <sys/uio.h>

#include <array>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain::server {
namespace {

using namespace std::string_literals;

constexpr time_point t0{std::chrono::hours{1000}};

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

struct world {
  struct peer {
    std::string read;
    bool reads{true};
    bool is_closed{};
    dispatch::taken taken{};
  };

  explicit world(options o = {}) : d{with_log(std::move(o)), incarnation{77}, t0} {}

  options with_log(options o) {
    o.core.num_tasks = 1;
    o.log = [this](core::event const& e) { log += e.text + '\n'; };
    return o;
  }

  // A client that has sent its greeting.
  connection_id connect(protocols allowed = protocols::both) {
    core::session_secret secret{};
    secret[0] = static_cast<std::uint8_t>(peers.size() + 1);
    auto const id = d.open(now, "10.0.0.1:" + std::to_string(peers.size()), secret, allowed);
    peers[id];
    send(id, std::string{tcp_store::greeting} + "\x0d" + number(7, 4));
    return id;
  }

  void send(connection_id by, std::string_view bytes) {
    auto& p = peers.at(by);
    if (!p.is_closed) p.taken = d.received(now, by, bytes);
    settle();
  }

  void settle() {
    for (int i = 0; i < 20; ++i) {
      d.begin();
      for (auto& [id, p] : peers) {
        if (!p.is_closed && p.taken != dispatch::taken::all) p.taken = d.go_on(now, id);
      }
      d.advance(now);
      std::vector<connection_id> dirty;
      while (d.deliver(dirty)) {
        for (auto const id : dirty) read(id);
      }
      d.check_invariants();
    }
  }

  void read(connection_id by) {
    auto& p = peers.at(by);
    if (!p.reads || p.is_closed) return;
    std::array<iovec, 16> room;
    auto& out = d.out(by);
    while (!out.empty()) {
      std::size_t count = 0;
      for (auto const& one : out.fill(room)) {
        p.read.append(static_cast<char const*>(one.iov_base), one.iov_len);
        count += one.iov_len;
      }
      d.wrote(now, by, count);
    }
    if (out.ends()) close(by);
  }

  void close(connection_id which) {
    peers.at(which).is_closed = true;
    d.lost(now, which, core::loss::closed);
  }

  std::string take(connection_id by) { return std::exchange(peers.at(by).read, {}); }
  bool is_closed(connection_id which) const { return peers.at(which).is_closed; }

  void pass(duration time) {
    auto const then = now + time;
    for (auto next = d.next_deadline(); next && *next <= then; next = d.next_deadline()) {
      now = std::max(now, *next);
      settle();
    }
    now = then;
    settle();
  }

  std::string log;
  time_point now{t0};
  std::map<connection_id, peer> peers;
  dispatch d;
};

options with_token() {
  options o;
  o.core.credentials = {{core::role::worker, "secret"}};
  return o;
}

BOOST_AUTO_TEST_SUITE(tcp_store_lines)

BOOST_AUTO_TEST_CASE(two_clients_meet_at_a_key) {
  world w;
  auto const a = w.connect();
  auto const b = w.connect();
  BOOST_TEST(w.take(a) == number(7, 4));
  w.send(a, wait("/k"));
  BOOST_TEST(w.take(a) == "");
  w.send(b, set("/k", "v"));
  BOOST_TEST(w.take(a) == "\0"s);
  w.send(a, get("/k"));
  BOOST_TEST(w.take(a) == text("v"));
  BOOST_TEST(w.d.logic().value("torch/k")->value.view() == "v");
}

BOOST_AUTO_TEST_CASE(silence_for_hours_does_not_end_a_client) {
  world w;
  auto const a = w.connect();
  w.send(a, wait("/k"));
  w.pass(5h);
  BOOST_TEST(!w.is_closed(a));
  w.send(w.connect(), set("/k", "v"));
  BOOST_TEST(w.take(a) == number(7, 4) + "\0"s);
}

BOOST_AUTO_TEST_CASE(where_a_token_is_required_it_is_refused_but_not_at_an_address_of_its_own) {
  world w{with_token()};
  auto const refused = w.connect(protocols::native);
  BOOST_TEST(w.is_closed(refused));
  BOOST_TEST(w.take(refused) == "");
  BOOST_TEST(w.log.find("requires a token") != std::string::npos);

  for (auto const allowed : {protocols::jax, protocols::tcp_store}) {
    auto const served = w.connect(allowed);
    w.send(served, set("/k", "v") + get("/k"));
    BOOST_TEST(w.take(served) == number(7, 4) + text("v"));
  }
}

BOOST_AUTO_TEST_CASE(an_address_of_its_own_serves_nothing_else) {
  world w{with_token()};
  for (auto const& bytes : {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"s, "\0\0\0\5hello"s}) {
    core::session_secret const secret{};
    auto const id = w.d.open(w.now, "10.0.0.1:1", secret, protocols::tcp_store);
    w.peers[id];
    w.send(id, bytes);
    BOOST_TEST(w.is_closed(id));
  }
}

BOOST_AUTO_TEST_CASE(what_is_malformed_or_fails_ends_the_connection_and_is_logged) {
  world w;
  for (auto const& [bytes, why] : std::vector<std::pair<std::string, std::string>>{
           {"\x7f", "TCPStore request 127 is unknown"},
           {"\x01" + text("/k") + number(std::uint64_t{1} << 60), "announces"},
           {get("/missing"), "get of a TCPStore client failed: key torch/missing not found"}}) {
    auto const c = w.connect();
    w.send(c, bytes);
    BOOST_TEST(w.is_closed(c));
    BOOST_TEST(w.log.find(why) != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(a_client_that_does_not_read_is_not_read) {
  world w;
  auto const c = w.connect();
  w.send(c, set("/k", std::string(100'000, 'v')));
  w.take(c);
  w.peers.at(c).reads = false;
  std::string many;
  for (int i = 0; i < 100; ++i) many += get("/k");
  w.send(c, many);
  BOOST_TEST((w.peers.at(c).taken == dispatch::taken::reading_paused));
  BOOST_TEST(w.d.out(c).queued_bytes() < 1'000'000);  // the core gathers a few

  w.peers.at(c).reads = true;
  w.read(c);
  for (int i = 0; i < 100; ++i) {
    w.settle();
    w.read(c);
  }
  BOOST_TEST(w.take(c).size() == 100 * (100'000 + 8));
}

BOOST_AUTO_TEST_CASE(a_large_value_arrives_in_pieces_and_is_not_kept_in_transit) {
  world w;
  auto const c = w.connect();
  w.take(c);
  std::string const value(3 << 20, 'v');
  std::string const whole = set("/k", value) + get("/k");
  for (std::size_t at = 0; at < whole.size(); at += 60'000) {
    w.send(c, std::string_view{whole}.substr(at, 60'000));
  }
  BOOST_TEST((w.take(c) == text(value)));
  BOOST_TEST(w.d.logic().memory()->transit() < 10'000);
}

BOOST_AUTO_TEST_CASE(random_requests_and_bytes_break_nothing) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      std::mt19937 random{seed};
      options o;
      o.core.memory_bytes_max = 4 << 20;
      world w{o};
      auto const key = [&] { return "/" + std::to_string(random() % 3); };
      for (int i = 0; i < 60; ++i) {
        if (w.peers.size() < 4) w.connect();
        auto const id = std::next(w.peers.begin(), random() % w.peers.size())->first;
        std::string some;
        switch (random() % 14) {
          case 0: some = set(key(), std::string(random() % 50'000, 'v')); break;
          case 1: some = get(key()); break;
          case 2: some = wait(key()); break;
          case 3: some = "\x0c"; break;
          case 4: some = "\x11"; break;
          case 5: some = "\x04" + text(key()) + number(1); break;
          case 6: some = "\x02" + text(key()) + text("") + text("x"); break;
          case 7: some = "\x08" + text(key()); break;
          case 8: w.peers.at(id).reads = random() % 2 != 0; break;
          case 9: some = "\x0e" + text(key()) + text(std::string(random() % 50'000, 'v')); break;
          case 10: some = "\x0f" + text(key()); break;
          case 11: some = "\x12" + text(key()) + number(2); break;
          case 12: some = "\x09" + text(key()) + text(std::string(random() % 50'000, 'v')); break;
          default: some = std::string(random() % 4, static_cast<char>(random()));
        }
        w.send(id, std::string_view{some}.substr(0, some.size() - (random() % 20 == 0)));
        if (w.peers.at(id).is_closed) w.peers.erase(id);
      }
      for (auto const& [id, p] : w.peers) w.d.lost(w.now, id, core::loss::closed);
      BOOST_TEST(w.d.connections() == 0);
      BOOST_TEST(w.d.logic().memory()->transit() == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_popped_item_returns_unless_its_client_closed_the_connection_in_order) {
  for (bool const in_order : {false, true}) {
    world w;
    auto const pops = w.connect();
    auto const other = w.connect();
    w.send(other, "\x0e" + text("/q") + text("item"));
    w.send(pops, wait("/q"));
    w.send(pops, "\x0f" + text("/q"));
    BOOST_TEST(w.take(pops) == number(7, 4) + "\0"s + number(1) + text("item"));
    if (in_order) w.d.closed_in_order(w.now, pops);
    w.close(pops);
    w.take(other);
    w.send(other, "\x10" + text("/q"));
    BOOST_TEST(w.take(other) == number(in_order ? 0 : 1));
  }
}

BOOST_AUTO_TEST_CASE(a_client_that_goes_leaves_nothing) {
  world w;
  auto const c = w.connect();
  w.send(c, wait("/a"));
  w.send(c, "\x01" + text("/k") + number(50'000) + std::string(20'000, 'v'));
  w.close(c);
  w.settle();
  BOOST_TEST(w.d.connections() == 0);
  BOOST_TEST(w.d.logic().memory()->transit() == 0);
  BOOST_TEST(w.d.logic().is_deserted());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::server
