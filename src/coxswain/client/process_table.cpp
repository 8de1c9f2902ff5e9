#include "coxswain/client/process_table.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace coxswain {
namespace {

bool is_there(task_status const& t) { return t.state == task_state::connected; }

std::string text_of(process const& p) {
  return "task " + std::to_string(p.task.value) + " with incarnation " +
         std::to_string(p.incarnation.value);
}

}  // namespace

task_status const* process_table::find(task_id task) const {
  auto const at = std::lower_bound(tasks_.tasks.begin(), tasks_.tasks.end(), task,
                                   [](task_status const& t, task_id id) { return t.id < id; });
  return at == tasks_.tasks.end() || at->id != task ? nullptr : &*at;
}

std::vector<process> process_table::update(tasks_result snapshot) {
  std::vector<process> lost;
  // The same snapshot again would undo mark_failed().
  if (!tasks_.tasks.empty() && snapshot.version <= tasks_.version) return lost;
  std::sort(snapshot.tasks.begin(), snapshot.tasks.end(),
            [](task_status const& a, task_status const& b) { return a.id < b.id; });
  tasks_result const before = std::exchange(tasks_, std::move(snapshot));
  for (auto const& was : before.tasks) {
    auto const* const is = find(was.id);
    bool const remains = is && is_there(*is) && is->self == was.self;
    if (is_there(was) && !remains) lost.push_back({was.id, was.self});
  }
  return lost;
}

result<std::vector<process>> process_table::mark_failed(task_id task, status error) {
  std::vector<process> lost;
  if (error.ok()) return status{errc::invalid_argument, "an error needs a code other than 0 (OK)"};
  if (tasks_.tasks.empty()) return lost;
  auto const* const found = find(task);
  if (!found) {
    return status{errc::not_found, "there is no task " + std::to_string(task.value) + " among " +
                                       std::to_string(tasks_.tasks.size())};
  }
  auto& t = tasks_.tasks[static_cast<std::size_t>(found - tasks_.tasks.data())];
  if (is_there(t)) lost.push_back({t.id, t.self});
  t.state = task_state::failed;
  t.error = std::move(error);
  return lost;
}

status process_table::check_current(std::span<process const> members) const {
  if (tasks_.tasks.empty()) return {};
  for (process const& p : members) {
    auto const* const t = find(p.task);
    if (t && is_there(*t) && t->self == p.incarnation) continue;
    std::string text = text_of(p) + " is no longer there: ";
    if (!t) {
      text += "the job has no such task";
    } else if (t->self != p.incarnation) {
      text += "the task has incarnation " + std::to_string(t->self.value);
    } else {
      text += "the task is " + std::string{name(t->state)};
      if (!t->error.ok()) text += ", " + t->error.text();
    }
    return {errc::failed_precondition, std::move(text)};
  }
  return {};
}

}  // namespace coxswain
