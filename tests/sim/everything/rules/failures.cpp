// A death is detected in time and reported to all live sessions; no task fails without a cause.

#include "tests/sim/everything/rules/rules.hpp"

#include <algorithm>

namespace coxswain::sim {
namespace {

constexpr duration margin = 200ms;  // of stalls that are too short to be credited

bool is_there(core::tasks_answer const& all, task_id task, incarnation self) {
  auto const& one = all.tasks[task.value];
  return one.state == task_state::connected && one.self == self;
}

void check_death(history const& h, std::size_t index, violations& found) {
  process_record const& p = h.processes[index];
  bool const was_calm =
      !p.is_silent && std::none_of(p.troubles.begin(), p.troubles.end(),
                                   [&](interval const& i) { return i.to >= *p.died; });
  // The end of a silent connection may be noticed just before its timeout.
  bool const is_noticed = was_calm && p.is_certain;
  duration allowed = (is_noticed ? time_limit{} : h.options.reconnect_grace) +
                     static_cast<int>(h.restarts.size()) * h.options.restart_grace +
                     (was_calm ? time_limit{} : h.options.heartbeat_timeout);
  if (p.has_relay && !was_calm) allowed += h.options.relay_grace + h.options.heartbeat_timeout / 3;
  time_point const bound = *p.died + allowed + 2 * h.stalled() + 2 * h.delay_max + margin;
  if (bound > h.ended) return;
  for (std::size_t i = 0; i < h.tasks.size(); ++i) {
    bool const is_last = i + 1 == h.tasks.size() || h.tasks[i + 1].at > bound;
    if (h.tasks[i].at < bound && !is_last) continue;
    for (task_id const task : p.tasks) {
      if (!is_there(h.tasks[i].what, task, p.self)) continue;
      found.push_back("task " + std::to_string(task.value) + " is connected, but its process " +
                      std::to_string(index) + " died at " + h.text(*p.died));
      return;
    }
  }
}

void check_notified(history const& h, std::size_t index, time_point failed, violations& found) {
  process_record const& p = h.processes[index];
  std::string const name = "process " + std::to_string(index);
  if (p.failure && p.failure->cause != h.failure->cause) {
    found.push_back(name + " got another cause: " + p.failure->cause.why.text());
  }
  time_point const by = failed + h.delay_max + h.time_for_room(index);
  bool const hears_at_once = h.is_calm(index, failed, by);
  bool const hears = hears_at_once || h.is_calm(index, h.ended, h.ended);
  if (!hears || p.is_quiet || (p.departed && *p.departed < h.ended)) return;
  if (!p.notified_of_failure) return found.push_back(name + " did not get the job error");
  if (hears_at_once &&
      *p.notified_of_failure > by + h.time_in_queue(index, failed, *p.notified_of_failure)) {
    found.push_back(name + " got the job error at " + h.text(*p.notified_of_failure) +
                    " that the job has failed at " + h.text(failed));
  }
}

void check_job(history const& h, violations& found) {
  if (!h.failure) return;
  auto const at = std::find_if(h.events.begin(), h.events.end(), [](event_record const& e) {
    return e.what.what.kind == core::event_kind::job_failed;
  });
  // A failure at the end of the job need not reach all sessions.
  if (at == h.events.end() || at->at >= h.ended) return;
  for (std::size_t i = 0; i < h.processes.size(); ++i) check_notified(h, i, at->at, found);
}

bool has_reported(history const& h, task_id task, time_point at) {
  return std::any_of(h.calls.begin(), h.calls.end(), [&](call_record const& c) {
    return c.asks<core::report_error_args>() && c.task == task && c.made <= at;
  });
}

bool is_claimed(history const& h, task_id task, incarnation self, time_point at) {
  return std::any_of(h.calls.begin(), h.calls.end(), [&](call_record const& c) {
    auto const* const join = c.asks<core::join_args>();
    return join && c.task == task && join->self != self && c.made <= at &&
           c.over() >= h.earliest(at);
  });
}

bool was_in_trouble(history const& h, process_record const& p, time_point at) {
  duration const wait_max = std::min(h.options.reconnect_grace, h.options.stalled_reader_timeout);
  time_point const since = at - h.options.heartbeat_timeout - h.stalled();
  // A process that can reach the coordinator survives its relay. Without a grace it may still fail
  // when it gives up an attempt to connect that was about to succeed.
  bool const survives_relay = !p.has_relays_only && h.options.reconnect_grace > 0s;
  // The last report of a relay may be older than its stall.
  duration const relay_wait_max =
      wait_max > 0s ? std::min(duration{h.options.relay_grace}, h.options.heartbeat_timeout / 2)
                    : wait_max;
  return std::any_of(p.troubles.begin(), p.troubles.end(), [&](trouble const& t) {
    if (t.is_of_relay && survives_relay) return false;
    return t.from + (t.is_of_relay ? relay_wait_max : wait_max) <= at && t.to >= since;
  });
}

// It could not reach the coordinator, and ended its session itself.
bool has_fenced_itself(process_record const& p, time_point at) {
  return p.ended && *p.ended <= at &&
         std::any_of(p.troubles.begin(), p.troubles.end(),
                     [&](trouble const& t) { return t.from < *p.ended && t.to >= *p.ended; });
}

bool has_cause(history const& h, task_id task, incarnation self, time_point at) {
  for (process_record const& p : h.processes) {
    if (p.self != self || p.host) continue;
    if (p.died.value_or(time_point::max()) <= at || p.departed.value_or(time_point::max()) <= at) {
      return true;
    }
    if (was_in_trouble(h, p, at) || has_fenced_itself(p, at)) return true;
  }
  return has_reported(h, task, at) || is_claimed(h, task, self, at);
}

void check_cause(history const& h, event_record const& e, violations& found) {
  // Its incarnation is the one seen before. With a disk another one may be seen earlier than this.
  auto const first_since = [&](time_point at) {
    return std::find_if(h.tasks.begin(), h.tasks.end(),
                        [at](task_sight const& s) { return s.at >= at; });
  };
  auto before = first_since(h.earliest(e.at));
  auto const after = first_since(e.at);
  if (before == h.tasks.begin() || after == h.tasks.end()) return;
  task_id const task = *e.what.what.task;
  for (--before; before != after; ++before) {
    auto const& then = before->what.tasks[task.value];
    if (then.state != task_state::connected) return;
    if (has_cause(h, task, then.self, e.at)) return;
  }
  found.push_back("at " + h.text(e.at) + " without a cause: " + e.what.what.text);
}

}  // namespace

void check_failures(history const& h, violations& found) {
  for (std::size_t i = 0; i < h.processes.size(); ++i) {
    if (h.processes[i].died && !h.is_guest(i)) check_death(h, i, found);
  }
  check_job(h, found);
  for (event_record const& e : h.events) {
    if (is_failure(e.what.what.kind)) check_cause(h, e, found);
  }
  for (call_record const& c : h.calls) {
    if (!c.asks<core::report_error_args>() || !c.is_ok() || !h.has_all_events()) continue;
    bool const has_failed = std::any_of(h.events.begin(), h.events.end(), [&](auto const& e) {
      return is_failure(e.what.what.kind) && e.what.what.task == c.task && e.at >= c.made &&
             h.earliest(e.at) <= *c.answered;
    });
    if (!has_failed) found.push_back("the task did not fail: " + h.text(c));
  }
}

}  // namespace coxswain::sim
