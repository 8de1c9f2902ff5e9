// All tasks stop at the same step, and none passes it. In an elastic job an agreement ends with its
// epoch.

#include "tests/sim/everything/rules/rules.hpp"

#include <algorithm>
#include <map>

namespace coxswain::sim {
namespace {

struct agreement {
  std::uint64_t step{};
  std::uint64_t farthest{};  // of the reported steps
  std::vector<call_record const*> notified;
};

// The step that a guest had reported when the agreement was made.
std::uint64_t farthest_guest(history const& h, agreement const& a) {
  std::uint64_t step = 0;
  for (call_record const& c : h.calls) {
    auto const* const args = c.asks<core::frozen_args>();
    if (!args || !h.is_guest(c.process) || c.made > *a.notified.front()->answered) continue;
    step = std::max(step, args->step);
  }
  return step;
}

void check_agreement(history const& h, std::uint64_t number, agreement const& a,
                     violations& found) {
  std::string const name = "agreement " + std::to_string(number);
  for (call_record const* const c : a.notified) {
    auto const& point = std::get<core::sync_point>(c->got.value);
    if (c->epoch != a.notified.front()->epoch) {
      found.push_back(name + " is for several epochs: " + h.text(*c));
    }
    if (point.agreement != number) found.push_back(name + " is called otherwise: " + h.text(*c));
    if (point.step != a.step) found.push_back(name + " is on several steps: " + h.text(*c));
    if (point.step <= std::get<core::frozen_args>(c->asked).step) {
      found.push_back(name + " is on a step that is past: " + h.text(*c));
    }
  }
  if (a.step > std::max(a.farthest, farthest_guest(h, a)) + 1)
    found.push_back(name + " is on a step that was not requested");
}

// It walks no further, although the coordinator waits for its step.
bool has_failed_to_leave(history const& h, std::size_t process, time_point by) {
  return std::any_of(h.calls.begin(), h.calls.end(), [&](call_record const& c) {
    return c.process == process && c.asks<core::leave_args>() && c.answered && *c.answered <= by &&
           !c.got.outcome.ok();
  });
}

// Joined tasks without a fault report their step, so that an agreement fails only because of
// others.
void check_failed(history const& h, call_record const& c, violations& found) {
  if (c.got.outcome.code() != errc::deadline_exceeded || h.limits_are_small) return;
  time_point const since = *c.answered - h.options.preemption_timeout - 2 * h.delay_max;
  for (std::size_t i = 1; i < h.processes.size(); ++i) {
    process_record const& p = h.processes[i];
    bool const is_task = !p.tasks.empty() || !p.member.empty();
    if (!is_task || p.host) continue;
    if (!h.is_calm(i, since, *c.answered) || has_failed_to_leave(h, i, *c.answered)) return;
  }
  found.push_back("no fault explains: " + h.text(c));
}

// The task stops at the first step at or past the agreed one.
void check_stops(history const& h, call_record const& c, violations& found) {
  auto const& point = std::get<core::sync_point>(c.got.value);
  for (step_record const& s : h.steps) {
    bool const is_here =
        s.process == c.process && s.task == *c.task && s.epoch == c.epoch && s.at > *c.answered;
    if (!is_here || s.step < point.step) continue;
    if (!s.stops) found.push_back("passed its step " + std::to_string(s.step) + ": " + h.text(c));
    return;
  }
}

void check_reasons(history const& h, violations& found) {
  for (step_record const& s : h.steps) {
    if (!s.stops) continue;
    bool const is_agreed = std::any_of(h.calls.begin(), h.calls.end(), [&](call_record const& c) {
      auto const* const point = c.gave<core::sync_point>();
      return point && c.process == s.process && c.task == s.task && c.epoch == s.epoch &&
             point->step <= s.step;
    });
    if (!is_agreed) found.push_back("stopped for nothing at step " + std::to_string(s.step));
  }
}

}  // namespace

void check_preemption(history const& h, violations& found) {
  std::map<std::uint64_t, agreement> all;
  for (call_record const& c : h.calls) {
    auto const* const args = c.asks<core::frozen_args>();
    if (!args || h.is_guest(c.process)) continue;
    agreement& a = all[args->agreement];
    a.farthest = std::max(a.farthest, args->step);
    if (auto const* const point = c.gave<core::sync_point>()) {
      a.step = point->step;
      a.notified.push_back(&c);
      check_stops(h, c, found);
    } else if (c.answered) {
      check_failed(h, c, found);
    }
  }
  for (auto const& [number, a] : all) {
    if (!a.notified.empty()) check_agreement(h, number, a, found);
  }
  check_reasons(h, found);
}

}  // namespace coxswain::sim
