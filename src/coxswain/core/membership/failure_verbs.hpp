#pragma once
// The failure of a task, and of the job, and its effects (semantics D12, D19).

#include "coxswain/core/kernel/call.hpp"
#include "coxswain/core/kernel/concern.hpp"

#include <optional>

namespace coxswain::core {

class failure_verbs final : public concern {
 public:
  using concern::concern;

  void handle(call const& c, report_error_args& args);
  void handle(call const& c, reset_args& args);
  // The launcher reports that the process of the task has ended.
  void task_ended(time_point now, task_id id, status why);
  // The effects of a task's failure, in order. Only a connected task can fail.
  void fail_task(time_point now, task_id id, status why);
  // A recoverable task has failed, and the others continue.
  void go_on_without(time_point now, task_id id);
  void fail_job(time_point now, failure what, barrier_failure const* missing = nullptr);
  // Sends news of the job's failure, if any, to all sessions.
  void tell_job_error();

  void save(state_writer& to) const override;
  void load(state_reader& from) override;
  void job_failed(time_point, status const&, barrier_failure const*) override {}
  void stopping(time_point, status const&) override {}

 private:
  static void fields(auto& a, auto& s) { a(1, s.job_error_news_); }

  bool job_error_news_{};
};

}  // namespace coxswain::core
