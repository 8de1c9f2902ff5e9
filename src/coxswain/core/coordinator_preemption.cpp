// Preemption: notices, and the agreement on the step at which all stop together (semantics D22).

#include "coxswain/core/state.hpp"
#include "coxswain/core/text.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::core {

void coordinator::state::handle(call const& c, preempt_args& args) {
  if (status why = post_preemption(c.now, args.task, args.in); !why.ok()) {
    return refuse(c, std::move(why));
  }
  answer_now(c, share(status{}), true);
  plan_agreement(c.now);
}

status coordinator::state::preempt(time_point now, task_id id, duration in) {
  status outcome = post_preemption(now, id, in);
  if (outcome.ok()) plan_agreement(now);
  return outcome;
}

status coordinator::state::post_preemption(time_point now, task_id id, duration in) {
  if (error) return job_failed(errc::failed_precondition);
  if (!roster_.has(id)) {
    return {errc::invalid_argument, "there is no task " + std::to_string(id.value) +
                                        "; the job has tasks 0 to " +
                                        std::to_string(roster_.size() - 1)};
  }
  task const& t = roster_.at(id);
  if (t.state == task_state::failed || t.state == task_state::left ||
      t.state == task_state::returning) {
    return {errc::failed_precondition, who(id) + " has gone already"};
  }
  preemption_.post(id, deadline_after(now, std::max(in, 0ns)));
  log(severity::warning, event_kind::preemption,
      who(id) + " will be preempted in " + in_words(std::max(in, 0ns)), id);
  return {};
}

// A notice long before the death would stop the job for nothing (semantics 4.4).
void coordinator::state::plan_agreement(time_point now) {
  if (preemption_.is_open()) return;
  deadlines_.disarm(preemption_alarm_);
  auto const death = preemption_.first_death();
  if (!death || roster_.count(task_state::connected) == 0) return;
  time_point const begin = std::max(now, *death - options.preemption_lead);
  if (begin > now) return deadlines_.arm(preemption_alarm_, {begin, due::preemption});
  begin_agreement(now);
}

void coordinator::state::begin_agreement(time_point now) {
  preemption_.begin(deadline_after(now, options.preemption_lead));
  deadlines_.arm(preemption_alarm_,
                 {deadline_after(now, options.preemption_timeout), due::preemption});
  answer_ptr const freeze = share(freeze_request{preemption_.number()});
  sessions_.all().each([&](session_id, session& s) {
    if (!s.tasks.empty()) sessions_.push(s, freeze);
  });
  review_agreement();
}

// Those who came or came back during an agreement may not know of it.
void coordinator::state::tell_agreement(session& s) {
  if (preemption_.is_open()) sessions_.push(s, share(freeze_request{preemption_.number()}));
}

void coordinator::state::handle(call const& c, frozen_args& args) {
  if (!c.task) return refuse(c, not_joined());
  if (c.by.guest_of) return reach_sync_point(c, args);
  if (!preemption_.is_open() || args.agreement != preemption_.number()) {
    return refuse(c, {errc::failed_precondition,
                      "agreement " + std::to_string(args.agreement) + " on a step is over"});
  }
  parked p;
  p.where = parked::place::preemption;
  p.task = c.task;
  park(c, std::move(p));
  if (auto* const g = find(grants_, host{c.from.session, *c.task})) {
    // Its guests know how far the task is.
    g->steps.freeze(args.agreement);
    args.step = std::max(args.step, g->steps.reported());
  }
  if (auto const older = preemption_.answered(*c.task, {args.step, c.from})) {
    answer_superseded(*older);
  }
  review_agreement();
}

// Complete when all connected tasks have answered; the verdict on those that are suspect is
// awaited.
void coordinator::state::review_agreement() {
  if (preemption_.answers().size() < roster_.count(task_state::connected)) return;
  deadlines_.disarm(preemption_alarm_);
  if (preemption_.answers().empty()) return end_agreement({});
  auto const step = preemption_.step();
  if (!step) {
    status const why{errc::out_of_range,
                     "no agreement on a step before a preemption: a task is at the last step that "
                     "has a number"};
    log(severity::error, event_kind::preemption, why.message());
    return end_agreement(why);
  }
  sync_point const point{preemption_.number(), *step};
  log(severity::info, event_kind::preemption,
      "all tasks have agreed to stop at step " + std::to_string(point.step) +
          ", before a preemption");
  answer_all(preemption_.end(), share(point));
  end_sync_points(point.step);
  plan_agreement(observed_);
}

void coordinator::state::end_agreement(status why) {
  deadlines_.disarm(preemption_alarm_);
  answer_all(preemption_.end(), share(std::move(why)));
  end_sync_points(std::nullopt);
  plan_agreement(observed_);
}

void coordinator::state::preemption_due(time_point now) {
  if (!preemption_.is_open()) return plan_agreement(now);
  std::vector<task_id> silent;
  for (std::uint32_t i = 0; i < roster_.size(); ++i) {
    task_id const id{i};
    if (roster_.at(id).is_connected() && !preemption_.answers().contains(id)) silent.push_back(id);
  }
  status const why{errc::deadline_exceeded,
                   "no agreement on a step before a preemption within " +
                       in_words(options.preemption_timeout) + ": " + std::to_string(silent.size()) +
                       " of " + std::to_string(roster_.count(task_state::connected)) +
                       " tasks have not said where they are: " + ranges(silent).text};
  log(severity::error, event_kind::preemption, why.message());
  end_agreement(why);
}

// The task is no longer there to agree, or to be preempted.
void coordinator::state::forget_preemption(time_point now, task_id id) {
  preemption_.forget(id);
  if (preemption_.is_open()) return review_agreement();
  plan_agreement(now);
}

}  // namespace coxswain::core
