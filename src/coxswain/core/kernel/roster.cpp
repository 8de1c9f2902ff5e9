#include "coxswain/core/kernel/roster.hpp"

#include <utility>

namespace coxswain::core {

roster::roster(std::uint32_t num_tasks, bool recoverable)
    : tasks_(num_tasks), unrecoverable_{recoverable ? 0 : num_tasks} {
  counts_[0] = num_tasks;
  for (task& t : tasks_) t.recoverable = recoverable;
}

void roster::set_state(task_id id, task_state state) {
  set_detached(id, detachment::none);
  task& t = at(id);
  --counts_[static_cast<std::size_t>(t.state)];
  ++counts_[static_cast<std::size_t>(state)];
  t.state = state;
  changed();
}

void roster::set_detached(task_id id, detachment how) {
  detachment const before = std::exchange(at(id).detached, how);
  detached_ -= before == detachment::finished ? 1 : 0;
  detached_ += how == detachment::finished ? 1 : 0;
}

void roster::set_recoverable(task_id id, bool recoverable) {
  bool const before = std::exchange(at(id).recoverable, recoverable);
  unrecoverable_ += before ? 1 : 0;
  unrecoverable_ -= recoverable ? 1 : 0;
}

void roster::rearrange(std::vector<std::optional<task_id>> const& from) {
  std::vector<task> all(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i]) {
      all[i] = std::move(at(*from[i]));
    } else {
      all[i].recoverable = true;
    }
  }
  tasks_ = std::move(all);
  count_all();
  changed();
}

void roster::count_all() {
  counts_ = {};
  detached_ = 0;
  unrecoverable_ = 0;
  for (task const& task : tasks_) {
    ++counts_[static_cast<std::size_t>(task.state)];
    detached_ += task.detached == detachment::finished ? 1 : 0;
    unrecoverable_ += task.recoverable ? 0 : 1;
  }
}

}  // namespace coxswain::core
