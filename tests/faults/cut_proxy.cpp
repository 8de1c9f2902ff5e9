#include "tests/faults/cut_proxy.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

namespace coxswain::faults {
namespace {

using tcp = asio::ip::tcp;
constexpr auto no_throw = asio::as_tuple(asio::use_awaitable);

}  // namespace

struct cut_proxy::pair {
  explicit pair(tcp::socket c) : client{std::move(c)}, server{client.get_executor()} {}

  // With a reset if `hard`, which loses data that the peer has not read yet.
  void close(bool hard) {
    boost::system::error_code ignored;
    if (hard) {
      client.set_option(asio::socket_base::linger{true, 0}, ignored);
      server.set_option(asio::socket_base::linger{true, 0}, ignored);
    }
    client.close(ignored);
    server.close(ignored);
  }

  tcp::socket client;
  tcp::socket server;
  std::uint64_t budget{};
};

cut_proxy::cut_proxy(asio::io_context& io, std::uint16_t target, std::uint64_t seed,
                     std::uint64_t bytes_max)
    : io_{io},
      acceptor_{io, tcp::endpoint{asio::ip::address_v4::loopback(), 0}},
      target_{target},
      random_{seed},
      bytes_max_{bytes_max} {}

std::string cut_proxy::address() const {
  return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
}

asio::awaitable<void> cut_proxy::run() {
  for (;;) {
    auto accepted = co_await acceptor_.async_accept(no_throw);
    auto& [problem, socket] = accepted;
    if (problem) co_return;
    co_spawn(io_, serve(std::move(socket)), asio::detached);
  }
}

void cut_proxy::stop() { acceptor_.close(); }

asio::awaitable<void> cut_proxy::serve(tcp::socket client) {
  auto both = std::make_shared<pair>(std::move(client));
  tcp::endpoint const target{asio::ip::address_v4::loopback(), target_};
  auto connected = co_await both->server.async_connect(target, no_throw);
  if (std::get<0>(connected)) co_return;
  both->budget = std::uniform_int_distribution<std::uint64_t>{1, bytes_max_}(random_);
  co_spawn(io_, pump(both, true), asio::detached);
  co_await pump(both, false);
}

asio::awaitable<void> cut_proxy::pump(std::shared_ptr<pair> of, bool is_up) {
  tcp::socket& from = is_up ? of->client : of->server;
  tcp::socket& to = is_up ? of->server : of->client;
  std::array<char, 4096> buffer;
  for (;;) {
    auto read = co_await from.async_read_some(asio::buffer(buffer), no_throw);
    auto& [read_problem, count] = read;
    if (read_problem) break;
    std::size_t const passed = std::min<std::uint64_t>(count, of->budget);
    of->budget -= passed;
    auto written = co_await asio::async_write(to, asio::buffer(buffer.data(), passed), no_throw);
    if (std::get<0>(written)) break;
    if (of->budget == 0 && from.is_open()) {
      ++cuts_;
      of->close(random_() % 2 == 0);
      break;
    }
  }
  of->close(false);
}

}  // namespace coxswain::faults
