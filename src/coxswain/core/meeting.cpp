#include "coxswain/core/meeting.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace coxswain::core {

std::optional<std::uint32_t> task_set::index_of(task_id task) const {
  if (listed_.empty()) {
    return task.value < size_ ? std::optional{task.value} : std::nullopt;
  }
  auto const at = std::lower_bound(listed_.begin(), listed_.end(), task);
  if (at == listed_.end() || *at != task) return std::nullopt;
  return static_cast<std::uint32_t>(at - listed_.begin());
}

void meeting::open(task_set_ptr expected, time_point now) {
  assert(!is_open());
  expected_ = std::move(expected);
  opened_ = now;
  arrivals_.resize(expected_->size());
}

void meeting::close() {
  expected_.reset();
  arrivals_.clear();
  order_.clear();
  arrived_ = 0;
  deadline_ = time_point::max();
  gathered_bytes_ = 0;
}

std::optional<ticket> meeting::arrive(task_id task, arrival a) {
  std::uint32_t const index = *expected_->index_of(task);
  std::optional<ticket> older;
  if (arrivals_[index].here) {
    older = arrivals_[index].who;
    withdraw(task);
  }
  a.here = true;
  gathered_bytes_ += a.data.size();
  deadline_ = std::min(deadline_, a.deadline);
  arrivals_[index] = std::move(a);
  order_.push_back(index);
  ++arrived_;
  return older;
}

void meeting::withdraw(task_id task) {
  auto const index = expected_->index_of(task);
  if (!index || !arrivals_[*index].here) return;
  gathered_bytes_ -= arrivals_[*index].data.size();
  time_point const gone = arrivals_[*index].deadline;
  arrivals_[*index] = arrival{};
  std::erase(order_, *index);
  --arrived_;
  if (gone == deadline_) {
    deadline_ = time_point::max();
    each([this](task_id, arrival const& a) { deadline_ = std::min(deadline_, a.deadline); });
  }
}

meeting::arrival const* meeting::arrival_of(task_id task) const {
  auto const index = expected_->index_of(task);
  return index && arrivals_[*index].here ? &arrivals_[*index] : nullptr;
}

std::vector<task_id> meeting::missing() const {
  std::vector<task_id> tasks;
  for (std::uint32_t i = 0; i < expected_->size(); ++i) {
    if (!arrivals_[i].here) tasks.push_back(expected_->at(i));
  }
  return tasks;
}

std::vector<task_id> meeting::in_order() const {
  std::vector<task_id> tasks;
  tasks.reserve(order_.size());
  for (std::uint32_t const index : order_) tasks.push_back(expected_->at(index));
  return tasks;
}

std::vector<ticket> meeting::tickets() const {
  std::vector<ticket> tickets;
  tickets.reserve(order_.size());
  for (std::uint32_t const index : order_) tickets.push_back(arrivals_[index].who);
  return tickets;
}

std::vector<bytes> meeting::gathered() const {
  std::vector<bytes> all;
  all.reserve(arrivals_.size());
  for (arrival const& a : arrivals_) all.push_back(a.data);
  return all;
}

}  // namespace coxswain::core
