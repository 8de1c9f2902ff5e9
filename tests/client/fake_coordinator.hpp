#pragma once
// A scripted coordinator on a real socket in the test's io_context, and a runner for tests that are
// coroutines.

#include "coxswain/client/client.hpp"
#include "coxswain/net/asio.hpp"
#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/frame.hpp"
#include "tests/main/contains.hpp"

#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::test {

// Runs a coroutine to its end; fails the test after a minute.
void run(asio::io_context& io, asio::awaitable<void> test);

// A few iterations of the executor.
asio::awaitable<void> next_iteration();

// Starts a call and stores its outcome: "ok", or the text of its exception.
template <class T>
void note(asio::io_context& io, asio::awaitable<T> call, std::string& outcome) {
  asio::co_spawn(io, std::move(call), [&outcome](std::exception_ptr failure, auto const&...) {
    try {
      if (failure) std::rethrow_exception(failure);
      outcome = "ok";
    } catch (std::exception const& e) {
      outcome = e.what();
    }
  });
}

class fake_coordinator {
 public:
  explicit fake_coordinator(asio::io_context& io);

  [[nodiscard]] std::string address() const;

  // Options for a client of this coordinator: task 1.
  [[nodiscard]] client_options options() const;

  // Accepts the next connection in place of the last one.
  asio::awaitable<void> accept();

  // Accepts the next connection and opens a session on it.
  asio::awaitable<void> welcome();

  // A client connected to this coordinator.
  asio::awaitable<client> welcome(client_options with);

  // The next message as text, without heartbeats; "end" at the end of the connection.
  asio::awaitable<std::string> read();
  // The last message returned by `read`.
  [[nodiscard]] core::client_message const& message() const { return message_; }

  asio::awaitable<void> say(core::answer what) { return reply(0, std::move(what)); }
  asio::awaitable<void> reply(std::uint64_t id, core::answer what);
  asio::awaitable<void> reply_ok(std::uint64_t id);
  // Sends all in one write, so that the client reads them at once.
  asio::awaitable<void> say_together(std::vector<wire::server_message> all);

  // Closes the connection and the acceptor.
  void hang_up() { peer_.close(); }
  void go() {
    acceptor_.close();
    peer_.close();
  }

 private:
  asio::ip::tcp::acceptor acceptor_;
  asio::ip::tcp::socket peer_;
  asio::ip::tcp::endpoint at_;
  std::unique_ptr<wire::frame_decoder> decoder_;
  std::string buffer_;
  core::client_message message_;
};

class fake_fixture {
 protected:
  asio::io_context io{1};
  fake_coordinator fake{io};
};

}  // namespace coxswain::test
