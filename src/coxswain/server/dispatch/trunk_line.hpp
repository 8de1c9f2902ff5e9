#pragma once
// The state of a trunk and of its routes in dispatch (dispatch_routes.cpp), beside those of their
// lines.

#include "coxswain/base/bytes.hpp"
#include "coxswain/base/ids.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/core/model/loss.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/wire/routed.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace coxswain::server {

// A connection of a relay, which carries others.
struct trunk_line {
  static constexpr std::size_t routes_max = 4'096;

  std::string peer;                                         // for people
  std::unordered_map<std::uint32_t, connection_id> routes;  // by number
  std::uint32_t last_opened{};
  std::deque<connection_id> to_send;  // routes whose lines are dirty, in turn

  // Replies that go before the output of those, in order.
  struct shared_reply {
    core::answer_ptr what;
    std::string to;  // wire::append_receiver
  };
  std::vector<shared_reply> shared;
  std::size_t shared_bytes{};  // of their bodies
};

// A connection that is carried by a trunk.
struct route_line {
  route_line(connection_id by, std::uint32_t n, memory_meter* meter)
      : trunk{by}, number{n}, counted{meter} {}

  connection_id trunk;
  std::uint32_t number;
  std::size_t room{wire::route_room_max};  // bytes that the relay takes
  std::size_t unreported{};                // received since the relay was last notified of room
  std::string unread;                      // received, and not fed to the decoder
  transit_bytes counted;                   // of `unread`
  bool goes_on{};                          // is in the list of the line_table
  std::optional<time_point> slowed;        // since when its goodbye waits
  std::optional<core::loss> ended;         // its client is gone
};

}  // namespace coxswain::server
