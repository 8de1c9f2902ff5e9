#pragma once
// Leaving: alone or all together (§1.3), for good or to return.

#include "coxswain/core/kernel/alarms.hpp"
#include "coxswain/core/kernel/call.hpp"
#include "coxswain/core/kernel/concern.hpp"
#include "coxswain/core/kernel/roster.hpp"
#include "coxswain/core/rendezvous/meeting.hpp"

#include <string>
#include <utility>
#include <vector>

namespace coxswain::core {

class leave_verbs final : public blocking_concern {
 public:
  explicit leave_verbs(concerns& all);

  void handle(call const& c, leave_args& args);
  void leave_due(time_point now, due_item const& item);
  void log_due(time_point now, due_item const& item);
  void return_due(time_point now, task_id id);

  [[nodiscard]] meeting const& together() const noexcept { return leave_; }
  [[nodiscard]] bool leaves_together() const;
  // Releases the shutdown barrier: answers all tasks that wait in it.
  void release_if_complete(time_point now);
  void release_leave(time_point now);
  // No task may return any more.
  void end_returns();
  // Ends the shutdown barrier: those that wait stay.
  void end_open(status const& why);
  // The effects of a task's leaving, in order.
  void depart(time_point now, task_id id, bool returning = false);

  void save(state_writer& to) const override;
  void load(state_reader& from) override;
  void job_failed(time_point now, status const& why, barrier_failure const* missing) override;
  void stopping(time_point now, status const& why) override;
  void check_invariants() const override;
  [[nodiscard]] std::size_t armed() const override;

  void cancel(ticket who, parked const& p) override;
  [[nodiscard]] std::string missing_text(time_point now, ticket who, parked const& p) override;
  [[nodiscard]] std::string goal_text(parked const& p) const override;
  [[nodiscard]] std::string stuck_text(parked const& p) const override;
  [[nodiscard]] std::vector<task_id> awaited(parked const& p) const override;
  void add_to(wait_graph& g, picture_budget& budget) const override;
  [[nodiscard]] std::size_t waiting() const override;
  void check(ticket who, parked const& p) const override;

 private:
  static void fields(auto& a, auto& s) { a.members(s.leave_, s.leave_alarms_); }

  void arrive(call const& c, leave_args const& args);
  void leave_alone(call const& c, bool returning);
  [[nodiscard]] bool leave_is_complete() const;
  void fail_leave(time_point now, answer_ptr const& what);
  std::pair<std::vector<task_id>, std::vector<ticket>> close_leave();
  void await_return(time_point now, task_id id);

  meeting leave_;
  alarms leave_alarms_;
};

}  // namespace coxswain::core
