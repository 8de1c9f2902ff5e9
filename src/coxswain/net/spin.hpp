#pragma once
// Decides whether to poll once more instead of sleeping. A sleeping thread answers late by the time
// that the kernel needs to wake it; a polling one takes a core. So it polls only for a while after
// each activity, and not where others need the core.

#include "coxswain/base/time.hpp"

#include <algorithm>

namespace coxswain::net {

class spin {
 public:
  // If two polls are this far apart, another thread had the core.
  static constexpr duration lost_core_min = 500us;
  // No polling for this long after the thread has lost its core.
  static constexpr duration rest = 100ms;

  // Polls for `time` after each activity, at most 1 s; zero: never.
  explicit spin(duration time) noexcept : longest_{std::min<duration>(time, 1s)} {}

  [[nodiscard]] bool is_on() const noexcept { return longest_ > duration{}; }

  // There was activity, such as a request sent or read.
  void restart(time_point now) noexcept { began_ = polled_ = now; }

  // Whether to poll once more. Call it before each poll.
  [[nodiscard]] bool again(time_point now) noexcept {
    if (now < rests_until_ || now - began_ >= longest_) return false;
    if (now - polled_ >= lost_core_min) {
      rests_until_ = now + rest;
      return false;
    }
    polled_ = now;
    return true;
  }

 private:
  duration longest_;
  time_point began_;
  time_point polled_;
  time_point rests_until_;
};

}  // namespace coxswain::net
