// The agent's calls: opening, sending, taking back, deadlines.

#include "coxswain/client/agent/agent.hpp"
#include "coxswain/client/agent/agent_text.hpp"
#include "coxswain/client/agent/request_limits.hpp"
#include "coxswain/core/model/operations.hpp"

#include <algorithm>
#include <cassert>
#include <utility>
#include <variant>

namespace coxswain::detail {
namespace {

// How much later than the coordinator the agent ends a call while it is connected (§2.3).
constexpr duration slack = 1s;

}  // namespace

request_id agent::call(time_point now, core::request what, duration timeout,
                       std::optional<task_id> task, std::shared_ptr<claim const> claimed_by) {
  assert(!core::row_of(what).is(core::trait::of_session) && "a request that is answered");
  request_id const id = requests_.next_id();
  open_call opened;
  opened.timeout = std::max(timeout, duration::zero());
  opened.deadline = deadline_after(now, opened.timeout);
  opened.bytes = bytes_of(what);
  opened.claimed_by = std::move(claimed_by);
  opened.message.id = id;
  auto const* const join = std::get_if<core::join_args>(&what);
  bool const is_named = needs_task(what) && !(join && join->any);
  if (task || is_named) opened.message.task = task ? task : options_.task;
  set_timeout(what, opened.timeout);
  // Stated also when it is sent again in a later epoch.
  opened.message.epoch = epoch_.number;
  if (auto* const next = std::get_if<core::next_epoch_args>(&what)) next->after = epoch_.number;
  opened.message.what = std::move(what);
  if (status why = refusal(opened); !why.ok()) {
    requests_.complete(id, std::move(why));
    return id;
  }
  // The time of a join begins with the session.
  if (!session() && join) opened.deadline = time_point::max();
  waits_.begin(now, opened);
  requests_.add(std::move(opened));
  if (phase_ == phase::up && requests_.send_call(now, id, *session())) life_.sent(now);
  return id;
}

void agent::cancel(time_point now, request_id call) {
  if (auto const taken = requests_.calls().take(call)) return forget(now, *taken);
  if (!requests_.is_unclaimed(call)) return;
  if (phase_ == phase::up) send(now, core::cancel_args{call});
  if (phase_ == phase::greeting) requests_.cancel_when_up(call);
  requests_.abandon(call);
}

// Why a call is not even queued; OK if it is.
status agent::refusal(open_call const& call) const {
  if (phase_ == phase::over) return end_;
  auto const& message = call.message;
  auto const* const join = std::get_if<core::join_args>(&message.what);
  if (needs_task(message.what) && !message.task && !(join && join->any)) {
    return {errc::failed_precondition,
            text_of(message.what) + ": this client is an observer; the call needs a task id"};
  }
  auto const* barrier = std::get_if<core::barrier_args>(&message.what);
  if (barrier && requests_.calls().waits_at(message.task, barrier->name)) {
    return {errc::failed_precondition, "task " + std::to_string(message.task->value) +
                                           " already waits at " + text_of(message.what) +
                                           "; only one call per barrier can be open at a time"};
  }
  if (phase_ != phase::up && call.bytes > options_.queued_bytes_max - requests_.queued_bytes()) {
    return {errc::resource_exhausted,
            text_of(message.what) + ": not connected to the coordinator at " + terms_.addresses() +
                ", and the queued calls hold " + std::to_string(requests_.queued_bytes()) +
                " bytes; queued_bytes_max is " + std::to_string(options_.queued_bytes_max) + "."};
  }
  return session() ? over_limit(call, *session()) : status{};
}

void agent::send(time_point now, core::request what) {
  requests_.send(std::move(what));
  life_.sent(now);
}

// The coordinator no longer needs to answer this call.
void agent::forget(time_point now, open_call const& call) {
  auto const id = call.message.id;
  if (!requests_.was_sent(id)) {
    requests_.forget_queued(call);
  } else if (phase_ == phase::up) {
    send(now, core::cancel_args{id});
  } else if (phase_ == phase::greeting) {
    requests_.cancel_when_up(id);
  }
}

void agent::expire_calls(time_point now) {
  for (;;) {
    auto const first = requests_.calls().first_deadline();
    if (!first || expiry(*first) > now) return;
    auto const call = requests_.calls().take_first();
    requests_.complete(call.message.id, timed_out(now, call));
    forget(now, call);
  }
}

// The coordinator is to speak first, as long as it can.
time_point agent::expiry(time_point deadline) const {
  return phase_ == phase::up ? deadline_after(deadline, slack) : deadline;
}

status agent::timed_out(time_point now, open_call const& call) const {
  std::string text;
  if (std::holds_alternative<core::barrier_args>(call.message.what)) text = "Barrier timed out. ";
  text += text_of(call.message.what) + ": no reply from the coordinator at " + terms_.addresses() +
          " within " + text_of(call.timeout);
  if (phase_ == phase::up) {
    text += " although connected.";
  } else if (session()) {
    text +=
        "; disconnected for " + text_of(outage_.length(now)) + ": " + outage_.last_error().text();
  } else {
    text += "; not connected yet after " + outage_.tries_text();
    if (!outage_.last_error().ok()) text += ": " + outage_.last_error().text();
  }
  return {errc::deadline_exceeded, std::move(text)};
}

}  // namespace coxswain::detail
