#pragma once
// Connected sockets for tests, and waiting for the kernel without sleeping.

#include "coxswain/net/socket.hpp"

#include <boost/test/unit_test.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <thread>
#include <utility>

namespace coxswain::net {

inline std::pair<socket, socket> unix_pair() {
  std::array<int, 2> ends{};
  BOOST_TEST_REQUIRE(
      ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) == 0);
  return {socket{ends[0]}, socket{ends[1]}};
}

inline std::pair<socket, socket> tcp_pair() {
  socket const listening{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const at = reinterpret_cast<sockaddr*>(&address);
  BOOST_TEST_REQUIRE(::bind(listening.value(), at, size) == 0);
  BOOST_TEST_REQUIRE(::listen(listening.value(), 1) == 0);
  BOOST_TEST_REQUIRE(::getsockname(listening.value(), at, &size) == 0);
  socket here{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  BOOST_TEST_REQUIRE(::connect(here.value(), at, size) == 0);
  socket there{::accept4(listening.value(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
  int on = 1;
  BOOST_TEST_REQUIRE(::ioctl(here.value(), FIONBIO, &on) == 0);
  return {std::move(here), std::move(there)};
}

inline constexpr int wait_max_ms = 30'000;

// Until `condition` holds; fails the test after half a minute.
template <class Condition>
void wait_until(Condition condition) {
  auto const end = std::chrono::steady_clock::now() + std::chrono::milliseconds{wait_max_ms};
  while (!condition()) {
    BOOST_TEST_REQUIRE((std::chrono::steady_clock::now() < end), "waited in vain");
    std::this_thread::yield();
  }
}

inline void wait_for_bytes(int socket, int count) {
  wait_until([&] {
    int there = 0;
    return ::ioctl(socket, FIONREAD, &there) == 0 && there >= count;
  });
}

inline void wait_for_hang_up(int socket) {
  pollfd watched{socket, POLLRDHUP, 0};
  BOOST_TEST_REQUIRE(::poll(&watched, 1, wait_max_ms) == 1);
}

}  // namespace coxswain::net
