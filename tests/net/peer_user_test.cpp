#include "coxswain/net/peer_user.hpp"

#include "coxswain/net/endpoint.hpp"
#include "tests/net/peer_process.hpp"
#include "tests/net/sockets.hpp"

#include <boost/test/unit_test.hpp>

#include <netinet/in.h>

#include <cstring>
#include <string>

namespace coxswain::net {
namespace {

namespace utf = boost::unit_test;

// A port of this machine.
struct listening {
  explicit listening(std::string const& address) {
    auto const at =
        endpoint::parse(address).value().resolve(endpoint::purpose::listen).value().front();
    socket_ = net::socket{::socket(at.family(), SOCK_STREAM | SOCK_CLOEXEC, 0)};
    int const off = 0;
    if (at.family() == AF_INET6) {
      ::setsockopt(socket_.value(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    }
    BOOST_TEST_REQUIRE(::bind(socket_.value(), at.data(), at.size()) == 0);
    BOOST_TEST_REQUIRE(::listen(socket_.value(), 8) == 0);
    auto const local = socket_address::local(socket_.value()).value().text();
    port_ = local.substr(local.rfind(':'));
  }

  // The port at another address of this machine.
  [[nodiscard]] socket_address at(std::string const& host) const {
    auto const where = endpoint::parse(host + port_).value();
    return where.resolve(endpoint::purpose::connect).value().front();
  }

  // Whether the server takes a process of that user for one of its own.
  [[nodiscard]] bool accepts(uid_t user, socket_address const& to) const {
    peer_process const peer{user, to.data(), to.size()};
    net::socket const here{::accept4(socket_.value(), nullptr, nullptr, SOCK_CLOEXEC)};
    return is_of_this_user(here.value());
  }

  net::socket socket_;
  std::string port_;
};

socket_address mapped(socket_address const& v4) {
  sockaddr_in from{};
  std::memcpy(&from, v4.data(), sizeof from);
  sockaddr_in6 to{};
  to.sin6_family = AF_INET6;
  to.sin6_port = from.sin_port;
  to.sin6_addr.s6_addr[10] = to.sin6_addr.s6_addr[11] = 0xff;
  std::memcpy(&to.sin6_addr.s6_addr[12], &from.sin_addr, 4);
  return {reinterpret_cast<sockaddr*>(&to), sizeof to};
}

BOOST_AUTO_TEST_SUITE(peer_user)

BOOST_AUTO_TEST_CASE(a_process_of_this_user_is_recognized_over_each_protocol) {
  listening const v4{"127.0.0.1:0"};
  listening const v6{"[::1]:0"};
  listening const all{":0"};

  BOOST_TEST(v4.accepts(::geteuid(), v4.at("127.0.0.1")));
  BOOST_TEST(v4.accepts(::geteuid(), mapped(v4.at("127.0.0.1"))));
  BOOST_TEST(v6.accepts(::geteuid(), v6.at("[::1]")));
  BOOST_TEST(all.accepts(::geteuid(), all.at("127.0.0.1")));
  BOOST_TEST(all.accepts(::geteuid(), all.at("[::1]")));
}

BOOST_AUTO_TEST_CASE(a_process_of_another_user_is_not, *utf::precondition(is_root)) {
  listening const v4{"127.0.0.1:0"};
  listening const v6{"[::1]:0"};
  listening const all{":0"};

  BOOST_TEST(!v4.accepts(nobody, v4.at("127.0.0.1")));
  BOOST_TEST(!v4.accepts(nobody, mapped(v4.at("127.0.0.1"))));
  BOOST_TEST(!v6.accepts(nobody, v6.at("[::1]")));
  BOOST_TEST(!all.accepts(nobody, all.at("127.0.0.1")));
  BOOST_TEST(!all.accepts(nobody, all.at("[::1]")));
}

// The kernel says that such a socket is root's.
BOOST_AUTO_TEST_CASE(a_peer_that_has_closed_its_socket_is_not) {
  auto [here, there] = tcp_pair();
  BOOST_TEST(is_of_this_user(there.value()));

  here.close();

  BOOST_TEST(!is_of_this_user(there.value()));
}

BOOST_AUTO_TEST_CASE(what_is_no_tcp_connection_is_not) {
  auto const [here, there] = unix_pair();

  BOOST_TEST(!is_of_this_user(here.value()));
  BOOST_TEST(!is_of_this_user(-1));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::net
