// Each call ends once, in time, with an allowed outcome.

#include "tests/sim/everything/rules/rules.hpp"

#include "coxswain/core/model/reasons.hpp"

#include <algorithm>
#include <type_traits>
#include <vector>

namespace coxswain::sim {
namespace {

using codes = std::vector<errc>;

template <class Args, class... Others>
constexpr bool is_one_of = (std::is_same_v<Args, Others> || ...);

template <class Args>
constexpr bool is_meeting = is_one_of<Args, core::barrier_args, core::join_args, core::leave_args>;

using enum errc;

codes allowed(core::join_args const& a) {
  codes all{deadline_exceeded, already_exists, aborted, cancelled, invalid_argument};
  if (a.any) all.push_back(resource_exhausted);
  return all;
}
codes allowed(core::leave_args const&) {
  return {deadline_exceeded, internal, failed_precondition, cancelled, aborted};
}
codes allowed(core::report_error_args const&) { return {failed_precondition, aborted}; }
codes allowed(core::grant_args const&) { return {failed_precondition, aborted}; }
codes allowed(core::report_progress_args const&) { return {failed_precondition, aborted}; }
codes allowed(core::reset_args const&) { return {failed_precondition, aborted}; }
codes allowed(core::barrier_args const&) {
  return {deadline_exceeded,   internal,     cancelled, invalid_argument,
          failed_precondition, out_of_range, aborted};
}
codes allowed(core::cancel_barrier_args const&) {
  return {failed_precondition, permission_denied, aborted};
}
codes allowed(core::count_barrier_args const&) { return {deadline_exceeded, invalid_argument}; }
codes allowed(core::put_args const& a) {
  return a.ephemeral ? codes{already_exists, failed_precondition, aborted} : codes{already_exists};
}
codes allowed(core::get_args const&) { return {deadline_exceeded, cancelled, aborted}; }
codes allowed(core::get_all_args const&) { return {deadline_exceeded, cancelled, aborted}; }
codes allowed(core::try_get_args const&) { return {not_found}; }
codes allowed(core::increment_args const&) { return {failed_precondition, out_of_range}; }
codes allowed(core::compare_and_set_args const&) {
  return {already_exists, not_found, failed_precondition, aborted};
}
codes allowed(core::put_all_args const&) { return {already_exists, invalid_argument}; }
codes allowed(core::pop_args const&) { return {deadline_exceeded, cancelled, aborted}; }
codes allowed(core::take_args const&) { return {deadline_exceeded, cancelled, aborted}; }
codes allowed(core::update_lease_args const&) { return {failed_precondition}; }
codes allowed(core::lock_args const&) { return {deadline_exceeded, cancelled, aborted}; }
codes allowed(core::report_stack_args const&) { return {not_found}; }
codes allowed(core::try_lock_args const&) { return {already_exists}; }
codes allowed(core::unlock_args const&) { return {failed_precondition, permission_denied}; }
codes allowed(core::next_epoch_args const&) {
  return {failed_precondition, deadline_exceeded, cancelled, aborted, invalid_argument};
}
codes allowed(core::epoch_members_args const&) { return {failed_precondition}; }
codes allowed(core::resize_args const&) { return {failed_precondition, invalid_argument}; }
codes allowed(core::end_job_args const&) { return {}; }
codes allowed(core::preempt_args const&) { return {failed_precondition}; }
codes allowed(core::frozen_args const&) {
  return {failed_precondition, deadline_exceeded, internal, aborted, cancelled};
}
codes allowed(core::watch_keys_args const&) { return {invalid_argument}; }
codes allowed(core::watch_tasks_args const&) { return {invalid_argument}; }
codes allowed(core::watch_events_args const&) { return {invalid_argument}; }
codes allowed(core::alive_args const&) {
  return {deadline_exceeded, internal, failed_precondition, cancelled, aborted, invalid_argument};
}
codes allowed(core::exchange_topology_args const&) {
  return {deadline_exceeded, internal, failed_precondition, cancelled, aborted, invalid_argument};
}
// These always succeed. A request not listed here does not compile.
template <class Args>
requires is_one_of<Args, std::monostate, core::hello_args, core::resume_args, core::bye_args,
                   core::cancel_args, core::ask_waiting_args, core::list_args, core::remove_args,
                   core::remove_tree_args, core::inspect_args, core::append_args,
                   core::count_keys_args, core::push_args, core::why_args, core::stacks_args>
    codes allowed(Args const&) {
  return {};
}

// A leave ends the session whatever its outcome (§1.3.7).
bool is_ended_by_leave(history const& h, std::size_t process, time_point until) {
  return std::any_of(h.calls.begin(), h.calls.end(), [&](call_record const& c) {
    return c.process == process && c.asks<core::leave_args>() && c.over() <= until;
  });
}

bool may_end_with(history const& h, call_record const& c) {
  errc const code = c.got.outcome.code();
  if (code == ok) return true;
  if (c.got.outcome.message() == "this client has left the job") {
    return is_ended_by_leave(h, c.process, *c.answered);
  }
  // A replaced session is refused, whoever acts for the task now (§3.1).
  status const& why = c.got.outcome;
  if (states(why, &core::reasons::held_by_another_session)) return true;
  if (states(why, &core::reasons::host_was_replaced) ||
      states(why, &core::reasons::host_has_left) ||
      states(why, &core::reasons::host_is_no_member)) {
    return h.is_guest(c.process);
  }
  if (states(why, &core::reasons::job_is_draining)) {
    return (c.asks<core::join_args>() || c.asks<core::reset_args>()) && h.may_drain(*c.answered);
  }
  // Its member has failed (§1.4.2).
  if (code == internal && c.asks<core::next_epoch_args>()) return h.is_guest(c.process);
  // Fencing (§1.7).
  bool const is_fenced = states(why, &core::reasons::epoch_is_over) ||
                         states(why, &core::reasons::epoch_is_past) ||
                         states(why, &core::reasons::member_waits_for_epoch) ||
                         states(why, &core::reasons::not_in_epoch);
  if (h.options.elastic && is_fenced) return true;
  // The end of the epoch ends the calls that needed a member which left (§1.7.2).
  if (h.options.elastic && states(why, &core::reasons::task_has_finished)) return false;
  // The task is not in this epoch, or its caller is not.
  bool const names_task = c.asks<core::preempt_args>() || c.asks<core::reset_args>();
  if (h.options.elastic && code == invalid_argument && names_task) return true;
  // The client's own error when the coordinator is unreachable.
  if (code == deadline_exceeded && !h.is_calm(c.process, c.made, *c.answered)) return true;
  if (h.limits_are_small && (code == resource_exhausted || code == out_of_range)) return true;
  if (!h.limits_are_small && states(why, &core::reasons::outcome_is_discarded)) return false;
  return std::visit(
      [&](auto const& args) {
        codes const all = allowed(args);
        return std::find(all.begin(), all.end(), code) != all.end();
      },
      c.asked);
}

bool has_meeting(core::request const& what) {
  return std::visit([]<class Args>(Args const&) { return is_meeting<Args>; }, what);
}

// Whether the deadline of any call of the same meeting had passed at the reply: the earliest
// counts.
bool is_due(history const& h, call_record const& c) {
  auto const* const barrier = c.asks<core::barrier_args>();
  return std::any_of(h.calls.begin(), h.calls.end(), [&](call_record const& other) {
    if (other.asked.index() != c.asked.index()) return false;
    auto const* const of = other.asks<core::barrier_args>();
    if (barrier && of->name != barrier->name) return false;
    return deadline_after(other.made, other.timeout) <= *c.answered;
  });
}

void check_time(history const& h, call_record const& c, violations& found) {
  if (c.timeout == without_limit) return;
  if (c.got.outcome.code() == deadline_exceeded && !is_due(h, c)) {
    found.push_back("too early: " + h.text(c));
  }
  if (!has_meeting(c.asked) && c.got.outcome.code() == deadline_exceeded &&
      *c.answered < c.made + c.timeout) {
    found.push_back("before its deadline: " + h.text(c));
  }
  time_point const latest = c.made + c.timeout + 1ms + 2 * h.delay_max + h.time_for_room(c.process);
  if (*c.answered > latest && h.is_calm(c.process, c.made, *c.answered) &&
      *c.answered > latest + h.time_in_queue(c.process, c.made, *c.answered)) {
    found.push_back("too late: " + h.text(c));
  }
}

// A session with few open requests does not exceed the limit.
void check_limit(history const& h, call_record const& c, violations& found) {
  if (!states(c.got.outcome, &core::reasons::too_many_requests)) return;
  auto const beside = std::count_if(h.calls.begin(), h.calls.end(), [&](call_record const& other) {
    return other.process == c.process && other.made <= *c.answered && other.over() >= c.made - 1s;
  });
  if (beside < static_cast<std::ptrdiff_t>(h.options.open_requests_max)) {
    found.push_back("only " + std::to_string(beside) + " requests are open: " + h.text(c));
  }
}

// Whether its process is no longer part of the job after that.
bool ends_membership(history const& h, call_record const& c) {
  if (!c.answered) return false;
  if (c.asks<core::leave_args>()) return c.is_ok() || !h.options.elastic;
  auto const* const next = std::get_if<core::epoch_answer>(&c.got.value);
  return next != nullptr && next->size == 0;  // it is not in the next epoch
}

// When a process stops being part of the job, as far as its calls are concerned.
std::vector<time_point> ends_of(history const& h) {
  std::vector<time_point> ends;
  for (process_record const& p : h.processes) {
    ends.push_back(
        std::min(p.ended.value_or(time_point::max()), p.departed.value_or(time_point::max())));
  }
  for (call_record const& c : h.calls) {
    if (ends_membership(h, c)) ends[c.process] = std::min(ends[c.process], *c.answered);
  }
  return ends;
}

}  // namespace

void check_completion(history const& h, violations& found) {
  for (std::size_t i = 0; i < h.processes.size(); ++i) {
    process_record const& p = h.processes[i];
    std::string const name = "process " + std::to_string(i);
    if (p.completed_twice > 0) found.push_back(name + " was answered what it did not ask");
    std::string const why = p.why_ended.text();
    if (states(why, &core::reasons::protocol_error) || why.find("invalid message") != why.npos) {
      found.push_back(name + ": " + why);
    }
  }
  std::vector<time_point> const ends = ends_of(h);
  for (call_record const& c : h.calls) {
    if (!c.answered) {
      if (!c.cancelled && !h.processes[c.process].died) {
        found.push_back("never answered: " + h.text(c));
      }
      continue;
    }
    check_time(h, c, found);
    check_limit(h, c, found);
    if (*c.answered < ends[c.process] && !may_end_with(h, c)) {
      found.push_back("may not be answered so: " + h.text(c));
    }
  }
}

}  // namespace coxswain::sim
