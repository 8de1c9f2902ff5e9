#pragma once
// The tasks that this session has joined and not left. Not here: the job's tasks (core).

#include "coxswain/client/agent/call_table.hpp"
#include "coxswain/core/model/messages.hpp"

#include <set>
#include <variant>

namespace coxswain::detail {

class joined_tasks {
 public:
  // The call was answered.
  void note(open_call const& call, core::answer const& reply) {
    auto const& message = call.message;
    auto const* const joined = std::get_if<core::join_answer>(&reply.value);
    if (joined && joined->task) all_.insert(*joined->task);
    if (!message.task) return;
    if (std::holds_alternative<core::join_args>(message.what) && reply.outcome.ok()) {
      all_.insert(*message.task);
    } else if (std::holds_alternative<core::leave_args>(message.what)) {
      // In an elastic job: its epoch is over, and the task stays.
      bool const epoch_ends = message.epoch > 0 && reply.outcome.code() == errc::aborted;
      if (epoch_ends || reply.outcome.code() == errc::invalid_argument) return;
      all_.erase(*message.task);
      leave_answered_ = true;
    }
  }

  // The epoch of an elastic job has changed: the task has another number, or has left.
  void renumber(task_id as) { all_ = {as}; }
  void dismiss() {
    all_.clear();
    leave_answered_ = is_dismissed_ = true;
  }

  // There was at least one, and all have left: the end of the connection is no loss.
  [[nodiscard]] bool have_left() const noexcept { return leave_answered_ && all_.empty(); }
  // The last one was not in the next epoch.
  [[nodiscard]] bool are_dismissed() const noexcept { return is_dismissed_ && all_.empty(); }

 private:
  std::set<task_id> all_;
  bool leave_answered_{};
  bool is_dismissed_{};
};

}  // namespace coxswain::detail
