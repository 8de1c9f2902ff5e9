#pragma once
// The private Unix socket by which the programs that a COMMAND starts reach the coordinator. The
// bytes of each of their connections are forwarded over one to the coordinator, with its TLS. So
// each program has its own session, and its messages are not parsed here. Not here: the permission
// to act for the task (task_run).
//
// Not thread-safe: everything happens on the executor of the task's client.

#include "process/private_directory.hpp"

#include "coxswain/client/client.hpp"
#include "coxswain/client/connection.hpp"
#include "coxswain/net/asio.hpp"
#include "coxswain/net/transport.hpp"

#include <memory>
#include <string>
#include <vector>

namespace coxswain::tools {

class forwarder : public std::enable_shared_from_this<forwarder> {
 public:
  // It can be connected to from now on. Connections go where that of `task` goes at that time. It
  // has a session. Throws program_error: the temporary directory cannot be used.
  explicit forwarder(client const& task);

  // Forwards all connections, until it is closed. `self` is this.
  static asio::awaitable<void> serve(std::shared_ptr<forwarder> self);

  // Waits, for `longest` at most, until the coordinator has ended the connections whose programs
  // have ended, so that it has read all their input. `self` is this.
  static asio::awaitable<void> finish_ended(std::shared_ptr<forwarder> self, duration longest);

  // Drops the connections to an address at which `task` is no longer: their programs connect again.
  void follow();

  // Drops all connections, and takes no others.
  void close();

  [[nodiscard]] std::string const& path() const noexcept { return path_; }

 private:
  // A program's connection, and the one that carries it on.
  struct carried;

  void take(asio::local::stream_protocol::socket program);
  void reload_certificates() noexcept;
  static asio::awaitable<void> carry(std::shared_ptr<carried> both);

  private_directory directory_;
  std::string path_;
  std::shared_ptr<detail::connection> task_;
  duration peer_timeout_;
  std::shared_ptr<net::tls_context const> certificates_;  // if TLS is used
  asio::local::stream_protocol::acceptor acceptor_;
  std::vector<std::weak_ptr<carried>> all_;
};

}  // namespace coxswain::tools
