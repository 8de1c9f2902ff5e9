// Peers that speak HTTP/2, or the protocol of torch's TCPStore, and mean harm: each kind of frame
// or request, over and over, at the coordinator's xla_service and at a relay's. Whatever
// they send, memory stays within its limit, others are answered, and the peer is slowed down or
// refused.

#include "coxswain/client/blocking_client.hpp"
#include "coxswain/http2/gzip.hpp"
#include "coxswain/net/endpoint.hpp"
#include "coxswain/net/socket.hpp"
#include "tests/hostile/coordinator_process.hpp"
#include "tests/http2/frames.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::hostile {
namespace {

namespace h2 = http2::test;
using h2::frame;
using h2::frame_type;

constexpr std::uint32_t frames = 200'000;
constexpr std::size_t limit = std::size_t{64} * 1024 * 1024;
constexpr duration wait_max = 100ms;
constexpr duration attack_max = 2s;
constexpr int attempts = 5;  // other load of the machine disturbs, too

// A kind of attack: its n-th piece, counted from 0.
struct kind {
  std::string_view name;
  std::function<std::string(std::uint32_t n)> piece;
  bool reads = true;
  std::uint32_t count = frames;
  std::string greeting = h2::preface();
  std::size_t resident_max = 2 * limit;
  friend std::ostream& operator<<(std::ostream& to, kind const& one) { return to << one.name; }
};

constexpr std::string_view get = "/tensorflow.CoordinationService/GetKeyValue";
constexpr std::string_view list = "/tensorflow.CoordinationService/GetKeyValueDir";
constexpr std::string_view insert = "/tensorflow.CoordinationService/InsertKeyValue";

std::uint32_t stream(std::uint32_t n) { return 2 * n + 1; }

std::string head(std::uint32_t n, std::string_view path) {
  return frame(frame_type::headers, h2::end_headers, stream(n),
               h2::header_block(h2::call_fields(path)));
}

std::string compressed_zeros() {
  static std::string const made = http2::gzip(std::string(13'000'000, '\0'));
  return made;
}

std::vector<kind> kinds() {
  std::string windows;
  for (std::uint64_t i = 0; i < 32; ++i) windows += h2::number(4, 2) + h2::number(i, 4);
  auto const first = [](std::uint32_t n) { return n == 0 ? head(0, get) : std::string{}; };
  constexpr auto priority = static_cast<frame_type>(2);
  constexpr auto unknown = static_cast<frame_type>(77);
  return {
      {"half-open calls", [](auto n) { return head(n, get); }},
      {"waiting calls", [](auto n) { return h2::whole_call(stream(n), get, "\x0a\x02no"); }},
      {"failing calls, not read", [](auto n) { return h2::whole_call(stream(n), "/N", ""); },
       false},
      {"listings, not read",
       [](auto n) {
         return h2::whole_call(stream(n), list,
                               "\x0a\x01"
                               "d");
       },
       false},
      {"calls without a message",
       [](auto n) {
         return frame(frame_type::headers, h2::end_headers | h2::end_stream, stream(n),
                      h2::header_block(h2::call_fields(get)));
       }},
      {"half-sent messages",
       [](auto n) {
         return head(n, insert) + frame(frame_type::data, 0, stream(n),
                                        h2::message(std::string(9'000, 'x')).substr(0, 8'000));
       }},
      {"empty DATA", [first](auto n) { return first(n) + frame(frame_type::data, 0, 1, ""); }},
      {"compressed zeros",
       [](auto n) {
         return head(n, insert) + frame(frame_type::data, h2::end_stream, stream(n),
                                        h2::message(compressed_zeros(), true));
       },
       true, 1'000},
      {"reset calls",
       [](auto n) {
         return head(n, get) + frame(frame_type::reset, 0, stream(n), h2::number(8, 4));
       }},
      {"SETTINGS beside many calls",
       [windows](auto n) {
         return n < 5'000 ? head(n, get) : frame(frame_type::settings, 0, 0, windows);
       }},
      {"PING, not read", [](auto) { return frame(frame_type::ping, 0, 0, "12345678"); }, false},
      {"GOAWAY", [](auto) { return frame(frame_type::go_away, 0, 0, std::string(8, '\0')); }},
      {"WINDOW_UPDATE",
       [first](auto n) {
         return first(n) + frame(frame_type::window_update, 0, 1, h2::number(1, 4));
       }},
      {"PRIORITY", [](auto n) { return frame(priority, 0, stream(n), std::string(5, '\0')); }},
      {"CONTINUATION",
       [](auto n) {
         return n == 0 ? frame(frame_type::headers, 0, 1, "")
                       : frame(frame_type::continuation, 0, 1, "");
       }},
      {"unknown frames", [](auto n) { return frame(unknown, 0, stream(n), "x"); }},
  };
}

std::string number(std::uint64_t n) {
  std::string made;
  for (int i = 0; i < 8; ++i) made += static_cast<char>(n >> 8 * i & 0xff);
  return made;
}

std::string text(std::string const& of) { return number(of.size()) + of; }

// The same with the protocol of torch's TCPStore.
std::vector<kind> tcp_store_kinds() {
  std::string const greeting{"\0\xCE\xF7\x85\x3C", 5};
  std::string const large(60'000, 'v');
  auto const key = [](std::uint32_t n) { return text('/' + std::to_string(n)); };
  std::vector<kind> all{
      {"waits", [=](auto n) { return "\x06" + number(1) + key(n); }},
      {"waits and cancels", [=](auto n) { return "\x06" + number(1) + key(n) + "\x0c"; }},
      {"pings, not read", [](auto) { return std::string{"\x0d\1\2\3\4"}; }, false},
      {"gets of a large value, not read",
       [=](auto n) {
         return (n == 0 ? "\x01" + text("/k") + text(large) : std::string{}) + "\x03" + text("/k");
       },
       false},
      {"listings, not read",
       [=](auto n) { return n < 1'000 ? "\x01" + key(n) + text("v") : std::string{"\x11"}; },
       false},
      {"keys until there is no room", [=](auto n) { return "\x01" + key(n) + text(large); }},
      {"half of a large value",
       [=](auto n) { return n == 0 ? "\x01" + text("/k") + number(12'000'000) : "v"; }},
      {"a list of keys without end",
       [=](auto n) { return (n == 0 ? "\x05" + number(1'000'000) : std::string{}) + key(n); }},
      {"an announced size beyond the limit",
       [=](auto) { return "\x01" + text("/k") + number(std::uint64_t{1} << 60); }},
      {"counters", [=](auto n) { return "\x04" + key(n) + number(1); }},
      {"unknown requests", [](auto) { return std::string{"\x7f"}; }},
      // Each copies the value, and the allocator keeps some of what the earlier ones had.
      {.name = "appends to one key",
       .piece = [=](auto) { return "\x09" + text("/k") + text(large); },
       .resident_max = 3 * limit},
      {"items until there is no room", [=](auto) { return "\x0e" + text("/q") + text(large); }},
      {"items pushed and popped, not read",
       [=](auto) { return "\x0e" + text("/q") + text(large) + "\x0f" + text("/q"); }, false},
      {"waits that items end",
       [=](auto) { return "\x06" + number(1) + text("/q") + "\x0e" + text("/q") + text("v"); }},
      {"barriers", [=](auto n) { return "\x12" + key(n) + number(2); }},
  };
  for (auto& one : all) one.greeting = greeting;
  return all;
}

net::socket dial(std::string const& address) {
  auto const where = net::endpoint::parse(address).value();
  auto const at = where.resolve(net::endpoint::purpose::connect).value().front();
  net::socket made{::socket(at.family(), SOCK_STREAM | SOCK_CLOEXEC, 0)};
  BOOST_TEST_REQUIRE(::connect(made.value(), at.data(), at.size()) == 0);
  return made;
}

// Sends all pieces, as fast as they are taken, until the time is over or the connection is refused;
// between them probes. `probe` returns how long another client waited.
duration run(kind const& by, std::string const& address, std::function<duration()> const& probe) {
  auto const one = dial(address);
  std::string bytes = by.greeting;
  std::size_t sent = 0;
  std::uint32_t n = 0;
  duration longest{};
  std::array<char, 64 * 1024> ignored{};
  auto const end = std::chrono::steady_clock::now() + attack_max;
  auto probe_at = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() < end) {
    if (sent == bytes.size()) {
      if (n == by.count) break;
      bytes.clear();
      sent = 0;
      while (n < by.count && bytes.size() < ignored.size()) bytes += by.piece(n++);
    }
    pollfd ready{one.value(), static_cast<short>(POLLOUT | (by.reads ? POLLIN : 0)), 0};
    ::poll(&ready, 1, 10);
    if ((ready.revents & (POLLERR | POLLHUP)) != 0) break;
    if ((ready.revents & POLLIN) != 0 &&
        ::recv(one.value(), ignored.data(), ignored.size(), MSG_DONTWAIT) == 0) {
      break;
    }
    if ((ready.revents & POLLOUT) != 0) {
      auto const some =
          ::send(one.value(), &bytes[sent], bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (some < 0 && errno != EAGAIN) break;
      sent += static_cast<std::size_t>(std::max<ssize_t>(some, 0));
    }
    if (std::chrono::steady_clock::now() < probe_at) continue;
    longest = std::max(longest, probe());
    probe_at = std::chrono::steady_clock::now() + 20ms;
  }
  longest = std::max(longest, probe());
  return longest;
}

template <class Process>
void check(kind const& by, std::string const& address, Process const& target,
           std::function<duration()> const& probe) {
  duration longest = duration::max();
  for (int i = 0; i < attempts && longest >= wait_max; ++i) {
    longest = std::min(longest, run(by, address, probe));
    auto const resident = target.resident_bytes_max();
    BOOST_TEST(resident < by.resident_max, by.name << ": " << resident / 1'048'576 << " MiB");
  }
  BOOST_TEST((longest < wait_max), by.name << ": another client waited for "
                                           << longest / std::chrono::milliseconds{1} << " ms");
}

// At the coordinator: at an address for JAX programs alone, or at the one for all with a token.
void check_at_coordinator(kind const& by, bool is_open) {
  std::vector<std::string> options{"--memory-max", "64MiB"};
  if (is_open) options.insert(options.end(), {"--xla-listen", "127.0.0.1:0", "--xla-insecure"});
  coordinator_process const target{2, options};
  check(by, is_open ? target.jax_address() : target.address(), target,
        [&] { return target.ask_livez(); });
}

// At a relay with a token.
void check_at_relay(kind const& by, std::vector<std::string> const& given,
                    bool at_tcp_store = false) {
  coordinator_process const coordinator{2, {"--memory-max", "64MiB", "--no-join-barrier"}};
  relay_process const target{coordinator, given};
  client_options options{target.address()};
  options.token = "worker";
  blocking_client other{options};
  check(by, at_tcp_store ? target.tcp_store_address() : target.address(), target, [&] {
    auto const begin = std::chrono::steady_clock::now();
    static_cast<void>(other.try_get("none"));
    return duration{std::chrono::steady_clock::now() - begin};
  });
  BOOST_TEST(coordinator.resident_bytes_max() < by.resident_max);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(xla_service)

namespace data = boost::unit_test::data;

BOOST_DATA_TEST_CASE(pending_peers_without_a_token_are_bounded,
                     data::make(kinds()) + data::make(tcp_store_kinds()), by) {
  check_at_coordinator(by, false);
}

BOOST_DATA_TEST_CASE(clients_of_an_open_listener_are_bounded,
                     data::make(kinds()) + data::make(tcp_store_kinds()), by) {
  check_at_coordinator(by, true);
}

BOOST_DATA_TEST_CASE(clients_of_a_relay_are_bounded, data::make(kinds()), by) {
  check_at_relay(by, {"--memory-max", "64MiB"});
}

BOOST_DATA_TEST_CASE(tcp_store_clients_of_a_relay_are_bounded, data::make(tcp_store_kinds()), by) {
  check_at_relay(by, {"--memory-max", "64MiB"}, true);
}

// The relay admits all users, but its token does not vouch for them: the coordinator refuses them.
BOOST_DATA_TEST_CASE(pending_peers_at_a_relay_are_bounded, data::make(kinds()), by) {
  check_at_relay(by, {"--memory-max", "64MiB", "--all-users"});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::hostile
