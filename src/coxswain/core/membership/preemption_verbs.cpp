#include "coxswain/core/membership/preemption_verbs.hpp"

#include "coxswain/base/invariant.hpp"
#include "coxswain/core/concerns.hpp"
#include "coxswain/core/kernel/text.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::core {

preemption_verbs::preemption_verbs(concerns& all)
    : waiting_concern{
          all, {operation_id<frozen_args>, std::nullopt, wait_traits::party::task, true, true}} {}

void preemption_verbs::job_failed(time_point, status const& why, barrier_failure const*) {
  end_agreement(why);
}

void preemption_verbs::cancel(ticket, parked const& p) { preemption_.cancel(*p.task); }

std::string preemption_verbs::missing_text(time_point now, ticket, parked const& p) {
  auto const missing = awaited_for_agreement();
  auto const all = static_cast<std::uint32_t>(preemption_.answers().size() + missing.size());
  return concerns_.missing.brief(now, p, all, [&] { return missing; });
}

std::size_t preemption_verbs::waiting() const { return preemption_.answers().size(); }

void preemption_verbs::check(ticket who, parked const& p) const {
  invariant(preemption_.answers().at(*p.task).who == who, "who has agreed is known");
}

void preemption_verbs::check_invariants() const {
  invariant(!preemption_.is_open() || (preemption_alarm_.armed() &&
                                       preemption_.heard() < roster_.count(task_state::connected)),
            "an agreement waits for somebody, and not for ever");
}

std::size_t preemption_verbs::armed() const { return preemption_alarm_.armed() ? 1 : 0; }

duration preemption_verbs::remaining(time_point now) const {
  return std::max(*deadlines_.when(preemption_alarm_) - now, duration::zero());
}

void preemption_verbs::handle(call const& c, preempt_args& args) {
  if (status why = post_preemption(c.now, args.task, args.in); !why.ok()) {
    return calls_.refuse(c, std::move(why));
  }
  calls_.answer_now(c, calls_.share(status{}), true);
  plan_agreement(c.now);
}

status preemption_verbs::preempt(time_point now, task_id id, duration in) {
  status outcome = post_preemption(now, id, in);
  if (outcome.ok()) plan_agreement(now);
  return outcome;
}

status preemption_verbs::post_preemption(time_point now, task_id id, duration in) {
  if (error_) return kernel_.job_failed(errc::failed_precondition);
  if (!roster_.has(id)) return fail<&reasons::no_such_task>(id, roster_.size() - 1);
  task const& t = roster_.at(id);
  if (t.state == task_state::failed || t.state == task_state::left ||
      t.state == task_state::returning) {
    return fail<&reasons::has_left_or_failed>(kernel_.who(id));
  }
  preemption_.post(id, deadline_after(now, std::max(in, 0ns)));
  concerns_.epochs.preempted(id);
  kernel_.log_task(severity::warning, event_kind::preemption, id,
                   {" will be preempted in ", in_words(std::max(in, 0ns))});
  return {};
}

// A notice long before the death would stop the job for nothing (§10.2.4).
void preemption_verbs::plan_agreement(time_point now) {
  if (preemption_.is_open()) return;
  deadlines_.disarm(preemption_alarm_);
  auto const death = preemption_.first_death();
  if (!death || roster_.count(task_state::connected) == 0) return;
  time_point const begin = std::max(now, *death - options_.preemption_lead);
  if (begin > now) return deadlines_.arm(preemption_alarm_, {begin, due::preemption});
  begin_agreement(now);
}

void preemption_verbs::begin_agreement(time_point now) {
  preemption_.begin(deadline_after(now, options_.preemption_lead));
  deadlines_.arm(preemption_alarm_,
                 {deadline_after(now, options_.preemption_timeout), due::preemption});
  answer_ptr const asked = freeze(now);
  sessions_.all().each([&](session_id, session& s) {
    if (!s.tasks.empty()) sessions_.push(s, asked);
  });
  review_agreement();
}

answer_ptr preemption_verbs::freeze(time_point now) const {
  duration const in = preemption_.first_death().value_or(now) - now;
  return calls_.share(freeze_request{preemption_.number(), std::max(in, duration::zero())});
}

// Tasks that joined or resumed during an agreement may not know of it.
void preemption_verbs::send_agreement(time_point now, session& s) {
  if (preemption_.is_open()) sessions_.push(s, freeze(now));
}

void preemption_verbs::handle(call const& c, frozen_args& args) {
  if (!c.task) return calls_.refuse(c, kernel_.not_joined());
  if (c.by.guest_of) return concerns_.guests.reach_sync_point(c, args);
  if (!preemption_.is_open() || args.agreement != preemption_.number())
    return calls_.refuse<&reasons::agreement_has_ended>(c, args.agreement);
  if (args.abstains) {
    preemption_.abstained(*c.task);
    calls_.answer_now(c, calls_.share(status{}), true);
    return review_agreement();
  }
  calls_.park(c, *this, {});
  if (auto* const g = concerns_.guests.grant_of(host{c.from.session, *c.task})) {
    // Its guests know how far the task is.
    g->steps.freeze(args.agreement);
    args.step = std::max(args.step, g->steps.reported());
  }
  if (auto const older = preemption_.answered(*c.task, {args.step, c.from})) {
    calls_.answer_superseded(*older);
  }
  review_agreement();
}

// Complete when all connected tasks have answered; the verdict on those that are suspect is
// awaited.
void preemption_verbs::review_agreement() {
  if (preemption_.heard() < roster_.count(task_state::connected)) return;
  deadlines_.disarm(preemption_alarm_);
  auto const& elsewhere = preemption_.abstentions();
  if (preemption_.answers().empty()) {
    if (!elsewhere.empty()) {
      kernel_.log(severity::info, event_kind::preemption,
                  "all tasks know of the preemption; JAX tasks agree on a step among themselves");
    }
    return end_agreement({});
  }
  auto const step = preemption_.step();
  if (!step) {
    status const why = fail<&reasons::no_higher_step>();
    kernel_.log(severity::error, event_kind::preemption, why.message());
    return end_agreement(why);
  }
  sync_point const point{preemption_.number(), *step};
  std::string text = "all tasks have agreed to stop at step " + std::to_string(point.step) +
                     ", before a preemption";
  if (!elsewhere.empty()) {
    text += "; except JAX tasks, which agree among themselves: " +
            ranges({elsewhere.begin(), elsewhere.end()}).text;
  }
  kernel_.log(severity::info, event_kind::preemption, std::move(text));
  calls_.answer_all(preemption_.end(), calls_.share(point));
  concerns_.guests.end_sync_points(point.step);
  plan_agreement(kernel_.observed());
}

void preemption_verbs::end_agreement(status why) {
  deadlines_.disarm(preemption_alarm_);
  calls_.answer_all(preemption_.end(), calls_.share(std::move(why)));
  concerns_.guests.end_sync_points(std::nullopt);
  plan_agreement(kernel_.observed());
}

void preemption_verbs::preemption_due(time_point now) {
  if (!preemption_.is_open()) return plan_agreement(now);
  auto const silent = awaited_for_agreement();
  status const why = fail<&reasons::no_agreement_in_time>(
      options_.preemption_timeout, silent.size(), roster_.count(task_state::connected),
      ranges(silent).text);
  kernel_.log(severity::error, event_kind::preemption, why.message());
  end_agreement(why);
}

// The task has gone: it takes no part in the agreement, and its notice is dropped.
void preemption_verbs::forget(time_point now, task_id id) {
  preemption_.forget(id);
  if (preemption_.is_open()) return review_agreement();
  plan_agreement(now);
}

void preemption_verbs::renumber(std::map<task_id, task_id> const& moved) {
  bool const was_open = preemption_.is_open();
  deadlines_.disarm(preemption_alarm_);
  preemption_.renumber(moved);
  if (was_open) concerns_.guests.end_sync_points(std::nullopt);
}

std::vector<task_id> preemption_verbs::awaited_for_agreement() const {
  std::vector<task_id> missing;
  for (std::uint32_t i = 0; i < roster_.size(); ++i) {
    task_id const id{i};
    if (roster_.at(id).is_connected() && !preemption_.has_heard(id)) missing.push_back(id);
  }
  return missing;
}

}  // namespace coxswain::core
