#pragma once
// The failure of a task, and of the job, and its effects (§1.4, §5.1); sessions that
// supervise the process of a task (§1.3.10).

#include "coxswain/core/kernel/call.hpp"
#include "coxswain/core/kernel/concern.hpp"

#include <map>
#include <optional>
#include <string_view>

namespace coxswain::core {

class failure_verbs final : public concern {
 public:
  using concern::concern;

  void handle(call const& c, report_error_args& args);
  void handle(call const& c, reset_args& args);
  // The launcher reports that the process of the task has ended.
  void task_ended(time_point now, task_id id, status why);
  // The effects of a task's failure, in order. Only a connected task can fail. `is_reported`: by
  // the task itself.
  void fail_task(time_point now, task_id id, status why, bool is_reported = false);

  // The session reports how the process of the task ends that joins from now on.
  void supervise(session_id by, task_id task);
  // The task has a new incarnation, which its session holds.
  void joined(task_id task, incarnation self);
  // The task whose process this session supervises.
  [[nodiscard]] std::optional<task_id> supervised_by(session_id who) const;
  // The session that supervises the present process of the task, if there is one.
  [[nodiscard]] std::optional<session_id> supervisor_of(task_id task) const;
  // A session supervises the processes of all tasks of this one, and reports how each ends.
  [[nodiscard]] bool is_supervised(session const& s) const;
  // A recoverable task has failed, and the others continue.
  void go_on_without(time_point now, task_id id);
  void fail_job(time_point now, failure what, barrier_failure const* missing = nullptr);
  // Sends the job's error, if it is new, to all sessions.
  void push_job_error();

  void save(state_writer& to) const override;
  void load(state_reader& from) override;
  void job_failed(time_point, status const&, barrier_failure const*) override {}
  void stopping(time_point, status const&) override {}
  void session_ended(time_point now, session_id id, status const& why) override;

 private:
  // The last session that reported it, and the incarnation that has joined since; zero: none.
  struct supervision {
    session_id by{};
    incarnation of{};

    static void fields(auto& a, auto& s) { a.members(s.by, s.of); }
  };

  static void fields(auto& a, auto& s) {
    a.members(s.job_error_is_due_, s.supervisors_, s.supervisions_);
  }

  void process_ended(call const& c, task_id task, report_error_args& args);
  [[nodiscard]] std::string_view ended_before_failure(status const& why) const;
  void log_failure(task_id id, status const& why, std::string_view ended_before);
  void name_place(task_id task, session const& supervisor);
  void end_session_of_process(time_point now, session_id id);

  bool job_error_is_due_{};
  std::map<session_id, task_id> supervisors_;
  std::map<task_id, supervision> supervisions_;
};

}  // namespace coxswain::core
