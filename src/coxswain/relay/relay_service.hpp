#pragma once
// A service for clients of another protocol, which a relay provides in place of the coordinator.
// Their connections end at the relay, so they survive a restart of the coordinator; each has a
// session with it (core_links). `begin` gives the time of everything that follows. Not here:
// sockets (relay_client), the protocols (relay_xla_service, relay_tcp_store_service).
//
// Not thread-safe.

#include "coxswain/base/bytes.hpp"
#include "coxswain/core/model/event.hpp"
#include "coxswain/core/model/loss.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/relay/client_port.hpp"
#include "coxswain/relay/core_links.hpp"
#include "coxswain/relay/stalled_readers.hpp"
#include "coxswain/relay/switchboard.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace coxswain::relay {

class relay_service : public client_port {
 public:
  using event_sink = std::function<void(core::severity, std::string const&)>;

  // The numbers of all services' clients are above those of all routes.
  static constexpr std::uint32_t first_client = std::uint32_t{1} << 31;
  static constexpr std::size_t memory_max_default = std::size_t{256} * 1024 * 1024;

  virtual ~relay_service() = default;

  virtual void begin(time_point now) noexcept { now_ = now; }

  // A connection. Returns its number. `secret` becomes the resume secret of its session.
  virtual std::uint32_t open(std::string peer, core::session_secret const& secret) = 0;
  virtual void close(std::uint32_t client, core::loss how) = 0;

  void trunk_up();
  void trunk_down();
  // There will be no trunk any more.
  void trunk_over(status const& why);
  // A route has changed. False: it belongs to no client here.
  bool route_changed(std::uint32_t route);

  [[nodiscard]] virtual std::optional<time_point> next_deadline() const = 0;
  // `reads`: clients are being read.
  virtual void advance(bool reads) = 0;

  // A client that has read nothing for too long: its connection is to end, and `close` follows.
  [[nodiscard]] std::optional<std::uint32_t> take_stalled();

  // The clients that have more to write, more room, or an end. `into` is cleared first.
  virtual void take_changed(std::vector<std::uint32_t>& into) = 0;

 protected:
  // Numbers of clients begin at `first`. `stalled_max`: how long one may read nothing while replies
  // wait. `memory`: for messages in transit.
  relay_service(switchboard& board, std::uint32_t first, duration stalled_max, event_sink log,
                meter_ptr memory);

  // Passes what the coordinator has sent to the clients.
  virtual void settle() = 0;
  [[nodiscard]] virtual std::string const& peer_of(std::uint32_t client) const = 0;

  void read_held_back();

  // The largest request or reply; the trunk's own frames have another limit.
  [[nodiscard]] static std::size_t largest_message(core::hello_answer const& terms);

  event_sink log_;
  meter_ptr memory_;
  core_links links_;
  stalled_readers stalled_;
  std::vector<std::uint32_t> changed_;
  std::vector<core::outgoing> outgoing_;
  time_point now_{};
  mutable bool was_full_{};  // of requests that wait for the coordinator
};

}  // namespace coxswain::relay
