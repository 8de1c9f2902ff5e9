#pragma once
// Who is let in: the listeners, the limits on connections, and the TLS handshakes of those who are
// not connections yet. Not here: what happens on a connection (connection), and when an iteration
// of the loop is (server).
//
// A peer is a stranger until it has said Hello. If its host has too many strangers, or all places
// are taken, a stranger that has been silent gives way to the newcomer: the oldest of that host, or
// of the host with the most. One whose first message is not read yet does not, nor does a handshake
// in its first second. The last places, one in 32 but 64 at the most, are kept for hosts of which
// somebody has said Hello.

#include "coxswain/net/address_range.hpp"
#include "coxswain/net/tls_context.hpp"
#include "coxswain/server/connections.hpp"
#include "coxswain/server/handshakes.hpp"
#include "coxswain/server/listener.hpp"
#include "coxswain/server/statistics.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::server {

class reception final : doorkeeper {
 public:
  // Listens from now on, and accepts after `start`. With `certificates`, everybody but the peers of
  // Unix sockets must speak TLS. Throws coxswain::error as listener does. All arguments must
  // outlive it.
  reception(loop_iteration& t, connections& all, options const& o,
            net::tls_context const* certificates);
  reception(reception const&) = delete;
  reception& operator=(reception const&) = delete;

  // Throws as net::readiness does.
  void start();

  // Accepts nobody any more. Handshakes end with the next `let_in`.
  void stop() noexcept;

  // The same at once, without a word.
  void clear() noexcept;

  void iteration_begins() noexcept;

  // Makes connections of the peers whose handshakes are done. At the end of an iteration.
  void let_in() noexcept;

  // Where it listens, with the ports that were chosen.
  [[nodiscard]] std::vector<std::string> const& addresses() const noexcept { return addresses_; }

  // Fills in what is counted here.
  void count(statistics& all) const;

  [[nodiscard]] std::optional<time_point> next_deadline() const;

 private:
  void accepted(listener const& by, net::socket socket, std::string peer) noexcept override;
  void out_of_room(int error) noexcept override;

  void listen(options const& o);
  [[nodiscard]] bool is_allowed(int socket) const;
  connection& take(std::unique_ptr<net::byte_stream> stream, newcomer who);
  void tell_not_allowed(std::string_view peer, std::string_view where);
  [[nodiscard]] bool make_room_for(std::string_view host);
  [[nodiscard]] bool dismiss_one(std::string_view host);
  void refuse(net::socket socket, bool speaks_tls);
  void tell_dismissed();

  loop_iteration& iteration_;
  connections& connections_;
  std::size_t connections_max_;
  std::size_t strangers_per_host_max_;
  std::string no_room_;
  std::string gives_way_;
  std::optional<handshakes> handshakes_;     // if there are certificates
  std::vector<net::address_range> allowed_;  // at listeners for JAX only; empty: all
  std::vector<std::unique_ptr<listener>> listeners_;
  std::vector<std::string> addresses_;
  std::optional<time_point> rest_until_;  // the listeners' rest
  std::uint64_t accepted_{};
  std::uint64_t refused_{};
  std::uint64_t handshakes_failed_{};
  std::uint64_t dismissed_{};         // since they were told
  std::string dismissed_of_;          // the host of the last one
  time_point tell_dismissed_at_{};    // no earlier
  time_point tell_not_allowed_at_{};  // no earlier
  bool crowded_{};                    // said that there is no room; not again before there was
  bool stopped_{};
};

}  // namespace coxswain::server
