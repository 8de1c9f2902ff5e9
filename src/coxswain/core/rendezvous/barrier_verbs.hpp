#pragma once
// Barriers of tasks: arrivals, the end of rounds, and the errors of failed rounds. Not here: the
// state of rounds (barriers), missing tasks (missing_tasks).

#include "coxswain/core/kernel/alarms.hpp"
#include "coxswain/core/kernel/call.hpp"
#include "coxswain/core/kernel/concern.hpp"
#include "coxswain/core/rendezvous/barriers.hpp"
#include "coxswain/core/rendezvous/round_history.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::core {

struct barrier_history;  // coordinator.hpp

class barrier_verbs final : public blocking_concern {
 public:
  explicit barrier_verbs(concerns& all);

  void handle(call const& c, barrier_args& args);
  void handle(call const& c, cancel_barrier_args& args);
  // Cancels the open round; only a participant may, of tasks.
  status cancel(time_point now, cancel_barrier_args const& what, std::string const& by,
                std::optional<task_id> task);
  // The alarm of a round is due.
  void round_due(time_point now, due_item const& item);

  // A task has left or failed: rounds that need it fail.
  void fail_rounds_of(time_point now, task_id id);
  // The job drains: those fail that need a task which is not there.
  void fail_unreachable_rounds(time_point now);
  // Those fail that it has not reached.
  void fail_rounds_awaiting(time_point now, task_id id, status const& why);
  // All rounds fail, and names begin at round 1.
  void end_epoch(time_point now, status const& why);
  void forget_owed_to(task_id id) { barriers_.forget_owed_to(id); }

  // Whatever else such a call says, it can only open a round: none is open, and nothing is owed.
  [[nodiscard]] bool may_only_open(std::string_view name) const;
  // OK if it is a valid barrier name.
  [[nodiscard]] status checked_name(std::string_view name) const;
  // `barrier` is the name for texts; without one it is about an alive query.
  [[nodiscard]] result<task_set_ptr> jax_tasks(task_id caller, barriers::barrier const* b,
                                               barrier_args const& args) const;
  [[nodiscard]] result<task_set_ptr> participants(task_id caller, std::vector<task_id>& tasks,
                                                  std::optional<std::string_view> barrier) const;
  [[nodiscard]] barriers const& all() const noexcept { return barriers_; }
  [[nodiscard]] round_history const& ended() const noexcept { return ended_; }
  [[nodiscard]] barrier_history history(time_point now, std::string_view barrier) const;

  void save(state_writer& to) const override;
  void load(state_reader& from) override;
  void job_failed(time_point now, status const& why, barrier_failure const* missing) override;
  void stopping(time_point now, status const& why) override { job_failed(now, why, nullptr); }
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
  static void fields(auto& a, auto& s) { a.members(s.barriers_, s.round_alarms_, s.ended_); }

  [[nodiscard]] status checked_kind(barrier_args const& args) const;
  [[nodiscard]] status may_open_round(task_id caller, barrier_args const& args,
                                      task_set const& expected, barriers::barrier const* b) const;
  void open_round(call const& c, barriers::barrier& b, task_set_ptr expected,
                  barrier_args const& args);
  void arrive(call const& c, barriers::barrier& b, barrier_args& args);
  // OK if the round has room for the data of this arrival.
  [[nodiscard]] status check_data(call const& c, barriers::barrier& b, std::size_t size);
  void arm_progress(barriers::barrier const& b, time_point at);
  void push_progress(time_point now, barriers::barrier& b);
  void release_round(time_point now, barriers::barrier& b);
  void fail_round(time_point now, barriers::barrier& b, status why,
                  std::optional<task_id> answered = std::nullopt);
  void fail_round_owing(time_point now, barriers::barrier& b, status why,
                        std::vector<task_id> owed_to);
  void fail_all_rounds(time_point now, status const& why);
  void dissolve_round(barriers::barrier& b);
  void end_round(time_point now, barriers::barrier& b, answer_ptr const& what,
                 std::vector<task_id> owed_to);
  void forget_opening(barriers::barrier const& b);
  void note_round(time_point now, barriers::barrier const& b, errc outcome,
                  std::vector<ticket> const& in_order);
  [[nodiscard]] static status round_failed(barriers::barrier const& b, errc code,
                                           std::string const& why);

  barriers barriers_;
  std::map<barriers::round_sequence, alarms> round_alarms_;
  round_history ended_;
};

}  // namespace coxswain::core
