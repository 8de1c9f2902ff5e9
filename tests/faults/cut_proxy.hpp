#pragma once
// A TCP proxy that cuts each connection after a random number of bytes, in either direction, within
// frames or between them. Not here: the expected behavior (cut_proxy_test).

#include "coxswain/net/asio.hpp"

#include <cstdint>
#include <random>
#include <string>

namespace coxswain::faults {

class cut_proxy {
 public:
  // Forwards connections to 127.0.0.1:`target`. Each is cut after 1 to `bytes_max` bytes.
  cut_proxy(asio::io_context& io, std::uint16_t target, std::uint64_t seed,
            std::uint64_t bytes_max);

  // Runs until `stop`.
  asio::awaitable<void> run();
  void stop();

  [[nodiscard]] std::string address() const;
  [[nodiscard]] std::uint64_t cuts() const noexcept { return cuts_; }

 private:
  struct pair;

  asio::awaitable<void> serve(asio::ip::tcp::socket client);
  asio::awaitable<void> pump(std::shared_ptr<pair> of, bool is_up);

  asio::io_context& io_;
  asio::ip::tcp::acceptor acceptor_;
  std::uint16_t target_;
  std::mt19937_64 random_;
  std::uint64_t bytes_max_;
  std::uint64_t cuts_{};
};

}  // namespace coxswain::faults
