// Alive queries return the live tasks; joins and leaves are visible.

#include "tests/sim/everything/rules/arrivals.hpp"
#include "tests/sim/everything/rules/rules.hpp"

#include <algorithm>

namespace coxswain::sim {
namespace {

// Whether something held at some time while the call was open, possibly between two versions seen
// by the auditor.
template <class IsSo>
bool was_so(history const& h, call_record const& c, IsSo is_so) {
  for (std::size_t i = 0; i < h.tasks.size(); ++i) {
    time_point const until = i + 1 < h.tasks.size() ? h.tasks[i + 1].at : time_point::max();
    if (until < c.made) continue;
    if (h.earliest(h.tasks[i].at) > *c.answered) break;
    if (is_so(h.tasks[i].what)) return true;
    bool const jumps = i + 1 < h.tasks.size() && h.earliest(until) <= *c.answered &&
                       h.tasks[i + 1].what.version != h.tasks[i].what.version + 1;
    if (jumps) return true;
  }
  return false;
}

bool is_asked_for(core::alive_args const& args, task_id task) {
  return args.tasks.empty() ||
         std::find(args.tasks.begin(), args.tasks.end(), task) != args.tasks.end();
}

core::alive_answer alive_then(core::alive_args const& args, core::tasks_answer const& all) {
  core::alive_answer alive;
  for (auto const& task : all.tasks) {
    if (task.state != task_state::connected || !is_asked_for(args, task.id)) continue;
    alive.tasks.push_back({task.id, task.self});
  }
  return alive;
}

// Whether one of its guests left to return; the consequences are a rule of guests.
bool may_return(history const& h, call_record const& c) {
  return std::any_of(h.calls.begin(), h.calls.end(), [&](call_record const& by) {
    auto const* const leaves = by.asks<core::leave_args>();
    return leaves && leaves->returning && by.task == c.task &&
           h.processes[by.process].host == c.process;
  });
}

// Explicit sets of all tasks count as every set.
bool may_be_same_set(core::alive_args const& a, core::alive_args const& b) {
  auto const has_all = [](core::alive_args const& of, core::alive_args const& in) {
    return std::all_of(of.tasks.begin(), of.tasks.end(),
                       [&](task_id task) { return is_asked_for(in, task); });
  };
  return has_all(a, b) && has_all(b, a);
}

// Each of these has asked for the same set, in the same epoch if the job is elastic.
void check_asked(history const& h, call_record const& c, core::alive_answer const& alive,
                 violations& found) {
  std::vector<call_record const*> const released{&c};
  auto const here = arrivals{h, released}.of([&](call_record const& other) {
    auto const* const args = other.asks<core::alive_args>();
    return args && other.epoch == c.epoch && may_be_same_set(*args, *c.asks<core::alive_args>());
  });
  for (auto const& one : alive.tasks) {
    bool const has_asked = std::any_of(here.begin(), here.end(), [&](call_record const* other) {
      return other->task == one.id && h.processes[other->process].self == one.self;
    });
    if (has_asked) continue;
    found.push_back("task " + std::to_string(one.id.value) + " did not ask: " + h.text(c));
  }
}

void check_alive(history const& h, call_record const& c, violations& found) {
  auto const* const alive = c.gave<core::alive_answer>();
  if (!alive) return;
  auto const& args = std::get<core::alive_args>(c.asked);
  check_asked(h, c, *alive, found);
  bool const is_true =
      was_so(h, c, [&](core::tasks_answer const& all) { return alive_then(args, all) == *alive; });
  if (!is_true) found.push_back("these were not alive at the same time: " + h.text(c));
}

void check_state(history const& h, call_record const& c, task_state state, violations& found) {
  if (!c.is_ok() || !c.task) return;
  incarnation const self = h.processes[c.process].self;
  bool const is_true = was_so(h, c, [&](core::tasks_answer const& all) {
    return std::any_of(all.tasks.begin(), all.tasks.end(), [&](auto const& one) {
      // Its number may be a former one.
      bool const may_differ = h.options.elastic && h.is_guest(c.process);
      return (one.id == *c.task || may_differ) && one.state == state && one.self == self;
    });
  });
  if (!is_true) found.push_back("the task was not seen so: " + h.text(c));
}

// It is returning until its next process joins or its timeout ends, and then it has failed.
void check_return(history const& h, call_record const& c, violations& found) {
  incarnation const self = h.processes[c.process].self;
  auto const returns = [&](task_sight const& s) {
    auto const& one = s.what.tasks[c.task->value];
    return one.state == task_state::returning && one.self == self;
  };
  auto const begins = std::find_if(h.tasks.begin(), h.tasks.end(), [&](task_sight const& s) {
    return s.at >= c.made && returns(s);
  });
  if (begins == h.tasks.end()) return;
  auto const ends = std::find_if_not(begins, h.tasks.end(), returns);
  time_point const due = *c.answered + h.options.return_timeout;
  time_point const over = ends == h.tasks.end() ? h.ended : ends->at;
  auto const graces = static_cast<int>(h.restarts.size()) * h.options.restart_grace;
  if (h.earliest(over) > due + h.stalled() + graces + 1ms) {
    found.push_back("is returning for too long: " + h.text(c));
  }
  if (ends == h.tasks.end()) return;
  task_state const then = ends->what.tasks[c.task->value].state;
  bool const is_early = ends->at < c.made + h.options.return_timeout;
  if (then == task_state::failed && is_early) found.push_back("failed too early: " + h.text(c));
  bool const may_leave = h.failure || h.may_drain(ends->at);
  if (then == task_state::left && !may_leave && ends->what.tasks[c.task->value].self == self) {
    found.push_back("did not return: " + h.text(c));
  }
}

}  // namespace

void check_tasks(history const& h, violations& found) {
  for (call_record const& c : h.calls) {
    if (c.asks<core::alive_args>()) check_alive(h, c, found);
    if (c.asks<core::join_args>()) check_state(h, c, task_state::connected, found);
    // A client that cannot reach the coordinator after its leave may assume that it has left.
    bool const is_sure = c.answered && h.is_calm(c.process, c.made, *c.answered);
    auto const* const leaves = c.asks<core::leave_args>();
    if (!leaves || !is_sure || h.is_guest(c.process) || may_return(h, c)) continue;
    // Nobody is to return to a job that drains.
    if (leaves->returning && c.answered && h.may_drain(*c.answered)) continue;
    check_state(h, c, leaves->returning ? task_state::returning : task_state::left, found);
    if (leaves->returning && c.is_ok()) check_return(h, c, found);
  }
}

}  // namespace coxswain::sim
