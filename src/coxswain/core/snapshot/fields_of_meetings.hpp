#pragma once
// The fields of meetings in a snapshot.

#include "coxswain/core/rendezvous/meeting.hpp"
#include "coxswain/core/snapshot/fields_of_sessions.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace coxswain::core {

// Those of all tasks are not listed.
void task_set::fields(auto& a, auto& s) {
  std::uint32_t size = s.listed_.empty() ? s.size_ : 0;
  a.members(size, s.listed_);
  if constexpr (is_loading<decltype(a)>) {
    s.size_ = s.listed_.empty() ? size : static_cast<std::uint32_t>(s.listed_.size());
    auto const& all = s.listed_;
    bool const is_sorted =
        std::adjacent_find(all.begin(), all.end(), std::greater_equal<task_id>{}) == all.end();
    bool const is_known = s.size_ > 0 && s.size_ <= a.num_tasks() &&
                          (all.empty() || all.back().value < a.num_tasks());
    a.check(is_sorted && is_known, "a set of tasks is not one of the job's");
  }
}

// The order of arrivals is that of the list; what is left of cancelled ones is not kept.
void meeting::fields(auto& a, auto& s) {
  auto const item = [&a](auto&& task, auto& value) {
    a.item(3, [&] {
      a.members(task, value.who, value.deadline, value.data, value.progress_every,
                value.progress_at);
    });
  };
  if constexpr (is_loading<decltype(a)>) {
    task_set_ptr expected;
    time_point opened;
    a.members(expected, opened);
    if (expected) s.open(std::move(expected), opened);
    while (a.is_next(3)) {
      task_id task;
      arrival arrival;
      item(task, arrival);
      bool const is_new = s.is_open() && s.expected_->index_of(task) && !s.arrival_of(task);
      a.check(is_new, "an arrival has no place");
      s.arrive(task, std::move(arrival));
    }
  } else if (s.is_open()) {
    a.members(s.expected_, s.opened_);
    s.each(item);
  }
}

}  // namespace coxswain::core
