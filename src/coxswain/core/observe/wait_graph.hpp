#pragma once
// Who can still go on, and who never will: tasks that wait for each other in a circle, or for
// something that nobody is left to do. It hopes wherever it may: a task that can act may do
// anything, and one wait that ends lets its task go on, however many others it has. So whoever is
// found stuck is. Not here: who can act and what they wait for (coordinator).

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

  // The task may do something as it is.
  void acts(task_id task);
  // So may somebody who is no task.
  void outsider_acts() noexcept { anybody_acts_ = true; }

  // The waiting go on when all of the missing have come.
  void wait_for_all(std::vector<task_id> waiting, std::vector<task_id> const& missing);
  // The waiting go on when anybody does something: gives a key its value, say.
  void wait_for_anybody(std::vector<task_id> waiting);

  // In how many of these waits the task is one of the waiting.
  [[nodiscard]] std::uint32_t waits_of(task_id task) const { return waits_of_[task.value]; }

  // Follows from all that was said what can still happen. To be called once, at the end.
  void settle();

  // After `settle`: whether the task can act, or will be able to when others have.
  [[nodiscard]] bool is_able(task_id task) const { return able_[task.value]; }

  // How much there was to look at.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  struct wait {
    std::vector<task_id> waiting;
    std::size_t unable{};  // how many of the missing cannot come, as far as is known
  };

  void release(wait const& w);

  std::vector<bool> able_;
  std::vector<std::vector<std::size_t>> holds_up_;  // the waits in which a task is missing
  std::vector<std::uint32_t> waits_of_;
  std::vector<wait> waits_;
  std::vector<task_id> for_anybody_;
  std::vector<task_id> news_;  // able, and what follows from it is still to be found
  bool anybody_acts_{};
  std::size_t size_{};
};

}  // namespace coxswain::core
