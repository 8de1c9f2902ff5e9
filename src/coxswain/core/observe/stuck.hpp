#pragma once
// Tasks that can never go on. Not here: who they are (wait_graph), what is said of them.

#include "coxswain/base/ids.hpp"
#include "coxswain/core/kernel/open_requests.hpp"
#include "coxswain/core/kernel/ticket.hpp"

#include <vector>

namespace coxswain::core {

struct stuck_call {
  task_id task;
  ticket call;  // the first that it waits with
  friend bool operator==(stuck_call const&, stuck_call const&) = default;
};

// Those who are stuck in the same way.
struct stuck_group {
  parked const* call;
  std::vector<task_id> tasks;
};

}  // namespace coxswain::core
