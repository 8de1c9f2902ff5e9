// The agent's reports of long waits: for answers, and for the coordinator.

#include "coxswain/client/agent/agent.hpp"
#include "coxswain/client/agent/agent_text.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace coxswain::detail {
namespace {

// The time until the first report and the second one; then it doubles.
constexpr duration report_first = 2s;
constexpr duration report_every_max = 30s;

// A coordinator that has not answered by then is reported as not answering.
constexpr duration answer_within = 1s;

// An address that refuses connections can be that of a coordinator about to start.
constexpr duration refusals_spared = 400ms;

// How many waiting calls are examined one by one; further ones are only counted.
constexpr std::size_t told_at_once_max = 8;
constexpr duration look_every = 100ms;

bool waits_for_ever(core::request const& what) {
  return std::holds_alternative<core::watch_keys_args>(what) ||
         std::holds_alternative<core::watch_tasks_args>(what) ||
         std::holds_alternative<core::watch_events_args>(what);
}

void schedule(open_call& call, time_point now) {
  call.asked = false;
  call.report_at = deadline_after(now, call.report_every);
  call.report_every = std::min(2 * call.report_every, report_every_max);
}

std::string number_of(std::uint64_t tries) {
  return std::to_string(tries) + (tries == 1 ? " try" : " tries");
}

}  // namespace

void agent::watch(time_point now, open_call& call) {
  call.since = now;
  if (waits_for_ever(call.message.what)) return;
  call.report_at = deadline_after(now, report_first);
  call.report_every = report_first;
  look_at_ = std::min(look_at_, call.report_at);
}

void agent::look(time_point now) {
  std::vector<open_call*> due;
  calls_.each([&](open_call& call) {
    if (call.report_at <= now) due.push_back(&call);
  });
  std::sort(due.begin(), due.end(),
            [](open_call const* a, open_call const* b) { return a->message.id < b->message.id; });
  for (std::size_t i = 0; i < due.size(); ++i) {
    open_call& call = *due[i];
    if (i >= told_at_once_max) {
      schedule(call, now);
    } else if (call.asked) {
      report_waiting(now, call,
                     "no reply from the coordinator at " + place() + ", which was last heard " +
                         text_of(now - heard_at_) + " ago");
    } else {
      send(now, core::ask_waiting_args{call.message.id});
      call.asked = true;
      call.report_at = deadline_after(now, answer_within);
    }
  }
  if (due.size() > told_at_once_max) {
    events_.emplace_back(agent_events::waiting{std::to_string(due.size() - told_at_once_max) +
                                                   " more calls have been waiting for a long time",
                                               true});
  }
  look_at_ = time_point::max();
  calls_.each([&](open_call const& call) { look_at_ = std::min(look_at_, call.report_at); });
  if (!due.empty()) look_at_ = std::max(look_at_, now + look_every);
}

void agent::answered(time_point now, core::waiting const& what) {
  open_call* const call = calls_.find(what.request);
  if (!call || !call->asked) return;
  report_waiting(now, *call, what.text);
  look_at_ = std::min(look_at_, call->report_at);
}

void agent::report_waiting(time_point now, open_call& call, std::string const& why) {
  auto const& what = call.message.what;
  events_.emplace_back(agent_events::waiting{
      text_of(what) + " has waited for " + text_of(now - call.since) + ": " + why,
      std::holds_alternative<core::pop_args>(what)});
  schedule(call, now);
}

void agent::watch_outage(time_point now) {
  down_at_ = now;
  report_at_ = now + report_first;
  report_every_ = report_first;
  refused_since_.reset();
  // Questions on the old connection are no longer answered.
  calls_.each([](open_call& call) { call.asked = false; });
}

void agent::note_refusal(time_point now, bool refused) {
  if (!refused) return refused_since_.reset();
  if (refused_since_) return;
  refused_since_ = now;
  if (report_every_ == report_first) report_at_ = std::min(report_at_, now + refusals_spared);
}

void agent::report_unreachable(time_point now) {
  std::string text = "coordinator at " + place() + " unreachable for " + text_of(now - down_at_) +
                     " (" + number_of(tries_) + "): ";
  text += last_error_.ok() ? "no response to the connection attempt" : last_error_.message();
  auto const end = session_ ? std::min(refused_until(), deadline_after(heard_at_, fence_after()))
                            : connect_until();
  if (end != time_point::max()) text += "; giving up in " + text_of(end - now);
  events_.emplace_back(agent_events::waiting{std::move(text)});
  report_at_ = deadline_after(now, report_every_);
  report_every_ = std::min(2 * report_every_, report_every_max);
}

// "b12:8476 (in the process of task 0)"
std::string agent::place() const {
  auto const host = session_ ? session_->hosted_by_task : options_.hosted_by_task;
  return options_.address + (host ? " (in the process of task " + std::to_string(*host) + ")" : "");
}

time_point agent::refused_until() const {
  bool const counts = session_ && refused_since_ && !options_.fence_after &&
                      session_->coordinator_return > duration::zero();
  return counts ? deadline_after(*refused_since_, session_->coordinator_return) : time_point::max();
}

status agent::coordinator_gone() const {
  return {errc::unavailable, "the coordinator at " + place() +
                                 " is gone: its address has refused all connections for " +
                                 text_of(session_->coordinator_return)};
}

}  // namespace coxswain::detail
