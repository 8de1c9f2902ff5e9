#include "coxswain/core/rendezvous/meeting.hpp"

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
  gathered_bytes_ = 0;
}

std::optional<ticket> meeting::arrive(task_id task, arrival a) {
  std::uint32_t const index = *expected_->index_of(task);
  std::optional<ticket> older;
  if (arrivals_[index].place != nowhere) {
    older = arrivals_[index].who;
    cancel(task);
  }
  a.place = static_cast<std::uint32_t>(order_.size());
  gathered_bytes_ += a.data.size();
  arrivals_[index] = std::move(a);
  order_.push_back(index);
  ++arrived_;
  return older;
}

// A session of many tasks can go at once, one after the other: none may cost a search.
void meeting::cancel(task_id task) {
  auto const index = expected_->index_of(task);
  if (!index || arrivals_[*index].place == nowhere) return;
  gathered_bytes_ -= arrivals_[*index].data.size();
  order_[arrivals_[*index].place] = nowhere;
  arrivals_[*index] = arrival{};
  --arrived_;
  if (order_.size() > 2 * std::size_t{arrived_} + 16) close_gaps();
}

void meeting::close_gaps() {
  std::erase(order_, nowhere);
  for (std::uint32_t i = 0; i < order_.size(); ++i) arrivals_[order_[i]].place = i;
}

time_point meeting::deadline() const {
  time_point earliest = time_point::max();
  each([&](task_id, arrival const& a) { earliest = std::min(earliest, a.deadline); });
  return earliest;
}

meeting::arrival const* meeting::arrival_of(task_id task) const {
  auto const index = expected_->index_of(task);
  return index && arrivals_[*index].place != nowhere ? &arrivals_[*index] : nullptr;
}

std::vector<task_id> meeting::missing() const {
  std::vector<task_id> tasks;
  tasks.reserve(expected_->size() - arrived_);
  for (std::uint32_t i = 0; i < expected_->size(); ++i) {
    if (arrivals_[i].place == nowhere) tasks.push_back(expected_->at(i));
  }
  return tasks;
}

std::vector<task_id> meeting::present() const {
  std::vector<task_id> tasks;
  tasks.reserve(arrived_);
  for (std::uint32_t i = 0; i < expected_->size(); ++i) {
    if (arrivals_[i].place != nowhere) tasks.push_back(expected_->at(i));
  }
  return tasks;
}

std::vector<task_id> meeting::in_order() const {
  std::vector<task_id> tasks;
  tasks.reserve(arrived_);
  each([&](task_id task, arrival const&) { tasks.push_back(task); });
  return tasks;
}

std::vector<ticket> meeting::tickets() const {
  std::vector<ticket> tickets;
  tickets.reserve(arrived_);
  each([&](task_id, arrival const& a) { tickets.push_back(a.who); });
  return tickets;
}

std::vector<bytes> meeting::gathered() const {
  std::vector<bytes> all;
  all.reserve(arrivals_.size());
  for (arrival const& a : arrivals_) all.push_back(a.data);
  return all;
}

}  // namespace coxswain::core
