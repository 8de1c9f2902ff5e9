#include "coxswain/core/membership/preemption.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace coxswain::core {

void preemption::post(task_id task, time_point death) {
  later_.erase(task);
  auto const [at, is_new] = notices_.emplace(task, death);
  if (!is_new) at->second = std::min(at->second, death);
}

std::optional<time_point> preemption::first_death() const {
  if (notices_.empty()) return std::nullopt;
  auto const by_death = [](auto const& a, auto const& b) { return a.second < b.second; };
  return std::min_element(notices_.begin(), notices_.end(), by_death)->second;
}

void preemption::begin(time_point until) {
  open_ = true;
  ++number_;
  for (auto at = notices_.begin(); at != notices_.end();) {
    auto const next = std::next(at);
    if (at->second > until) later_.insert(notices_.extract(at));
    at = next;
  }
}

std::optional<ticket> preemption::answered(task_id task, answer_of_task how) {
  abstentions_.erase(task);
  auto const [at, is_new] = answers_.emplace(task, how);
  if (is_new) return std::nullopt;
  return std::exchange(at->second, how).who;
}

void preemption::abstained(task_id task) {
  if (!answers_.contains(task)) abstentions_.insert(task);
}

void preemption::cancel(task_id task) { answers_.erase(task); }

void preemption::forget(task_id task) {
  answers_.erase(task);
  abstentions_.erase(task);
  later_.erase(task);
  if (!open_) notices_.erase(task);
}

void preemption::renumber(std::map<task_id, task_id> const& moved) {
  open_ = false;
  answers_.clear();
  abstentions_.clear();
  auto notices = std::exchange(notices_, {});
  notices.merge(std::exchange(later_, {}));
  for (auto const& [task, death] : notices) {
    if (auto const at = moved.find(task); at != moved.end()) notices_.emplace(at->second, death);
  }
}

std::optional<std::uint64_t> preemption::step() const {
  std::uint64_t largest = 0;
  for (auto const& [_, how] : answers_) largest = std::max(largest, how.step);
  if (largest == std::numeric_limits<std::uint64_t>::max()) return std::nullopt;
  return largest + 1;
}

std::vector<ticket> preemption::end() {
  open_ = false;
  notices_ = std::exchange(later_, {});
  abstentions_.clear();
  std::vector<ticket> tickets;
  for (auto const& [_, how] : std::exchange(answers_, {})) tickets.push_back(how.who);
  return tickets;
}

}  // namespace coxswain::core
