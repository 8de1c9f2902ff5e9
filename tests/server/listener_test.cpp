#include "coxswain/server/listener.hpp"

#include "coxswain/base/error.hpp"
#include "tests/net/sockets.hpp"
#include "tests/server/messages.hpp"

#include <boost/test/unit_test.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace coxswain::server {
namespace {

struct directory {
  directory() {
    std::string name = "/tmp/coxswain-listener-XXXXXX";
    BOOST_TEST_REQUIRE((::mkdtemp(name.data()) != nullptr));
    path = name;
  }
  ~directory() {
    ::unlink((path + "/s").c_str());
    ::rmdir(path.c_str());
  }
  [[nodiscard]] std::string file() const { return path + "/s"; }
  [[nodiscard]] std::string address() const { return "unix:" + file(); }
  [[nodiscard]] bool exists() const {
    struct stat found {};
    return ::lstat(file().c_str(), &found) == 0;
  }

  std::string path;
};

status refusal(std::string const& address, bool must_be_private = true) {
  try {
    listener const made{address, {.must_be_private = must_be_private}};
    return {errc::ok, "listens on " + made.address()};
  } catch (error const& e) {
    return e.outcome();
  }
}

net::socket connect_to(std::string const& address) {
  auto const where = net::endpoint::parse(address).value();
  auto const at = where.resolve(net::endpoint::purpose::connect).value().front();
  net::socket socket{::socket(at.family(), SOCK_STREAM | SOCK_CLOEXEC, 0)};
  BOOST_TEST_REQUIRE(::connect(socket.value(), at.data(), at.size()) == 0, address);
  return socket;
}

// A Unix socket file left behind by a process.
void leave_stale(std::string const& path) {
  net::socket const socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  BOOST_TEST_REQUIRE(
      ::bind(socket.value(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  BOOST_TEST_REQUIRE(::listen(socket.value(), 1) == 0);
}

struct world : net::iteration_owner, accept_handler {
  time_point iteration_begins() noexcept override { return {}; }
  void iteration_ends() noexcept override {}
  void accepted(listener const&, net::socket socket, std::string peer) noexcept override {
    sockets.push_back(std::move(socket));
    peers.push_back(std::move(peer));
  }
  void out_of_room(int error) noexcept override { errors.push_back(error); }

  void listen(std::string const& address) {
    made.emplace(address, listener::terms{.must_be_private = true, .peer_timeout = 12s});
    polled.start();
    made->start(polled, *this);
  }
  void run() {
    io.restart();
    io.poll();
  }
  // Of the first accepted socket.
  [[nodiscard]] int option(int name) const {
    int value = 0;
    socklen_t size = sizeof(value);
    ::getsockopt(sockets.at(0).value(), IPPROTO_TCP, name, &value, &size);
    return value;
  }

  asio::io_context io{1};
  net::poller polled{io, *this};
  std::optional<listener> made;
  std::vector<net::socket> sockets;
  std::vector<std::string> peers;
  std::vector<int> errors;
};

BOOST_AUTO_TEST_SUITE(listener_test)

BOOST_AUTO_TEST_CASE(a_listener_reports_its_chosen_port) {
  listener const v4{"127.0.0.1:0", {.must_be_private = true}};
  listener const v6{"[::1]:0", {.must_be_private = true}};

  BOOST_TEST(v4.address().starts_with("127.0.0.1:"));
  BOOST_TEST(!v4.address().ends_with(":0"));
  BOOST_TEST(v6.address().starts_with("[::1]:"));
  connect_to(v4.address());
  connect_to(v6.address());
}

BOOST_AUTO_TEST_CASE(the_wildcard_covers_ipv4_and_ipv6) {
  listener const all{":0", {}};

  auto const port = all.address().substr(all.address().rfind(':'));
  BOOST_TEST(all.address() == "[::]" + port);
  connect_to("127.0.0.1" + port);
  connect_to("[::1]" + port);
}

BOOST_AUTO_TEST_CASE(host_names_are_resolved) {
  listener const local{"localhost:0", {.must_be_private = true}};

  connect_to(local.address());
}

BOOST_AUTO_TEST_CASE(a_public_address_is_refused_if_it_must_be_private) {
  for (auto const* address : {":0", "0.0.0.0:0", "[::]:0"}) {
    auto const why = refusal(address);
    BOOST_TEST(why.code() == errc::failed_precondition, address);
    BOOST_TEST(
        contains(why.message(), "neither a token nor client certificates protect the coordinator"));
    BOOST_TEST(refusal(address, false).ok(), address);
  }
}

BOOST_AUTO_TEST_CASE(an_inherited_socket_is_used) {
  net::descriptor socket{::socket(AF_INET, SOCK_STREAM, 0)};
  BOOST_TEST_REQUIRE(::listen(socket.value(), 1) == 0);
  auto const name = "fd://" + std::to_string(socket.value());
  // An unbound socket listens on all addresses.
  auto const why = refusal(name);
  BOOST_TEST(why.code() == errc::failed_precondition);
  BOOST_TEST(contains(why.message(), "Other hosts can reach 0.0.0.0:"));
  static_cast<void>(socket.release());

  directory const here;
  net::descriptor local{::socket(AF_UNIX, SOCK_STREAM, 0)};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  here.file().copy(address.sun_path, sizeof(address.sun_path) - 1);
  BOOST_TEST_REQUIRE(
      ::bind(local.value(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  BOOST_TEST_REQUIRE(::listen(local.value(), 1) == 0);
  world all;
  all.listen("fd://" + std::to_string(local.release()));
  BOOST_TEST(all.made->address() == here.address());
  auto const peer = connect_to(here.address());
  all.run();
  BOOST_TEST(all.sockets.size() == 1u);
}

BOOST_AUTO_TEST_CASE(an_inherited_descriptor_must_be_a_listening_socket) {
  net::socket const idle{::socket(AF_INET, SOCK_STREAM, 0)};
  for (auto const& name :
       {std::string{"fd://"}, std::string{"fd://x"}, std::string{"fd://-1"}, std::string{"fd://3 "},
        std::string{"fd://999999"}, "fd://" + std::to_string(idle.value())}) {
    auto const why = refusal(name);
    BOOST_TEST(why.code() == errc::invalid_argument, name);
    BOOST_TEST(contains(why.message(), "'" + name + "' is not a listening socket"));
  }
}

BOOST_AUTO_TEST_CASE(malformed_addresses_are_refused) {
  BOOST_TEST(refusal("8476").code() == errc::invalid_argument);
  BOOST_TEST(refusal("no-such-host.invalid:1", false).code() == errc::unavailable);
}

BOOST_AUTO_TEST_CASE(a_port_in_use_is_unavailable) {
  listener const first{"127.0.0.1:0", {.must_be_private = true}};

  auto const why = refusal(first.address());

  BOOST_TEST(why.code() == errc::unavailable);
  auto const port = first.address().substr(first.address().rfind(':'));
  BOOST_TEST(why.message() == "Cannot listen on " + first.address() +
                                  ": Address already in use. Is another coordinator running? Port "
                                  "0 takes any free port. Who listens there: ss -ltnp 'sport = " +
                                  port + "'");
}

BOOST_AUTO_TEST_CASE(an_address_of_another_host_is_unavailable) {
  auto const why = refusal("192.0.2.1:0", false);

  BOOST_TEST(why.code() == errc::unavailable);
  BOOST_TEST(contains(why.message(), "This host does not have that address."));
}

BOOST_AUTO_TEST_CASE(a_unix_socket_file_is_removed_on_destruction) {
  directory const d;
  {
    listener const made{d.address(), {.must_be_private = true}};
    BOOST_TEST(made.address() == d.address());
    connect_to(d.address());
  }
  BOOST_TEST(!d.exists());
}

BOOST_AUTO_TEST_CASE(a_replaced_socket_file_is_not_removed) {
  directory const d;
  {
    listener const made{d.address(), {.must_be_private = true}};
    ::unlink(d.file().c_str());
    std::ofstream{d.file()} << "somebody else's";
  }
  BOOST_TEST(d.exists());
}

BOOST_AUTO_TEST_CASE(a_stale_unix_socket_is_replaced) {
  directory const d;
  leave_stale(d.file());
  BOOST_TEST(d.exists());

  listener const made{d.address(), {.must_be_private = true}};

  connect_to(d.address());
}

BOOST_AUTO_TEST_CASE(a_live_unix_socket_is_unavailable) {
  directory const d;
  listener const first{d.address(), {.must_be_private = true}};

  auto const why = refusal(d.address());

  BOOST_TEST(why.code() == errc::unavailable);
  BOOST_TEST(why.message() == "Cannot listen on " + d.address() +
                                  ": Address already in use. Is another coordinator running?");
  connect_to(d.address());
}

BOOST_AUTO_TEST_CASE(a_file_that_is_not_a_socket_is_not_removed) {
  directory const d;
  std::ofstream{d.file()} << "precious";

  auto const why = refusal(d.address());

  BOOST_TEST(why.code() == errc::unavailable);
  BOOST_TEST(contains(why.message(), "The path exists and is not a socket."));
  BOOST_TEST(d.exists());
}

BOOST_AUTO_TEST_CASE(a_missing_directory_is_named) {
  auto const why = refusal("unix:/no/such/directory/s");

  BOOST_TEST(why.code() == errc::unavailable);
  BOOST_TEST(contains(why.message(), "The directory does not exist."));
}

BOOST_FIXTURE_TEST_CASE(the_whole_backlog_is_accepted, world) {
  listen("127.0.0.1:0");
  std::vector<net::socket> clients;
  for (int i = 0; i < 50; ++i) clients.push_back(connect_to(made->address()));

  run();

  BOOST_TEST(sockets.size() == 50u);
  BOOST_TEST(peers.front().starts_with("127.0.0.1:"));
  auto const first = net::socket_address::local(clients.front().value())->text();
  BOOST_TEST(peers.front() == first);
  clients.push_back(connect_to(made->address()));
  run();
  BOOST_TEST(sockets.size() == 51u);
}

BOOST_FIXTURE_TEST_CASE(accepted_sockets_are_tuned, world) {
  listen("127.0.0.1:0");
  auto const client = connect_to(made->address());

  run();

  BOOST_TEST(option(TCP_NODELAY) == 1);
  BOOST_TEST(option(TCP_USER_TIMEOUT) == 12'000);
  BOOST_TEST(option(TCP_KEEPIDLE) == 6);
}

BOOST_FIXTURE_TEST_CASE(those_that_connected_to_an_inherited_socket_before_are_tuned, world) {
  net::descriptor inherited{::socket(AF_INET, SOCK_STREAM, 0)};
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  BOOST_TEST_REQUIRE(::bind(inherited.value(), reinterpret_cast<sockaddr*>(&at), sizeof(at)) == 0);
  BOOST_TEST_REQUIRE(::listen(inherited.value(), 1) == 0);
  auto const client = connect_to(net::socket_address::local(inherited.value())->text());
  listen("fd://" + std::to_string(inherited.release()));

  run();

  BOOST_TEST(option(TCP_NODELAY) == 1);
  BOOST_TEST(option(TCP_USER_TIMEOUT) == 12'000);
}

BOOST_FIXTURE_TEST_CASE(a_unix_peer_is_named_by_its_process, world) {
  directory const d;
  listen(d.address());
  auto const client = connect_to(d.address());

  run();

  BOOST_TEST_REQUIRE(peers.size() == 1u);
  BOOST_TEST(peers[0] == "unix: process " + std::to_string(::getpid()) + " of user " +
                             std::to_string(::getuid()));
  made.reset();
}

BOOST_FIXTURE_TEST_CASE(without_descriptors_accepting_pauses_until_resumed, world) {
  listen("127.0.0.1:0");
  auto const first = connect_to(made->address());
  run();
  BOOST_TEST(sockets.size() == 1u);
  auto const second = connect_to(made->address());
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  rlimit none = before;
  none.rlim_cur = 3;
  ::setrlimit(RLIMIT_NOFILE, &none);

  run();
  made->go_on();
  ::setrlimit(RLIMIT_NOFILE, &before);
  BOOST_TEST(errors == (std::vector{EMFILE, EMFILE}), boost::test_tools::per_element());
  run();
  BOOST_TEST(sockets.size() == 1u);
  made->go_on();

  BOOST_TEST(sockets.size() == 2u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::server
