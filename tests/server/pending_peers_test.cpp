// Connections before Hello: how many a host may have, which are evicted, and the delay after wrong
// tokens.

#include "coxswain/server/admission/pending_peers.hpp"
#include "coxswain/net/endpoint.hpp"
#include "tests/net/peer_process.hpp"
#include "tests/server/harness.hpp"

#include <boost/test/unit_test.hpp>

#include <deque>

namespace coxswain::server {
namespace {

using kind = pending_peers::peer::kind;

constexpr pending_peers::peer connection_of(std::uint64_t number) {
  return {kind::connection, number};
}

// A server with eight connection slots, four of which connections without a Hello may take.
struct small_harness : harness {
  small_harness() {
    o.connections_max = 8;
    o.core.hello_timeout = 600s;
  }
  void add_silent(int count) {
    for (int i = 0; i < count; ++i) silent.push_back(connect());
  }
  [[nodiscard]] std::uint64_t refused() const { return made->statistics().connections_refused; }

  std::deque<raw_client> silent;
};

struct guarded_harness : harness {
  guarded_harness() { o.core.credentials.push_back({core::role::worker, "right"}); }
  raw_client guess() {
    auto client = connect();
    client.send(hello_frame("wrong"));
    return client;
  }
};

BOOST_AUTO_TEST_SUITE(pending_peers_test)

BOOST_AUTO_TEST_CASE(hosts_are_distinguished_by_address_without_port) {
  BOOST_TEST(pending_peers::host_of("10.0.0.7:4242") == "10.0.0.7");
  BOOST_TEST(pending_peers::host_of("[fe80::1]:4242") == "[fe80::1]");
  BOOST_TEST(pending_peers::host_of("unix: process 7 of user 0") == "");
}

BOOST_AUTO_TEST_CASE(connections_without_hello_are_counted_by_host) {
  pending_peers all;
  all.came(connection_of(1), "a");
  all.came(connection_of(2), "a");
  all.came({kind::handshake, 1}, "a");
  all.came(connection_of(3), "b");
  all.came(connection_of(4), "");  // of a Unix socket
  BOOST_TEST(all.size() == 4u);
  BOOST_TEST(all.of("a") == 3u);
  BOOST_TEST(all.busiest_host() == "a");
  BOOST_TEST((all.oldest("a", 2) == std::vector{connection_of(1), connection_of(2)}));

  all.greeted(connection_of(1));
  all.left({kind::handshake, 1});
  all.left(connection_of(2));
  all.left(connection_of(2));

  BOOST_TEST(all.of("a") == 0u);
  BOOST_TEST(all.knows("a"));
  BOOST_TEST(!all.knows("b"));
  BOOST_TEST(all.busiest_host() == "b");
}

BOOST_FIXTURE_TEST_CASE(the_oldest_silent_connection_yields_to_a_new_one_of_its_host,
                        small_harness) {
  add_silent(4);
  until([&] { return made->statistics().connections == 4; });

  auto client = greeted();

  auto const goodbye = silent.front().goodbye();
  BOOST_TEST(goodbye.why.code() == errc::resource_exhausted);
  BOOST_TEST(goodbye.may_resume);
  silent.front().expect_end();
  BOOST_TEST(made->statistics().connections == 4u);
  BOOST_TEST(
      logged("1 connection was closed before Hello to make room for newer ones, the last of "
             "127.0.0.1"));
}

BOOST_FIXTURE_TEST_CASE(a_connection_with_an_unread_hello_is_not_evicted, small_harness) {
  o.strangers_per_host_max = 2;
  auto first = connect();
  auto second = connect();
  first.send(hello_frame());
  second.send(hello_frame());
  auto third = connect();
  auto fourth = connect();
  third.send(hello_frame());
  fourth.send(hello_frame());

  for (auto* one : {&first, &second, &third, &fourth}) {
    BOOST_TEST(std::holds_alternative<boxed<core::hello_answer>>(one->next().what.value));
  }
}

// They hold every slot except those of sessions.
BOOST_FIXTURE_TEST_CASE(peers_of_unix_sockets_are_exempt, small_harness) {
  o.listen = {unix_path("pending_peers")};

  add_silent(8);

  until([&] { return made->statistics().connections == 8; });
  BOOST_TEST(refused() == 0u);
}

// Without a place, and with one line in the log.
BOOST_FIXTURE_TEST_CASE(processes_of_other_users_are_refused_at_a_port_for_this_user, harness,
                        *boost::unit_test::precondition(net::is_root)) {
  o.tcp_store_listen = {"127.0.0.1:0"};
  serve();
  auto const at = net::endpoint::parse(made->addresses().back())
                      .value()
                      .resolve(net::endpoint::purpose::connect)
                      .value()
                      .front();

  net::peer_process const theirs{net::nobody, at.data(), at.size(), 300};
  until([&] { return made->statistics().connections_refused == 300; });
  net::peer_process const ours{::geteuid(), at.data(), at.size()};
  until([&] { return made->statistics().connections == 1; });

  BOOST_TEST(made->statistics().connections_refused == 300u);
  BOOST_TEST(count("its process is not of this user") == 1);
}

BOOST_FIXTURE_TEST_CASE(the_last_slots_are_reserved_for_known_hosts, harness) {
  o.connections_max = 64;
  o.listen = {"127.0.0.1:0", "[::1]:0"};
  std::deque<raw_client> all;
  for (int i = 0; i < 62; ++i) all.push_back(greeted(0));

  BOOST_TEST(connect(1).goodbye().why.code() == errc::resource_exhausted);
  all.push_back(greeted(0));
  all.push_back(greeted(0));
  BOOST_TEST(connect(0).goodbye().why.code() == errc::resource_exhausted);
}

BOOST_FIXTURE_TEST_CASE(one_host_can_open_many_connections_before_hello, harness) {
  o.core.num_tasks = 300;
  o.connections_max = 640;
  std::deque<raw_client> all;
  for (int i = 0; i < 300; ++i) all.push_back(connect());

  for (auto& one : all) one.greet();

  BOOST_TEST(made->statistics().connections_refused == 0u);
}

BOOST_FIXTURE_TEST_CASE(wrong_token_replies_are_limited_to_ten_a_second_per_host, guarded_harness) {
  auto const begun = std::chrono::steady_clock::now();
  std::deque<raw_client> all;
  for (int i = 0; i < 6; ++i) all.push_back(guess());

  for (auto& one : all) BOOST_TEST(one.goodbye().why.code() == errc::unauthenticated);

  BOOST_TEST((std::chrono::steady_clock::now() - begun >= 500ms),
             "one at once, then one in 100 ms");
}

BOOST_FIXTURE_TEST_CASE(a_valid_token_is_not_delayed_by_wrong_ones, guarded_harness) {
  std::deque<raw_client> all;
  for (int i = 0; i < 20; ++i) all.push_back(guess());

  auto client = connect();
  client.greet("right");

  BOOST_TEST(!all.back().has_message());
  BOOST_TEST(count("refused") == 1);
}

BOOST_FIXTURE_TEST_CASE(peers_waiting_for_a_wrong_token_reply_can_be_evicted, guarded_harness) {
  o.connections_max = 8;
  std::deque<raw_client> all;
  for (std::uint64_t i = 1; i <= 40; ++i) {
    all.push_back(guess());
    until([&] { return made->statistics().connections_accepted == i; });
  }

  auto client = connect();
  client.greet("right");

  BOOST_TEST(made->statistics().connections <= 5u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::server
