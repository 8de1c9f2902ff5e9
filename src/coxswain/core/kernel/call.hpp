#pragma once
// A request on its way through the coordinator.

#include "coxswain/base/ids.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/core/kernel/sessions.hpp"
#include "coxswain/core/kernel/ticket.hpp"
#include "coxswain/core/observe/statistics.hpp"

#include <optional>

namespace coxswain::core {

struct call {
  time_point now;
  ticket from;
  session& by;
  std::optional<task_id> task;  // the task it acts for
  operation what;
};

}  // namespace coxswain::core
