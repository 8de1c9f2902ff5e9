#pragma once
// Finds deadlocks: tasks that wait for each other in a cycle, or for something that no task is left
// to do. It is optimistic: a task that can act may do anything, and a task can continue as soon as
// one of its waits ends. So there are no false positives. Not here: which tasks can act and what
// they wait for (coordinator).

#include "coxswain/base/ids.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace coxswain::core {

class wait_graph {
 public:
  // A job of so many tasks, none of which can act.
  explicit wait_graph(std::uint32_t num_tasks)
      : able_(num_tasks), holds_up_(num_tasks), waits_of_(num_tasks) {}

  // The task is not blocked.
  void acts(task_id task);
  // A client outside the job can act.
  void outsider_acts() noexcept { anybody_acts_ = true; }

  // The waiting tasks continue when all of the missing ones have arrived.
  void wait_for_all(std::vector<task_id> waiting, std::vector<task_id> const& missing);
  // The waiting tasks continue when any client acts, such as by setting a key.
  void wait_for_anybody(std::vector<task_id> waiting);

  // In how many of these waits the task waits.
  [[nodiscard]] std::uint32_t waits_of(task_id task) const { return waits_of_[task.value]; }

  // Computes which tasks can still act. Call it once, after all waits were added.
  void settle();

  // After `settle`: whether the task can act, or will be able to when others have.
  [[nodiscard]] bool is_able(task_id task) const { return able_[task.value]; }

  // The size of the graph.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  struct wait {
    std::vector<task_id> waiting;
    std::size_t unable{};  // how many of the missing cannot arrive, as far as known
  };

  void release(wait const& w);

  std::vector<bool> able_;
  std::vector<std::vector<std::size_t>> holds_up_;  // the waits in which a task is missing
  std::vector<std::uint32_t> waits_of_;
  std::vector<wait> waits_;
  std::vector<task_id> for_anybody_;
  std::vector<task_id> newly_able_;  // found able; the consequences are still to be computed
  bool anybody_acts_{};
  std::size_t size_{};
};

}  // namespace coxswain::core
