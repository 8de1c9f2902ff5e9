#include "coxswain/client/agent/heartbeats.hpp"

#include <algorithm>

namespace coxswain::detail {

void heartbeats::use(core::hello_answer const& terms) {
  period_ = terms.heartbeat_period > duration::zero() ? terms.heartbeat_period
                                                      : terms.heartbeat_timeout / 3;
  if (period_ <= duration::zero()) period_ = without_limit;
}

time_point heartbeats::next_at() const {
  // In any case twice before the connection counts as dead: only the second one is surely replied
  // to.
  if (unanswered_since_)
    return deadline_after(heartbeat_sent_at_, watches_closely_ ? pace() / 2 : pace());
  return deadline_after(std::min(sent_at_, heard_at_), pace());
}

time_point heartbeats::silent_at() const {
  if (!unanswered_since_ || period_ == without_limit) return time_point::max();
  return deadline_after(*unanswered_since_, watches_closely_ ? pace() : period_ + period_ / 2);
}

}  // namespace coxswain::detail
