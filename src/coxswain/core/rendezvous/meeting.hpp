#pragma once
// One meeting of a fixed set of tasks: the expected tasks, the arrivals, and the deadline. A round
// of a barrier is one; so are the join and the leave. Not here: names, rounds, replies.

#include "coxswain/base/bytes.hpp"
#include "coxswain/base/ids.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/core/kernel/ticket.hpp"

#include <boost/smart_ptr/local_shared_ptr.hpp>
#include <boost/smart_ptr/make_local_shared.hpp>

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

namespace coxswain::core {

// A sorted set of tasks. The set of all tasks of a job is stored without listing them.
class task_set {
 public:
  // The tasks 0 to n-1.
  explicit task_set(std::uint32_t n) : size_{n} {}
  // `sorted` without duplicates, not empty.
  explicit task_set(std::vector<task_id> sorted)
      : listed_{std::move(sorted)}, size_{static_cast<std::uint32_t>(listed_.size())} {}

  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] task_id at(std::uint32_t index) const {
    return listed_.empty() ? task_id{index} : listed_[index];
  }
  [[nodiscard]] std::optional<std::uint32_t> index_of(task_id task) const;
  // The memory of the list.
  [[nodiscard]] std::size_t cost() const noexcept { return listed_.size() * sizeof(task_id); }

  friend auto operator<=>(task_set const&, task_set const&) = default;

  static void fields(auto& a, auto& s);

 private:
  std::vector<task_id> listed_;  // empty: 0 to size-1
  std::uint32_t size_;
};

using task_set_ptr = boost::local_shared_ptr<task_set const>;

class meeting {
  static constexpr std::uint32_t nowhere = UINT32_MAX;

 public:
  struct arrival {
    ticket who;
    time_point deadline;
    owned_bytes data;
    duration progress_every{};  // zero: no progress reports
    time_point progress_at{};   // when it is reported next

   private:
    friend class meeting;
    std::uint32_t place{nowhere};  // in `order_`
  };

  // The memory of a meeting of this many, without the set.
  [[nodiscard]] static std::size_t cost(std::uint32_t expected) noexcept {
    return expected * (sizeof(arrival) + sizeof(std::uint32_t));
  }

  void open(task_set_ptr expected, time_point now);
  // Forgets the arrivals; keeps the memory for the next use.
  void close();
  [[nodiscard]] bool is_open() const noexcept { return expected_ != nullptr; }

  [[nodiscard]] task_set const& expected() const { return *expected_; }
  [[nodiscard]] task_set_ptr const& expected_set() const { return expected_; }
  [[nodiscard]] std::uint32_t arrived() const noexcept { return arrived_; }
  [[nodiscard]] bool complete() const noexcept { return arrived_ == expected_->size(); }
  [[nodiscard]] time_point opened() const noexcept { return opened_; }

  // The task must be expected. If it has arrived before, the new arrival replaces the old one,
  // whose ticket is returned.
  std::optional<ticket> arrive(task_id task, arrival a);

  // Removes the arrival; does nothing if there is none.
  void cancel(task_id task);

  [[nodiscard]] arrival const* arrival_of(task_id task) const;

  // The earliest deadline of all arrivals. Visits each of them, so do not call it for each arrival.
  [[nodiscard]] time_point deadline() const;

  // The tasks that have not arrived, sorted.
  [[nodiscard]] std::vector<task_id> missing() const;

  // The tasks that have arrived, sorted; and in the order of arrival.
  [[nodiscard]] std::vector<task_id> present() const;
  [[nodiscard]] std::vector<task_id> in_order() const;

  // Their tickets, in the same order.
  [[nodiscard]] std::vector<ticket> tickets() const;

  // Visits the arrivals, oldest first.
  template <class Visit>
  void each(Visit visit) const {
    for (std::uint32_t const index : order_) {
      if (index != nowhere) visit(expected_->at(index), arrivals_[index]);
    }
  }
  template <class Visit>
  void each(Visit visit) {
    for (std::uint32_t const index : order_) {
      if (index != nowhere) visit(expected_->at(index), arrivals_[index]);
    }
  }

  // The data of all participants in task order.
  [[nodiscard]] std::vector<bytes> gathered() const;
  [[nodiscard]] std::size_t gathered_bytes() const noexcept { return gathered_bytes_; }

  static void fields(auto& a, auto& s);

 private:
  void close_gaps();

  task_set_ptr expected_;
  std::vector<arrival> arrivals_;     // by index in the set
  std::vector<std::uint32_t> order_;  // indices; `nowhere` for a cancelled arrival
  std::uint32_t arrived_{};
  time_point opened_{};
  std::size_t gathered_bytes_{};
};

}  // namespace coxswain::core
