#pragma once
// The routes of a relay: which client has which number, how many bytes each side takes, and what is
// still to be written to each client (semantics D41). No I/O, no clock, no randomness: messages of
// the trunk in, messages of the trunk and bytes for clients out. It knows nothing of sessions. Not
// here: the trunk's own session (trunk_link), sockets (relay_client).
//
// Not thread-safe.

#include "coxswain/base/status.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/wire/routed.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace coxswain::relay {

class switchboard {
 public:
  // A client has connected. `secret` is random, `peer` is cut if it is too long. Returns the number
  // of its route.
  std::uint32_t open(core::session_secret const& secret, std::string_view peer);

  // How many bytes may be read from the client now.
  [[nodiscard]] std::size_t room(std::uint32_t route) const;

  // These were read from it: at most `room`.
  void content(std::uint32_t route, std::string_view bytes);

  // The client has gone. Its route is forgotten.
  void closed(std::uint32_t route);

  // A message about routes was received over the trunk. INVALID_ARGUMENT: it violates the protocol,
  // so the trunk is of no use.
  [[nodiscard]] status received(std::string_view payload);

  // The routes that have more to write, more room, or an end since the last call; perhaps several
  // times. `into` is cleared first.
  void take_changed(std::vector<std::uint32_t>& into);

  // The next bytes for the client; and how many of them were written.
  [[nodiscard]] std::string_view to_write(std::uint32_t route) const;
  void wrote(std::uint32_t route, std::size_t bytes);

  // The coordinator has closed the route: the client's connection ends after its last byte.
  [[nodiscard]] bool ends(std::uint32_t route) const;

  // Frames for the trunk. Whoever takes them leaves the string empty.
  [[nodiscard]] std::string& output() noexcept { return output_; }

  [[nodiscard]] std::size_t size() const noexcept { return routes_.size(); }

  // The trunk is lost: there are no routes any more.
  void reset();

 private:
  struct route {
    std::size_t room{wire::route_room_max};  // that the coordinator has
    std::string pending;                     // for the client, written up to `written`
    std::size_t written{};
    std::size_t unreported{};  // written since the coordinator was last told of room
    bool ends{};
  };

  [[nodiscard]] route const& at(std::uint32_t number) const { return routes_.at(number); }

  std::unordered_map<std::uint32_t, route> routes_;
  std::uint32_t last_{};
  std::vector<std::uint32_t> changed_;
  std::string output_;
};

}  // namespace coxswain::relay
