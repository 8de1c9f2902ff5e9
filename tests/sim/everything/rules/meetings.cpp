// Join and leave wait for all tasks unless the job or the task is configured otherwise.

#include "tests/sim/everything/rules/rules.hpp"

#include <algorithm>

namespace coxswain::sim {
namespace {

// A spare that does not know its number, as the answer did not reach it.
bool was_assigned(history const& h, call_record const& c, task_id task) {
  auto const* const join = c.asks<core::join_args>();
  return join && join->any && !c.task &&
         std::any_of(h.tasks.begin(), h.tasks.end(), [&](task_sight const& s) {
           return s.what.tasks[task.value].self == h.processes[c.process].self;
         });
}

template <class Args>
bool has_asked(history const& h, task_id task, time_point until) {
  return std::any_of(h.calls.begin(), h.calls.end(), [&](call_record const& c) {
    auto const* const args = c.asks<Args>();
    if constexpr (std::is_same_v<Args, core::leave_args>) {
      if (args && args->returning) return false;
    }
    return args && c.made <= until && (c.task == task || was_assigned(h, c, task));
  });
}

bool has_joined(history const& h, task_id task, time_point until) {
  return std::any_of(h.calls.begin(), h.calls.end(), [&](call_record const& c) {
    bool const joined = c.asks<core::join_args>() && c.is_ok() && *c.answered <= until;
    return joined && (c.task == task || was_assigned(h, c, task));
  });
}

bool is_gone(history const& h, task_id task, time_point until) {
  return std::any_of(h.events.begin(), h.events.end(), [&](event_record const& e) {
    bool const goes = is_failure(e.what.what.kind) || e.what.what.kind == core::event_kind::left;
    bool const returns = e.what.what.text.find("expected back") != std::string::npos;
    return h.earliest(e.at) <= until && goes && !returns && e.what.what.task == task;
  });
}

void check_join(history const& h, call_record const& c, violations& found) {
  auto const* const joined = c.gave<core::join_answer>();
  if (!joined || joined->already_started || !h.options.join_barrier) return;
  for (std::uint32_t i = 0; i < h.options.num_tasks; ++i) {
    if (has_asked<core::join_args>(h, task_id{i}, *c.answered)) continue;
    found.push_back("task " + std::to_string(i) + " has not asked to join: " + h.text(c));
  }
}

// Guests of the task have left before, so its holder waits for no task.
bool has_detached(history const& h, call_record const& c) {
  return std::any_of(h.calls.begin(), h.calls.end(), [&](call_record const& by) {
    return by.asks<core::leave_args>() && h.processes[by.process].host == c.process &&
           by.task == c.task && by.made <= *c.answered;
  });
}

// Whether the client may take refused connections for the end of the job (§1.3.6).
bool may_be_assumed(history const& h, call_record const& c) {
  if (h.is_calm(c.process, c.made, *c.answered)) return false;
  return h.is_guest(c.process) || h.options.restart_grace == 0s ||
         *c.answered - c.made >= h.options.coordinator_return;
}

void check_leave(history const& h, call_record const& c, violations& found) {
  if (!c.is_ok() || may_be_assumed(h, c)) return;
  auto const& args = std::get<core::leave_args>(c.asked);
  if (has_detached(h, c)) return;
  // Without the join barrier some tasks may not have declared yet that they are recoverable.
  bool const all_may_go = h.all_are_recoverable && !h.options.leave_together;
  if (all_may_go && h.options.leave_barrier && !h.options.join_barrier) return;
  if (!h.options.leave_barrier || all_may_go || args.returning || c.timeout <= 0s) {
    duration const enough = 2 * h.delay_max + 1ms + h.time_for_room(c.process);
    if (*c.answered > c.made + enough && h.is_calm(c.process, c.made, *c.answered)) {
      found.push_back("it must not wait for a task: " + h.text(c));
    }
    return;
  }
  for (std::uint32_t i = 0; h.has_all_events() && i < h.options.num_tasks; ++i) {
    task_id const task{i};
    if (has_asked<core::leave_args>(h, task, *c.answered) || is_gone(h, task, *c.answered))
      continue;
    // Nor may they join once the job drains (§1.9.4).
    if (h.may_drain(*c.answered) && !has_joined(h, task, *c.answered)) continue;
    found.push_back("task " + std::to_string(i) + " has not asked to leave: " + h.text(c));
  }
}

}  // namespace

void check_meetings(history const& h, violations& found) {
  for (call_record const& c : h.calls) {
    if (c.asks<core::join_args>()) check_join(h, c, found);
    if (c.asks<core::leave_args>()) check_leave(h, c, found);
  }
}

}  // namespace coxswain::sim
