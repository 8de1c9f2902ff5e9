#pragma once
// One listening socket, TCP or Unix, and its accept loop. Not here: accepted connections (server).

#include "coxswain/net/endpoint.hpp"
#include "coxswain/net/owned_coroutine.hpp"
#include "coxswain/net/poller.hpp"
#include "coxswain/net/readiness.hpp"
#include "coxswain/net/socket.hpp"
#include "coxswain/server/dispatch.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace coxswain::server {

class listener;

// Receives accepted connections.
class accept_handler {
 public:
  // `socket` is connected and non-blocking; `peer` is its address for people.
  virtual void accepted(listener const& by, net::socket socket, std::string peer) noexcept = 0;
  // The process or the machine has no resources for another connection (`error` is an errno). The
  // listener pauses until go_on() is called.
  virtual void out_of_room(int error) noexcept = 0;

 protected:
  ~accept_handler() = default;
};

// The file of a Unix socket, removed at the end unless it was replaced by another one.
class socket_file {
 public:
  explicit socket_file(std::string path);
  socket_file(socket_file const&) = delete;
  socket_file& operator=(socket_file const&) = delete;
  ~socket_file();

 private:
  std::string path_;
  dev_t device_{};
  ino_t inode_{};
};

class listener {
 public:
  struct terms {
    bool must_be_private{};  // only processes of this host may reach it
    bool is_for_owner{};     // only this user may connect to its file
    bool is_for_all{};       // every user may; else as the umask says
    protocols speaks{protocols::both};
    duration peer_timeout{std::chrono::seconds{100}};  // of what it accepts, as net::tune
  };

  // Listens on `address`, or takes over the listening socket that this process has inherited as
  // descriptor N, if it is "fd://N". Throws coxswain::error: INVALID_ARGUMENT (it is malformed),
  // UNAVAILABLE (it cannot be listened on; the text says why), FAILED_PRECONDITION (other hosts
  // could reach it and `must_be_private`).
  listener(std::string const& address, terms t);

  // For other owners of its socket.
  [[nodiscard]] int descriptor() const noexcept { return socket_.value(); }
  listener(listener const&) = delete;
  listener& operator=(listener const&) = delete;

  // The address it listens on, with the chosen port.
  [[nodiscard]] std::string const& address() const noexcept { return address_; }

  [[nodiscard]] terms const& on() const noexcept { return terms_; }

  // Starts to accept. Both must outlive the listener. Throws as net::readiness does.
  void start(net::poller& by, accept_handler& keeper);

  // Accepts again after out_of_room.
  void go_on();

 private:
  enum class next : std::uint8_t { wait, another_iteration };

  [[nodiscard]] int listen_on(net::socket_address const& at, net::endpoint const& where);
  net::owned_coroutine accept();
  [[nodiscard]] next accept_ready() noexcept;
  void welcome(net::socket socket, net::socket_address const& from) noexcept;

  terms terms_;
  std::string address_;
  std::optional<socket_file> file_;
  net::socket socket_;
  bool is_inherited_{};
  accept_handler* keeper_{};
  std::optional<net::readiness> ready_;
  net::owned_coroutine loop_;
};

}  // namespace coxswain::server
