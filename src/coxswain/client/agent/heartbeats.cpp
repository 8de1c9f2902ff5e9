#include "coxswain/client/agent/heartbeats.hpp"

#include <algorithm>

namespace coxswain::detail {

void heartbeats::use(core::hello_answer const& terms) {
  period_ = terms.heartbeat_period > duration::zero() ? terms.heartbeat_period
                                                      : terms.heartbeat_timeout / 3;
  if (period_ <= duration::zero()) period_ = without_limit;
  suspect_after_ = terms.suspect_after > duration::zero() ? terms.suspect_after : without_limit;
}

std::optional<duration> heartbeats::silence_max() const noexcept {
  duration const most = std::min(watches_closely_ ? period_ : without_limit, suspect_after_);
  bool const is_less = most != without_limit && most / 5 < period_ / 2;
  return is_less ? std::optional{most} : std::nullopt;
}

time_point heartbeats::next_at() const {
  // In any case twice before the connection counts as dead: only the second one is surely replied
  // to.
  auto const most = silence_max();
  if (unanswered_since_) return deadline_after(heartbeat_sent_at_, most ? *most / 8 : period_);
  return std::min(deadline_after(heard_at_, most ? *most / 2 : period_),
                  deadline_after(sent_at_, watches_closely_ ? period_ / 2 : period_));
}

time_point heartbeats::silent_at() const {
  if (!unanswered_since_) return time_point::max();
  auto const most = silence_max();
  if (most) return deadline_after(*unanswered_since_, *most / 2);
  if (period_ == without_limit) return time_point::max();
  return deadline_after(*unanswered_since_, period_ + period_ / 2);
}

}  // namespace coxswain::detail
