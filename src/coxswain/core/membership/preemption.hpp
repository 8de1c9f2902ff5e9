#pragma once
// Preemption: which tasks are about to be preempted, and the agreement on a step at which all stop
// together (§10.1). Not here: replies, deadlines, connected tasks (coordinator).

#include "coxswain/base/ids.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/core/kernel/ticket.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace coxswain::core {

class preemption {
 public:
  struct answer_of_task {
    std::uint64_t step{};
    ticket who;
  };

  // A notice. Of several for one task the earliest preemption counts.
  void post(task_id task, time_point death);

  // The earliest preemption without an agreement yet, or of the open one.
  [[nodiscard]] std::optional<time_point> first_death() const;

  // Begins an agreement for the preemptions up to then. Later ones wait for the next agreement.
  void begin(time_point until);
  [[nodiscard]] bool is_open() const noexcept { return open_; }

  // Of the open agreement, or of the last one; zero before the first.
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

  // A task has stopped at this step. Returns the session that answered for it before, if any.
  std::optional<ticket> answered(task_id task, answer_of_task how);

  // The task agrees on a step elsewhere. Has no effect if it has answered.
  void abstained(task_id task);

  // Drops the task's answer and its notice.
  void cancel(task_id task);
  void forget(task_id task);

  // Each task in `moved` has its new number, and all others are gone. An open agreement ends
  // unanswered, and its notices pass to the next one.
  void renumber(std::map<task_id, task_id> const& moved);

  // By task.
  [[nodiscard]] std::map<task_id, answer_of_task> const& answers() const noexcept {
    return answers_;
  }

  // Tasks that take no part in the open agreement.
  [[nodiscard]] std::set<task_id> const& abstentions() const noexcept { return abstentions_; }

  [[nodiscard]] bool has_heard(task_id task) const {
    return answers_.contains(task) || abstentions_.contains(task);
  }
  [[nodiscard]] std::size_t heard() const noexcept { return answers_.size() + abstentions_.size(); }

  // The tasks that the agreement is about, or the next one.
  [[nodiscard]] std::map<task_id, time_point> const& notices() const noexcept { return notices_; }

  // One past the largest step reported; none if it would overflow.
  [[nodiscard]] std::optional<std::uint64_t> step() const;

  // Ends the agreement and drops its notices; waiting ones belong to the next. Returns the sessions
  // that answered, by task.
  std::vector<ticket> end();

  static void fields(auto& a, auto& s) {
    a.members(s.open_, s.number_, s.notices_, s.later_, s.answers_, s.abstentions_);
  }

 private:
  bool open_{};
  std::uint64_t number_{};
  std::map<task_id, time_point> notices_;
  std::map<task_id, time_point> later_;  // while one is open
  std::map<task_id, answer_of_task> answers_;
  std::set<task_id> abstentions_;
};

}  // namespace coxswain::core
