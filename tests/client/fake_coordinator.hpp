#pragma once
// A scripted coordinator, on a real socket, in the test's io_context; and the running of a test
// that is a coroutine.

#include "coxswain/client/client.hpp"
#include "coxswain/net/asio.hpp"
#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/frame.hpp"

#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::test {

// Runs a coroutine to its end; fails the test if that takes more than a minute.
void run(asio::io_context& io, asio::awaitable<void> test);

// Some iterations of the executor.
asio::awaitable<void> next_iteration();

// Starts a call whose outcome is noted: "ok", or its exception.
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

[[nodiscard]] bool contains(std::string const& text, std::string const& part);

class fake_coordinator {
 public:
  explicit fake_coordinator(asio::io_context& io);

  [[nodiscard]] std::string address() const;

  // Options for a client of this coordinator: task 1.
  [[nodiscard]] client_options options() const;

  // Takes the next connection, instead of the one before.
  asio::awaitable<void> accept();

  // Takes the next connection and opens a session on it.
  asio::awaitable<void> welcome();

  // A client that is connected to this.
  asio::awaitable<client> welcome(client_options with);

  // The next message, as text; "end" if the connection is at its end. Heartbeats are left out.
  asio::awaitable<std::string> read();
  // The one that `read` was last about.
  [[nodiscard]] core::client_message const& message() const { return message_; }

  asio::awaitable<void> say(core::answer what) { return reply(0, std::move(what)); }
  asio::awaitable<void> reply(std::uint64_t id, core::answer what);
  asio::awaitable<void> reply_ok(std::uint64_t id);
  // All in one piece, so that the client reads them at once.
  asio::awaitable<void> say_together(std::vector<wire::server_message> all);

  // Closes the connection, and accepts no more.
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
