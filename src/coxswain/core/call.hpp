#pragma once
// A request on its way through the coordinator.

#include "coxswain/base/ids.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/core/sessions.hpp"
#include "coxswain/core/statistics.hpp"
#include "coxswain/core/ticket.hpp"

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
