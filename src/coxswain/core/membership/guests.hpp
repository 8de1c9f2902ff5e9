#pragma once
// Guests: sessions that act for a task held by another session, with its permission. So a program
// that `coxswain task` starts has its own session, requests and kept replies, and still acts as the
// task. Not here: what they may do (coordinator).

#include "coxswain/base/ids.hpp"
#include "coxswain/base/sync_points.hpp"
#include "coxswain/core/kernel/ticket.hpp"

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace coxswain::core {

// The session that holds the task, and the task.
struct host {
  session_id holder{};
  task_id task{};
  friend constexpr auto operator<=>(host const&, host const&) = default;
};

// The state of a session that acts for a task of another one.
struct guest {
  host of;
  bool is_member{};  // it has joined and not left
};

// A client that knows the secret may act for the task of a session.
struct grant {
  std::string secret;
  std::vector<session_id> guests;
  std::vector<ticket> leaving;  // they share one arrival at the leave
  sync_points steps;            // which the guests have reported
  std::optional<std::uint64_t> stopped_at;
  std::vector<ticket> at_sync_point;  // they ask again when an agreement has ended

  // As sync_points::reached, but all guests that ask about a step get the same result.
  std::optional<bool> reached(std::uint64_t step) {
    if (stopped_at == step) return true;
    auto const stops = steps.reached(step);
    if (stops == true) stopped_at = step;
    return stops;
  }
};

using grants = std::map<host, grant>;

// Null if there is none.
inline grant* find(grants& in, host const& by) {
  if (in.empty()) return nullptr;
  auto const at = in.find(by);
  return at == in.end() ? nullptr : &at->second;
}

}  // namespace coxswain::core
