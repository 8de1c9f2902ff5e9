// Guests act for the tasks of their hosts exactly while granted.

#include "coxswain/core/model/reasons.hpp"
#include "tests/sim/everything/rules/epoch_stories.hpp"
#include "tests/sim/everything/rules/rules.hpp"

#include <algorithm>
#include <optional>

namespace coxswain::sim {
namespace {

constexpr duration margin = 200ms;  // of stalls that are too short to be credited

using calls = std::vector<call_record const*>;

// The requests of this kind by the guests of a host for its task.
template <class Args>
calls of_guests(history const& h, std::size_t host, std::optional<task_id> task) {
  calls all;
  for (call_record const& c : h.calls) {
    if (c.asks<Args>() && h.processes[c.process].host == host && c.task == task) all.push_back(&c);
  }
  return all;
}

std::string name_of(std::size_t guest) { return "process " + std::to_string(guest) + ", a guest,"; }

// The latest time at which the coordinator learned that the process was gone.
std::optional<time_point> gone_by(history const& h, process_record const& p) {
  duration const slack = 2 * h.stalled() + 2 * h.delay_max + margin;
  if (p.departed && *p.departed < h.ended) {
    return *p.departed + h.options.reconnect_grace + h.options.heartbeat_timeout + slack;
  }
  if (!p.died) return std::nullopt;
  bool const was_calm =
      !p.is_silent && std::none_of(p.troubles.begin(), p.troubles.end(),
                                   [&](interval const& i) { return i.to >= *p.died; });
  duration noticed = was_calm ? duration{} : duration{h.options.heartbeat_timeout};
  if (p.has_relay && !was_calm) noticed += h.options.relay_grace + h.options.heartbeat_timeout / 3;
  return *p.died + h.options.reconnect_grace + noticed + slack;
}

void check_end(history const& h, std::size_t guest, violations& found) {
  process_record const& g = h.processes[guest];
  if (g.is_quiet && !g.ended) return;
  process_record const& host = h.processes[*g.host];
  auto const gone = gone_by(h, host);
  if (!gone || *gone > h.ended || !h.is_calm(guest, *gone, *gone + h.delay_max)) return;
  found.push_back(name_of(guest) + " outlives its host, process " + std::to_string(*g.host));
}

// A guest without a fault until its session ends learns why it ended.
void check_reason(history const& h, std::size_t guest, violations& found) {
  process_record const& g = h.processes[guest];
  bool const was_well = g.ended && g.troubles.size() > 1 &&
                        std::none_of(g.troubles.begin() + 1, g.troubles.end(),
                                     [&](interval const& i) { return i.from < *g.ended; }) &&
                        g.troubles.front().to < *g.ended;
  if (!was_well || g.why_ended.code() == errc::unavailable || h.limits_are_small) return;
  std::string const& why = g.why_ended.message();
  if (states(why, &core::reasons::command_has_ended) ||
      states(why, &core::reasons::session_of_host_ended) ||
      states(why, &core::reasons::host_has_left) ||
      states(why, &core::reasons::host_is_not_in_epoch))
    return;
  found.push_back(name_of(guest) + " ended without a reason: " + g.why_ended.text());
}

// A grant ends with the next one of the same task, including an empty one.
void check_grants(history const& h, std::size_t guest, violations& found) {
  process_record const& g = h.processes[guest];
  time_point ended = time_point::max();
  bool is_granted = false;
  for (call_record const& c : h.calls) {
    auto const* const args = c.asks<core::grant_args>();
    if (!args || c.process != *g.host || c.task != g.tasks.front()) continue;
    if (args->secret == g.secret) {
      is_granted = true;
      continue;
    }
    if (!is_granted || !c.is_ok()) continue;
    ended = std::min(ended, *c.answered);
    bool const is_there = !(g.is_quiet && !g.ended);
    if (!is_there || !h.is_calm(guest, c.made, *c.answered + h.delay_max)) continue;
    found.push_back(name_of(guest) + " outlives its grant: " + h.text(c));
  }
  for (call_record const& c : h.calls) {
    if (c.process != guest || !c.is_ok() || c.made <= ended) continue;
    // Replies of the client itself, and replies in transit.
    bool const is_known = *c.answered > c.made && h.is_calm(guest, c.made, *c.answered);
    if (is_known && c.made > ended + h.delay_max) {
      found.push_back("its grant had ended: " + h.text(c));
    }
  }
}

// Another process has replaced the task. In an elastic job that ends its guests.
void check_replaced(history const& h, std::size_t guest, violations& found) {
  process_record const& g = h.processes[guest];
  time_point held = time_point::max();
  time_point replaced = time_point::max();
  for (call_record const& c : h.calls) {
    if (!c.asks<core::join_args>() || !c.is_ok() || c.task != g.tasks.front()) continue;
    if (c.process == *g.host) held = std::min(held, *c.answered);
    if (c.process != *g.host && !h.is_guest(c.process) && c.made > held) {
      replaced = std::min(replaced, *c.answered);
    }
  }
  for (call_record const& c : h.calls) {
    if (c.process == guest && c.made > replaced && c.is_ok()) {
      found.push_back("its host was replaced: " + h.text(c));
    }
  }
}

// The last guest to leave decides whether the task returns, unless its holder leaves to return.
void check_return(history const& h, call_record const& c, violations& found) {
  auto const leaves = of_guests<core::leave_args>(h, c.process, c.task);
  if (!c.is_ok() || h.failure || leaves.empty()) return;
  if (!h.is_calm(c.process, c.made, *c.answered)) return;
  bool const are_over = std::all_of(leaves.begin(), leaves.end(), [&](call_record const* one) {
    return one->is_ok() && *one->answered < c.made &&
           h.is_calm(one->process, one->made, *one->answered);
  });
  auto const last = *std::max_element(leaves.begin(), leaves.end(),
                                      [](auto* a, auto* b) { return *a->answered < *b->answered; });
  auto const joins = of_guests<core::join_args>(h, c.process, c.task);
  // All other guests got the reply to their leave before the last one called, and none came after
  // it.
  bool const is_sure =
      are_over &&
      std::all_of(leaves.begin(), leaves.end(),
                  [&](auto* one) { return one == last || *one->answered < last->made; }) &&
      std::none_of(joins.begin(), joins.end(),
                   [&](auto* one) { return one->over() > last->made; }) &&
      joins.size() == leaves.size();
  // Nobody is to return to a job that drains.
  if (!is_sure || h.may_drain(*c.answered + h.delay_max)) return;
  bool const is_to_return = std::get<core::leave_args>(last->asked).returning ||
                            std::get<core::leave_args>(c.asked).returning;
  for (task_sight const& s : h.tasks) {
    auto const& one = s.what.tasks[c.task->value];
    bool const is_then = s.at >= c.made && s.at <= *c.answered + h.delay_max;
    if (!is_then || one.self != h.processes[c.process].self) continue;
    if (one.state == (is_to_return ? task_state::left : task_state::returning)) {
      found.push_back("its last program stated otherwise: " + h.text(c));
      return;
    }
  }
}

// The steps reported by the guests with one secret.
calls steps_with(history const& h, std::string const& secret) {
  calls all;
  for (call_record const& c : h.calls) {
    if (c.asks<core::frozen_args>() && h.processes[c.process].secret == secret) all.push_back(&c);
  }
  return all;
}

std::uint64_t step_of(call_record const& c) { return std::get<core::frozen_args>(c.asked).step; }

// The first guest to reach or pass the agreed step must stop.
void check_stop(history const& h, call_record const& agreed, call_record const& passed,
                calls const& steps, violations& found) {
  std::uint64_t const at = agreed.gave<core::sync_point>()->step;
  if (!passed.is_ok() || passed.gave<core::sync_point>() || step_of(passed) < at) return;
  if (passed.made <= *agreed.answered) return;
  bool const has_stopped = std::any_of(steps.begin(), steps.end(), [&](call_record const* one) {
    bool const may_be = !one->is_ok() || one->gave<core::sync_point>();
    return may_be && step_of(*one) >= at && one->over() >= agreed.made &&
           one->made <= *passed.answered;
  });
  if (!has_stopped)
    found.push_back("a guest passed step " + std::to_string(at) + ": " + h.text(passed));
}

void check_steps(history const& h, call_record const& agreed, violations& found) {
  epoch_stories const epochs{h};
  for (std::size_t i = 0; i < h.processes.size(); ++i) {
    process_record const& g = h.processes[i];
    if (g.host != agreed.process || g.born > agreed.made) continue;
    if (g.tasks.front() != agreed.task && !h.options.elastic) continue;
    calls const steps = steps_with(h, g.secret);
    for (call_record const* const step : steps) {
      bool const is_of_epoch = !h.options.elastic || !step->answered ||
                               !epochs.may_have_begun(agreed.epoch + 1, *step->answered);
      if (step->process == i && is_of_epoch) check_stop(h, agreed, *step, steps, found);
    }
  }
}

void check_stopped(history const& h, call_record const& c, violations& found) {
  auto const* const stop = c.gave<core::sync_point>();
  if (!stop) return;
  bool const is_agreed = std::any_of(h.calls.begin(), h.calls.end(), [&](call_record const& by) {
    auto const* const point = by.gave<core::sync_point>();
    bool const may_be = by.asks<core::frozen_args>() && !h.is_guest(by.process) &&
                        by.made <= *c.answered && (point || !by.is_ok());
    return may_be && (!point || point->step <= step_of(c));
  });
  if (!is_agreed) found.push_back("a guest stopped for nothing: " + h.text(c));
}

}  // namespace

void check_guests(history const& h, violations& found) {
  bool has_guests = false;
  for (std::size_t i = 0; i < h.processes.size(); ++i) {
    if (!h.is_guest(i)) continue;
    has_guests = true;
    check_end(h, i, found);
    check_reason(h, i, found);
    check_grants(h, i, found);
    if (!h.options.elastic) check_replaced(h, i, found);
  }
  if (!has_guests) return;
  for (call_record const& c : h.calls) {
    bool const returns = c.asks<core::leave_args>() && c.answered && !h.options.elastic;
    if (returns && !h.is_guest(c.process)) {
      check_return(h, c, found);
    }
    if (!c.asks<core::frozen_args>()) continue;
    if (h.is_guest(c.process)) {
      check_stopped(h, c, found);
    } else if (c.gave<core::sync_point>()) {
      check_steps(h, c, found);
    }
  }
}

}  // namespace coxswain::sim
