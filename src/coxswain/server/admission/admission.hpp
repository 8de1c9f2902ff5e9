#pragma once
// Admission: the listeners, the limits on connections, and the TLS handshakes of peers that are not
// connections yet. Not here: what happens on a connection (connection), loop iterations (server).
//
// A peer is pending until its Hello. If its host has too many pending peers, or the limit of
// connections is reached, a silent pending peer is closed in favour of the new one: the oldest of
// that host, or of the host with the most. One with unread input is not, nor is a handshake in its
// first second. The last places, one in 32 but at most 64, are reserved for hosts with a connection
// after Hello.

#include "coxswain/net/address_range.hpp"
#include "coxswain/net/tls_context.hpp"
#include "coxswain/server/admission/handshakes.hpp"
#include "coxswain/server/connections.hpp"
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

class admission final : accept_handler {
 public:
  // Listens from now on, and accepts after `start`. With `certificates`, all peers except those of
  // Unix sockets must use TLS. Throws coxswain::error as listener does. All arguments must outlive
  // it.
  admission(loop_iteration& t, connections& all, options const& o,
            net::tls_context const* certificates);
  admission(admission const&) = delete;
  admission& operator=(admission const&) = delete;

  // Throws as net::readiness does.
  void start();

  // Stops accepting. Handshakes end with the next `let_in`.
  void stop() noexcept;

  // The same at once, silently.
  void clear() noexcept;

  void iteration_begins() noexcept;

  // Turns peers with completed handshakes into connections. At the end of an iteration.
  void let_in() noexcept;

  // The addresses it listens on, with the chosen ports.
  [[nodiscard]] std::vector<std::string> const& addresses() const noexcept { return addresses_; }

  // Fills in what is counted here.
  void count(statistics& all) const;

  [[nodiscard]] std::optional<time_point> next_deadline() const;

 private:
  void accepted(listener const& by, net::socket socket, std::string peer) noexcept override;
  void out_of_room(int error) noexcept override;

  void listen(options const& o);
  [[nodiscard]] bool is_allowed(int socket) const;
  connection& take(std::unique_ptr<net::byte_stream> stream, accepted_peer who);
  void report_not_allowed(std::string_view peer, std::string_view where, std::string_view why);
  [[nodiscard]] bool make_room_for(std::string_view host);
  [[nodiscard]] bool dismiss_one(std::string_view host);
  void refuse(net::socket socket, bool speaks_tls);
  void report_dismissed();

  loop_iteration& iteration_;
  connections& connections_;
  std::size_t connections_max_;
  std::size_t strangers_per_host_max_;
  std::string no_room_;
  std::string gives_way_;
  std::optional<handshakes> handshakes_;     // if there are certificates
  std::vector<net::address_range> allowed_;  // of `xla.listen`; empty: all
  std::vector<std::unique_ptr<listener>> listeners_;
  std::vector<std::string> addresses_;
  std::optional<time_point> rest_until_;  // the listeners are paused until then
  std::uint64_t accepted_{};
  std::uint64_t refused_{};
  std::uint64_t handshakes_failed_{};
  std::uint64_t dismissed_{};           // since they were last logged
  std::string dismissed_of_;            // the host of the last one
  time_point report_dismissed_at_{};    // no earlier
  time_point report_not_allowed_at_{};  // no earlier
  bool is_full_reported_{};             // until there is room again
  bool stopped_{};
};

}  // namespace coxswain::server
