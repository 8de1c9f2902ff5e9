// A number is given to one spare, not before its own process had time to come back, and then soon.

#include "tests/sim/everything/rules/rules.hpp"

#include <algorithm>

namespace coxswain::sim {
namespace {

constexpr duration margin = 200ms;  // of stalls that are too short to be credited

core::snapshot::task const& task_in(task_sight const& s, task_id task) {
  return s.what.tasks[task.value];
}

// Whether a process that got the number of the task without acknowledging it may have been the
// last.
bool was_handed_over(history const& h, task_id task, incarnation last) {
  return std::any_of(h.processes.begin(), h.processes.end(), [&](process_record const& p) {
    return p.is_spare && p.self == last &&
           (p.died || p.departed || p.ended || !p.troubles.empty() || p.tasks.empty() ||
            p.tasks.front() != task);
  });
}

// The sights are of another version than this one, so the failure may be a little later than seen.
void check_time_to_come_back(history const& h, call_record const& c, violations& found) {
  auto const* const joined = c.gave<core::join_answer>();
  if (!joined || !joined->already_started || !h.has_all_events()) return;
  incarnation const self = h.processes[c.process].self;
  auto const taken = std::find_if(h.tasks.begin(), h.tasks.end(), [&](task_sight const& s) {
    return task_in(s, *c.task).self == self;
  });
  if (taken == h.tasks.end()) return;
  auto failed = taken;
  while (failed != h.tasks.begin() && task_in(*(failed - 1), *c.task).state == task_state::failed) {
    --failed;
  }
  if (failed == taken || failed == h.tasks.begin()) return;
  incarnation const last = task_in(*failed, *c.task).self;
  if (was_handed_over(h, *c.task, last)) return;
  if (taken->at - h.earliest(failed->at) + margin < h.options.come_back) {
    found.push_back("its last process had no time to come back: " + h.text(c));
  }
}

// Nobody else waits for it: it is kept for its own process, or goes to this one.
void check_waiting_time(history const& h, call_record const& c, violations& found) {
  time_point const over = c.over();
  duration const enough = h.options.come_back + h.stalled() + 2 * h.delay_max + margin;
  for (std::size_t i = 1; i < h.tasks.size(); ++i) {
    time_point const since = std::max(h.tasks[i - 1].at, c.made);
    bool const has_begun =
        std::any_of(h.tasks[i - 1].what.tasks.begin(), h.tasks[i - 1].what.tasks.end(),
                    [](auto const& one) { return one.state == task_state::never_connected; });
    time_point const until = std::min(h.tasks[i].at, over);
    bool const is_vacant =
        std::any_of(h.tasks[i - 1].what.tasks.begin(), h.tasks[i - 1].what.tasks.end(),
                    [](auto const& one) { return one.state == task_state::failed; });
    if (has_begun || !is_vacant || until <= since + enough) continue;
    if (!h.is_calm(c.process, since, until)) continue;
    found.push_back("a number was vacant for too long: " + h.text(c));
    return;
  }
}

}  // namespace

void check_spares(history const& h, violations& found) {
  for (call_record const& c : h.calls) {
    auto const* const join = c.asks<core::join_args>();
    if (!join || !join->any) continue;
    check_time_to_come_back(h, c, found);
    if (h.restarts.empty() && !h.failure) check_waiting_time(h, c, found);
  }
}

}  // namespace coxswain::sim
