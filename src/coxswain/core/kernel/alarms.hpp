#pragma once
// The alarms of one open meeting.

#include "coxswain/core/kernel/deadlines.hpp"

namespace coxswain::core {

struct alarms {
  alarm deadline;
  time_point deadline_at;  // not later than the meeting's own, which cancellations can postpone
  alarm log;
  alarm progress;
  time_point progress_at;

  // How many of them are armed.
  [[nodiscard]] std::size_t armed() const noexcept {
    return (deadline.armed() ? 1U : 0U) + (log.armed() ? 1U : 0U) + (progress.armed() ? 1U : 0U);
  }
};

}  // namespace coxswain::core
