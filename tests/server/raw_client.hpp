#pragma once
// A peer of a server for tests: a plain socket and the wire codec, without the client library. It
// runs the server's io_context while it waits, so that one thread is enough.

#include "coxswain/net/asio.hpp"
#include "coxswain/net/endpoint.hpp"
#include "tests/net/sockets.hpp"
#include "tests/server/messages.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::server {

// Runs the server until the condition holds.
template <class Condition>
void run_until(asio::io_context& io, Condition condition) {
  net::wait_until([&] {
    if (condition()) return true;
    if (io.stopped()) io.restart();
    io.run_one_for(std::chrono::milliseconds{1});
    return condition();
  });
}

class raw_client {
 public:
  raw_client(asio::io_context& io, std::string const& address) : io_{io} {
    auto const where = net::endpoint::parse(address).value();
    auto const at = where.resolve(net::endpoint::purpose::connect).value().front();
    socket_ = net::socket{::socket(at.family(), SOCK_STREAM | SOCK_CLOEXEC, 0)};
    BOOST_TEST_REQUIRE(::connect(socket_.value(), at.data(), at.size()) == 0, address);
    int on = 1;
    ::ioctl(socket_.value(), FIONBIO, &on);
  }

  void send(std::string_view bytes) {
    run_until(io_, [&] {
      auto const sent = ::send(socket_.value(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
      BOOST_TEST_REQUIRE((sent > 0 || errno == EAGAIN));
      return bytes.empty();
    });
  }

  // The next message; runs the server meanwhile.
  wire::server_message next() {
    run_until(io_, [&] { return !reader_.empty() || !read(1 << 20) || !reader_.empty(); });
    return reader_.take();
  }

  wire::server_message ask(std::string_view bytes) {
    send(bytes);
    return next();
  }

  core::goodbye goodbye() {
    auto const last = next();
    BOOST_TEST_REQUIRE(std::holds_alternative<core::goodbye>(last.what.value));
    return std::get<core::goodbye>(last.what.value);
  }

  core::hello_answer greet(std::string token = "") {
    auto const reply = ask(hello_frame(std::move(token)));
    BOOST_TEST_REQUIRE(std::holds_alternative<boxed<core::hello_answer>>(reply.what.value));
    return *std::get<boxed<core::hello_answer>>(reply.what.value);
  }

  // Reads once; false when the server has closed the connection cleanly.
  bool read(std::size_t most) {
    std::vector<char> buffer(most);
    auto const got = ::recv(socket_.value(), buffer.data(), buffer.size(), 0);
    BOOST_TEST_REQUIRE((got >= 0 || errno == EAGAIN), "the connection was reset");
    if (got > 0) reader_.feed({buffer.data(), static_cast<std::size_t>(got)});
    return got != 0;
  }

  // Waits until the server closes the connection; fails if a message arrives first.
  void expect_end() {
    run_until(io_, [&] { return !read(1 << 16); });
    BOOST_TEST(reader_.empty());
  }

  // Writes as much as possible without waiting; returns the number of bytes.
  std::size_t send_lazily(std::string_view bytes) {
    auto const sent = ::send(socket_.value(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    return sent > 0 ? static_cast<std::size_t>(sent) : 0;
  }

  // Waits until the connection is gone; ignores messages.
  void expect_reset_or_end() {
    std::vector<char> buffer(1 << 20);
    net::wait_until([&] {
      auto const got = ::recv(socket_.value(), buffer.data(), buffer.size(), 0);
      return got == 0 || (got < 0 && errno != EAGAIN);
    });
  }

  void close() { socket_.close(); }
  void shut() { ::shutdown(socket_.value(), SHUT_WR); }
  [[nodiscard]] int socket() const { return socket_.value(); }
  [[nodiscard]] bool has_message() const { return !reader_.empty(); }

 private:
  asio::io_context& io_;
  net::socket socket_;
  message_reader reader_;
};

// Two clients that join as task 0 and task 1.
inline void join(raw_client& zero, raw_client& one) {
  zero.send(join_frame(1, 0));
  one.send(join_frame(1, 1));
  BOOST_TEST(zero.next().what.outcome.ok());
  BOOST_TEST(one.next().what.outcome.ok());
}

}  // namespace coxswain::server
