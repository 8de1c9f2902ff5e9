#pragma once
// A door of a relay: it serves a foreign protocol, so the connections of its clients end here and
// survive a restart of the coordinator. `begin` gives the time of everything that follows. Not
// here: sockets (relay_client).

#include "coxswain/core/model/loss.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/relay/client_port.hpp"
#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/routed.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace coxswain::relay {

class client_door : public client_port {
 public:
  // The numbers of all doors' clients are above those of all routes.
  static constexpr std::uint32_t first_client = std::uint32_t{1} << 31;
  static constexpr std::size_t memory_max_default = std::size_t{256} * 1024 * 1024;

  virtual ~client_door() = default;

  virtual void begin(time_point now) noexcept = 0;

  // A connection. Returns its number. `secret` becomes the resume secret of its session.
  virtual std::uint32_t open(std::string peer, core::session_secret const& secret) = 0;
  virtual void close(std::uint32_t client, core::loss how) = 0;

  virtual void trunk_up() = 0;
  virtual void trunk_down() = 0;
  // There will be no trunk any more.
  virtual void trunk_over(status const& why) = 0;
  // A route has changed. False: it is none of the door's.
  virtual bool route_changed(std::uint32_t route) = 0;

  [[nodiscard]] virtual std::optional<time_point> next_deadline() const = 0;
  // `reads`: clients are being read.
  virtual void advance(bool reads) = 0;

  // A client that has read nothing for too long: its connection is to end, and `close` follows.
  [[nodiscard]] virtual std::optional<std::uint32_t> take_stalled() = 0;

  // The clients that have more to write, more room, or an end. `into` is cleared first.
  virtual void take_changed(std::vector<std::uint32_t>& into) = 0;

 protected:
  // The largest request or reply; the trunk's own frames have another limit.
  [[nodiscard]] static std::size_t largest_message(core::hello_answer const& terms) {
    constexpr std::size_t beside_value = 1024;
    std::uint64_t const most = terms.value_bytes_max + terms.key_bytes_max + beside_value;
    return std::min<std::uint64_t>(most, wire::message_bytes_max);
  }
};

}  // namespace coxswain::relay
