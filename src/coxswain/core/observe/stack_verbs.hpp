#pragma once
// The stacks of processes that hold up others (§12.9): who is asked for them, and what came. Only
// the last ones are kept, within a fixed size. Not here: how a stack is taken (the programs that
// started the processes).

#include "coxswain/core/kernel/call.hpp"
#include "coxswain/core/kernel/concern.hpp"
#include "coxswain/core/rendezvous/missing_tasks.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace coxswain::core {

class stack_verbs final : public concern {
 public:
  using concern::concern;

  void handle(call const& c, stacks_args& args);
  void handle(call const& c, report_stack_args& args);

  // Asks for the stacks of tasks for which others have waited for 10 s, unless that was done within
  // the last 5 s.
  void take(time_point now);
  // NOT_FOUND: `by` was not asked for it; zero is the coordinator's owner.
  status report(session_id by, report_stack_args what);
  [[nodiscard]] stacks_answer look(time_point now) const;

  void save(state_writer& to) const override;
  void load(state_reader& from) override;
  void job_failed(time_point, status const&, barrier_failure const*) override {}
  void stopping(time_point, status const&) override { forget(); }
  void session_ended(time_point now, session_id id, status const& why) override;

 private:
  // The session that takes the stack of a task's process, and its name for that process.
  struct taker {
    session_id session;  // zero: the owner
    std::string name;
  };
  struct asked {
    task_id task;
    session_id of;
    duration missing_for{};
    bool has_answered{};

    static void fields(auto& a, auto& s) { a.members(s.task, s.of, s.missing_for, s.has_answered); }
  };
  struct group {
    std::vector<task_id> tasks;
    duration missing_for{};
    bool is_taken{};
    std::string stack;
    std::string rest;

    static void fields(auto& a, auto& s) {
      a.members(s.tasks, s.missing_for, s.is_taken, s.stack, s.rest);
    }
  };

  static void fields(auto& a, auto& s) {
    a.members(s.number_, s.began_, s.asked_, s.groups_, s.more_, s.bytes_);
  }

  [[nodiscard]] std::vector<missing_tasks::late_task> late(time_point now);
  [[nodiscard]] std::optional<taker> taker_of(task_id id) const;
  [[nodiscard]] std::optional<taker> relay_of(session const& s) const;
  [[nodiscard]] std::string untaken_text(task_id id) const;
  void forget();
  void add(task_id task, duration missing_for, bool is_taken, std::string stack, std::string rest);
  [[nodiscard]] static stacks_answer::group shown(group const& of);

  std::uint64_t number_{};
  time_point began_;
  std::vector<asked> asked_;
  std::vector<group> groups_;
  std::uint32_t more_{};
  std::size_t bytes_{};  // of the groups
};

}  // namespace coxswain::core
