#pragma once
// PUBLIC. The processes of a job as a runtime must know them: the newest snapshot of all tasks, and
// who was lost between one snapshot and the next, so that exactly the collective operations with
// those can be ended. Pure data. Not here: where snapshots come from (process_monitor).

#include "coxswain/base/status.hpp"
#include "coxswain/core/model/messages.hpp"

#include <span>
#include <vector>

namespace coxswain {

// A task in one of its incarnations.
struct process {
  task_id task{};
  coxswain::incarnation self{};

  friend auto operator<=>(process const&, process const&) = default;
};

class process_table {
 public:
  // Takes a newer snapshot; one that is older than the last changes nothing. Gives those that were
  // connected in the last one and are not any more, or are another process now. The first snapshot
  // loses nobody.
  std::vector<process> update(core::tasks_answer snapshot);

  // Notes a failure that was found here, before the coordinator tells it; gives whom that loses.
  // Nothing happens while there is no snapshot. NOT_FOUND: there is no such task.
  // INVALID_ARGUMENT: the error is none.
  result<std::vector<process>> mark_failed(task_id task, status error);

  // FAILED_PRECONDITION: one of the members is unknown, not connected or another process by now;
  // the text names it. OK while there is no snapshot.
  [[nodiscard]] status is_current(std::span<process const> members) const;

  // The tasks in order; empty while there is no snapshot.
  [[nodiscard]] core::tasks_answer const& tasks() const noexcept { return tasks_; }

 private:
  [[nodiscard]] core::snapshot::task const* find(task_id task) const;

  core::tasks_answer tasks_;
};

}  // namespace coxswain
