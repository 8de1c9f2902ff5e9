#pragma once
// PUBLIC. The processes of a job as a runtime needs to know them: the newest snapshot of all tasks,
// and the processes lost between two snapshots, so that exactly the collective operations with
// those can be ended. Pure data. Not here: where snapshots come from (process_monitor).

#include "coxswain/base/status.hpp"
#include "coxswain/client/results.hpp"

#include <span>
#include <vector>

namespace coxswain {

class process_table {
 public:
  // Takes a newer snapshot; one older than the last is ignored. Returns the processes that were
  // connected in the last one and are no longer, or were replaced. The first snapshot loses none.
  std::vector<process> update(tasks_result snapshot);

  // Notes a failure detected locally, before the coordinator reports it; returns the processes lost
  // by it. Does nothing before the first snapshot. NOT_FOUND: there is no such task.
  // INVALID_ARGUMENT: the error is OK.
  result<std::vector<process>> mark_failed(task_id task, status error);

  // FAILED_PRECONDITION: one of the members is unknown, not connected or was replaced; the text
  // names it. OK before the first snapshot.
  [[nodiscard]] status check_current(std::span<process const> members) const;

  // The tasks in order; empty before the first snapshot.
  [[nodiscard]] tasks_result const& tasks() const noexcept { return tasks_; }

 private:
  [[nodiscard]] task_status const* find(task_id task) const;

  tasks_result tasks_;
};

}  // namespace coxswain
