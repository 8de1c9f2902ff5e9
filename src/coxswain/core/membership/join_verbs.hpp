#pragma once
// Joining: alone or all together, and claimants that replace another incarnation (§1.2).

#include "coxswain/core/kernel/alarms.hpp"
#include "coxswain/core/kernel/call.hpp"
#include "coxswain/core/kernel/concern.hpp"
#include "coxswain/core/kernel/roster.hpp"
#include "coxswain/core/rendezvous/meeting.hpp"

#include <string>
#include <vector>

namespace coxswain::core {

class join_verbs final : public waiting_concern, public timed_concern {
 public:
  explicit join_verbs(concerns& all);

  void handle(call const& c, join_args& args);
  // As the task of the call.
  void join(call const& c, join_args& args);
  // The task is free: the caller holds it from now on.
  void enter(call const& c, join_args const& args);
  void join_due(time_point now, due_item const& item);
  void log_due(time_point now, due_item const& item);
  void probe_due(time_point now, task_id id);

  // Whether the job has started: all tasks have been joined at the same time.
  [[nodiscard]] bool job_has_started() const noexcept { return job_started_; }
  [[nodiscard]] meeting const& together() const noexcept { return join_; }

  // The task's session no longer acts for it.
  void forget_holder(task_id id);
  // A byte of a probed holder has arrived. It proves that the holder lives unless its end follows:
  // it may have waited in a relay that was stopped.
  void holder_was_heard(time_point now, task_id id);
  // Reading from the holder has been paused since then.
  void postpone_probe(time_point now, liveness const& since, task_id id);
  // The holder is no longer probed.
  void end_probe(task_id id);
  // The newest claimant joins in place of the holder, which has failed.
  void admit_claimant(time_point now, task_id id);
  // Ends all calls that wait to join, also those of claimants.
  void refuse_all(status const& why);
  // Answers all claimants of the task.
  void answer_claimants(task_id id, answer_ptr const& what);

  void save(state_writer& to) const override;
  void load(state_reader& from) override;
  void job_failed(time_point now, status const& why, barrier_failure const* missing) override;
  void stopping(time_point now, status const& why) override;
  void check_invariants() const override;
  [[nodiscard]] std::size_t armed() const override;

  void cancel(ticket who, parked const& p) override;
  [[nodiscard]] answer_ptr overdue(time_point now, parked const& p) override;
  [[nodiscard]] std::string missing_text(time_point now, ticket who, parked const& p) override;
  [[nodiscard]] std::size_t waiting() const override;
  void check(ticket who, parked const& p) const override;

 private:
  static void fields(auto& a, auto& s) { a.members(s.job_started_, s.join_, s.join_alarms_); }

  [[nodiscard]] bool is_ending_for(task_id claimant) const;
  [[nodiscard]] static bool is_known(task const& t, incarnation self);
  [[nodiscard]] bool is_recoverable(join_args const& args) const;
  void hold(call const& c, join_args const& args);
  void end_replaced(time_point now, session_id id, task_id task);
  void move_holder(call const& c, join_args const& args);
  void connect(task_id id);
  void release_join(time_point now);
  void fail_join(answer_ptr const& what);
  void close_join();
  void probe_holder(call const& c, join_args const& args);
  void replace(time_point now, task_id id, status why);
  // The claimants are refused.
  void holder_lives(task_id id);
  [[nodiscard]] duration probe_time() const;
  void arm_probe(time_point when, task_id id);
  [[nodiscard]] std::string held_text(task_id id) const;

  bool job_started_{};  // the join barrier was passed
  meeting join_;
  alarms join_alarms_;
};

}  // namespace coxswain::core
