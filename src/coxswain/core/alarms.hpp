#pragma once
// The alarms of one open meeting.

#include "coxswain/core/deadlines.hpp"

namespace coxswain::core {

struct alarms {
  alarm deadline;
  time_point deadline_at;  // not later than the meeting's own, which withdrawals may put off
  alarm log;
  alarm progress;
  time_point progress_at;
};

}  // namespace coxswain::core
