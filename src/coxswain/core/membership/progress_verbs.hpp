#pragma once
// The steps that tasks report, and the detection of tasks without progress.

#include "coxswain/core/kernel/call.hpp"
#include "coxswain/core/kernel/concern.hpp"
#include "coxswain/core/kernel/roster.hpp"

namespace coxswain::core {

class progress_verbs final : public concern {
 public:
  using concern::concern;

  void handle(call const& c, report_progress_args& args);
  // Reading from the task has been paused since then.
  void come_back(time_point now, time_point since, task_id id);
  // Arms the deadline of its next step, if there is one.
  void watch(task_id id);
  void no_progress_due(time_point now, task_id id);

  void save(state_writer&) const override {}
  void load(state_reader&) override {}
  void job_failed(time_point, status const&, barrier_failure const*) override {}
  void stopping(time_point, status const&) override {}
  void check_invariants() const override;
  [[nodiscard]] std::size_t armed() const override;

 private:
  [[nodiscard]] bool watches_progress() const;
  [[nodiscard]] time_point progress_expiry(progress const& p) const;
};

}  // namespace coxswain::core
