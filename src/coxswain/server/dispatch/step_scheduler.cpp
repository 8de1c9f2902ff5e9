#include "coxswain/server/dispatch/step_scheduler.hpp"

#include <utility>

namespace coxswain::server {

bool step_scheduler::acts_for_tasks(connection_id who, account& of) const {
  of.acts_for_tasks = of.acts_for_tasks || core_.share_of(who) == core::share_kind::task;
  return of.acts_for_tasks;
}

void step_scheduler::wait(time_point now, connection_id who, account& of) {
  of.waits = true;
  if (of.waits_from == 0) {
    of.waits_from = iteration_;
    of.waits_since = now;
  }
  if (of.left <= 0) {
    of.is_beyond_share = std::exchange(of.is_late, true) || of.left <= -quantum;
    of.is_queued = false;
  }
  if (of.is_beyond_share) return beyond_share_.push_back(who);
  if (of.queues && !of.is_late) {
    if (!std::exchange(of.is_queued, true)) queue_.push_back({who, now});
    return;
  }
  if (iteration_steps_left_ <= 0) {
    waits_since_ = std::min(waits_since_.value_or(of.waits_since), of.waits_since);
  }
  late_.push_back(who);
}

void step_scheduler::end_wait(connection_id who, account& of) {
  of.is_late = false;
  bool const was_within_share = !std::exchange(of.is_beyond_share, false);
  auto const waited = iteration_ - std::exchange(of.waits_from, 0);
  waits_.record(waited);
  if (was_within_share && core_.share_of(who) == core::share_kind::task) {
    worker_wait_max_ = std::max(worker_wait_max_, waited);
  }
}

}  // namespace coxswain::server
