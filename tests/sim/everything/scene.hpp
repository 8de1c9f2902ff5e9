#pragma once
// A small hand-made history for testing a rule.

#include "tests/sim/everything/history.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace coxswain::sim {

// Process 0 is the auditor; each other process is a task: process 1 is task 0. No faults.
class scene {
 public:
  explicit scene(std::uint32_t num_tasks) {
    h.options.num_tasks = num_tasks;
    h.options.heartbeat_timeout = 3s;
    h.options.reconnect_grace = 1s;
    h.delay_max = 1ms;
    h.ended = at(60s);
    for (std::uint32_t i = 0; i <= num_tasks; ++i) {
      process_record p;
      p.self = incarnation{i};
      if (i > 0) p.tasks.push_back(task_id{i - 1});
      h.processes.push_back(std::move(p));
    }
  }

  [[nodiscard]] static time_point at(duration since_start) { return time_point{since_start}; }

  // A call made at `made` and answered later.
  call_record& call(std::size_t process, core::request what, duration made, duration answered,
                    core::answer got = {}) {
    call_record& c = h.calls.emplace_back();
    c.process = process;
    if (process > 0) c.task = task_id{static_cast<std::uint32_t>(process - 1)};
    c.asked = std::move(what);
    c.timeout = 10s;
    c.made = at(made);
    c.answered = at(answered);
    c.got = std::move(got);
    return c;
  }

  // Observations of the auditor.
  void key(duration when, std::string name, std::optional<std::string> value) {
    core::key_change c;
    c.key = std::move(name);
    c.version = h.keys.size() + 1;
    if (value) c.value = bytes{*std::move(value)};
    h.keys.push_back({at(when), std::move(c)});
  }
  void event(duration when, core::event_kind kind, std::optional<task_id> task) {
    core::events_answer::entry e;
    e.number = h.events.size() + 1;
    e.what.kind = kind;
    e.what.task = task;
    h.events.push_back({at(when), std::move(e)});
  }
  // All tasks are in this state, in the incarnations of their processes.
  core::tasks_answer& tasks(duration when, task_state state) {
    core::tasks_answer all;
    all.version = h.tasks.size() + 1;
    for (std::uint32_t i = 0; i < h.options.num_tasks; ++i) {
      core::snapshot::task one;
      one.id = task_id{i};
      one.state = state;
      one.self = incarnation{i + 1};
      all.tasks.push_back(std::move(one));
    }
    return h.tasks.emplace_back(task_sight{at(when), std::move(all)}).what;
  }

  // The violations found by a rule.
  template <class Rule>
  [[nodiscard]] violations judged_by(Rule rule) const {
    violations found;
    rule(h, found);
    return found;
  }

  history h;
};

}  // namespace coxswain::sim
