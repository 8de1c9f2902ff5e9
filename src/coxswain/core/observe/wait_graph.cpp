#include "coxswain/core/observe/wait_graph.hpp"

#include <utility>

namespace coxswain::core {

void wait_graph::acts(task_id task) {
  if (able_[task.value]) return;
  able_[task.value] = true;
  anybody_acts_ = true;
  newly_able_.push_back(task);
}

void wait_graph::wait_for_all(std::vector<task_id> waiting, std::vector<task_id> const& missing) {
  size_ += waiting.size() + missing.size();
  for (task_id const task : waiting) ++waits_of_[task.value];
  for (task_id const task : missing) holds_up_[task.value].push_back(waits_.size());
  waits_.push_back({std::move(waiting), missing.size()});
}

void wait_graph::wait_for_anybody(std::vector<task_id> waiting) {
  size_ += waiting.size();
  for_anybody_.insert(for_anybody_.end(), waiting.begin(), waiting.end());
}

void wait_graph::settle() {
  size_ += able_.size();
  for (wait const& w : waits_) {
    if (w.unable == 0) release(w);
  }
  for (;;) {
    if (anybody_acts_) {
      for (task_id const task : std::exchange(for_anybody_, {})) acts(task);
    }
    if (newly_able_.empty()) return;
    task_id const task = newly_able_.back();
    newly_able_.pop_back();
    for (std::size_t const which : holds_up_[task.value]) {
      if (--waits_[which].unable == 0) release(waits_[which]);
    }
  }
}

void wait_graph::release(wait const& w) {
  for (task_id const task : w.waiting) acts(task);
}

}  // namespace coxswain::core
