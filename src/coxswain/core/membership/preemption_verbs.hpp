#pragma once
// Preemption: notices, and the agreement on the step at which all stop together (§10.1).
// Not here: the answers (preemption).

#include "coxswain/core/kernel/call.hpp"
#include "coxswain/core/kernel/concern.hpp"
#include "coxswain/core/membership/preemption.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace coxswain::core {

class preemption_verbs final : public waiting_concern {
 public:
  explicit preemption_verbs(concerns& all);

  void handle(call const& c, preempt_args& args);
  void handle(call const& c, frozen_args& args);
  status preempt(time_point now, task_id id, duration in);
  void preemption_due(time_point now);

  // Begins an agreement if one is due.
  void plan_agreement(time_point now);
  // Tasks that joined or resumed during an agreement may not know of it.
  void send_agreement(time_point now, session& s);
  // The task has gone: it takes no part in the agreement, and its notice is dropped.
  void forget(time_point now, task_id id);
  // An epoch begins: each task in `moved` has its new number, and all others are gone. No agreement
  // begins yet.
  void renumber(std::map<task_id, task_id> const& moved);
  [[nodiscard]] preemption const& agreement() const noexcept { return preemption_; }
  [[nodiscard]] std::vector<task_id> awaited_for_agreement() const;
  // The remaining time of an open agreement.
  [[nodiscard]] duration remaining(time_point now) const;

  void save(state_writer& to) const override;
  void load(state_reader& from) override;
  void job_failed(time_point now, status const& why, barrier_failure const* missing) override;
  void stopping(time_point now, status const& why) override { job_failed(now, why, nullptr); }
  void check_invariants() const override;
  [[nodiscard]] std::size_t armed() const override;

  void cancel(ticket who, parked const& p) override;
  [[nodiscard]] std::string missing_text(time_point now, ticket who, parked const& p) override;
  [[nodiscard]] std::size_t waiting() const override;
  void check(ticket who, parked const& p) const override;

 private:
  static void fields(auto& a, auto& s) { a.members(s.preemption_, s.preemption_alarm_); }

  [[nodiscard]] answer_ptr freeze(time_point now) const;
  [[nodiscard]] status post_preemption(time_point now, task_id id, duration in);
  void begin_agreement(time_point now);
  void review_agreement();
  void end_agreement(status why);

  preemption preemption_;
  alarm preemption_alarm_;
};

}  // namespace coxswain::core
