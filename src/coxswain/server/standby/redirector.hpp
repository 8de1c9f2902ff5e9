#pragma once
// The listeners of a standby: whoever connects gets a Goodbye that permits to resume and names the
// leader. They stay open when the standby becomes the leader, so that nobody is refused meanwhile.
// Not thread-safe.

#include "coxswain/net/asio.hpp"
#include "coxswain/net/byte_stream.hpp"
#include "coxswain/net/tls_context.hpp"
#include "coxswain/server/listener.hpp"
#include "coxswain/server/options.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace coxswain::server {

class redirector : public std::enable_shared_from_this<redirector> {
 public:
  // Listens at `options::listen`. Throws what server::server's constructor throws for these.
  redirector(asio::io_context& io, options const& o);

  // The addresses, as server::server has them.
  [[nodiscard]] std::vector<std::string> const& addresses() const noexcept { return addresses_; }

  // Further peers get this frame.
  void say(std::string goodbye) { goodbye_ = std::move(goodbye); }

  // As server::server has it.
  void reload_certificates();

  // Accepts peers, until `stop`.
  void start();
  void stop();

  // The sockets, once more, as addresses for server::server.
  [[nodiscard]] std::vector<std::string> inherited() const;

 private:
  using watch = asio::posix::stream_descriptor;

  static asio::awaitable<void> accept(std::shared_ptr<redirector> self, std::size_t which);
  static asio::awaitable<void> answer(std::shared_ptr<redirector> self, int socket);

  asio::io_context& io_;
  std::unique_ptr<net::tls_context> certificates_;
  time_point reload_at_{time_point::max()};
  duration timeout_;
  std::vector<std::unique_ptr<listener>> listeners_;
  std::vector<std::string> addresses_;
  std::vector<std::unique_ptr<watch>> accepting_;
  std::string goodbye_;
  std::size_t peers_{};
};

}  // namespace coxswain::server
