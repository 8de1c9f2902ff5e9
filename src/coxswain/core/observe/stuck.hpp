#pragma once
// Deadlocked tasks. Not here: how they are found (wait_graph), texts about them.

#include "coxswain/base/ids.hpp"
#include "coxswain/core/kernel/open_requests.hpp"
#include "coxswain/core/kernel/ticket.hpp"

#include <vector>

namespace coxswain::core {

struct stuck_call {
  task_id task;
  ticket call;  // its first waiting call
  friend bool operator==(stuck_call const&, stuck_call const&) = default;
};

// Tasks that are blocked in the same way.
struct stuck_group {
  parked const* call;
  std::vector<task_id> tasks;
};

}  // namespace coxswain::core
