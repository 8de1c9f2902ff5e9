#pragma once
// The possible participants of a released round: callers that got the release, and callers whose
// calls were open at the last arrival and got no reply. Not here: violations.

#include "tests/sim/everything/history.hpp"

#include <algorithm>
#include <vector>

namespace coxswain::sim {

class arrivals {
 public:
  // `released`: the calls that got the release of the round.
  arrivals(history const& h, std::vector<call_record const*> const& released)
      : h_{h}, released_{released} {
    for (call_record const* const c : released) {
      last_made_ = std::max(last_made_, c->made);
      first_released_ = std::min(first_released_, *c->answered);
    }
  }

  // Those of them that are `like` a given one.
  template <class Like>
  [[nodiscard]] std::vector<call_record const*> of(Like like) const {
    std::vector<call_record const*> all;
    for (call_record const& c : h_.calls) {
      if (c.made <= first_released_ && like(c) && may_be_in(c)) all.push_back(&c);
    }
    return all;
  }

 private:
  [[nodiscard]] bool may_be_in(call_record const& c) const {
    if (std::find(released_.begin(), released_.end(), &c) != released_.end()) return true;
    bool const heard_otherwise =
        c.answered && (c.gave<core::barrier_answer>() || c.gave<barrier_failure>());
    return !heard_otherwise && gone_by(c) >= last_made_;
  }

  // The latest time at which the coordinator learned that its caller no longer waits.
  [[nodiscard]] time_point gone_by(call_record const& c) const {
    if (c.over() == time_point::max() || h_.processes[c.process].is_quiet) {
      return time_point::max();
    }
    time_point const known = c.over() + h_.delay_max;
    bool const is_known = h_.is_calm(c.process, c.over(), known) && h_.outlives_restart(known);
    return is_known ? known : time_point::max();
  }

  history const& h_;
  std::vector<call_record const*> const& released_;
  time_point last_made_{};
  time_point first_released_{time_point::max()};
};

}  // namespace coxswain::sim
