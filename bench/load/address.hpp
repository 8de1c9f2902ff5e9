#pragma once
// Addresses of this machine, and sockets for them. The benchmark never connects to another machine:
// other addresses are refused.

#include "coxswain/base/time.hpp"
#include "coxswain/net/descriptor.hpp"
#include "coxswain/net/endpoint.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace coxswain::bench {

class address {
 public:
  // "127.0.0.1:7000", "[::1]:7000", "localhost:7000" or "unix:/path". Throws bench_error (usage):
  // malformed, or no address of the loopback interface.
  explicit address(std::string const& text);

  [[nodiscard]] std::string const& text() const noexcept { return text_; }
  [[nodiscard]] net::socket_address const& name() const noexcept { return name_; }
  [[nodiscard]] bool is_unix() const noexcept { return name_.family() == AF_UNIX; }

  // How long a load on it polls for replies before sleeping.
  void spin(duration time) { spin_ = time; }
  [[nodiscard]] duration spin() const noexcept { return spin_; }

  // A listener; `text` has the chosen port if it was 0. Throws bench_error.
  [[nodiscard]] net::descriptor listen();

 private:
  std::string text_;
  net::socket_address name_;
  duration spin_{};
};

// Makes many connections to one address. A source address of IPv4 has some 28,000 ports: when they
// are used up, the next of 127.0.0.1, 127.0.0.2, ... is taken.
class connector {
 public:
  explicit connector(address to) : to_{std::move(to)} {}

  // A connected, blocking socket whose writes are not delayed. Throws bench_error (unavailable).
  [[nodiscard]] net::descriptor connect();

 private:
  [[nodiscard]] int try_connect(int fd) const;

  address to_;
  std::uint32_t source_{};  // 0: chosen by the kernel, else 127.0.0.source
};

}  // namespace coxswain::bench
