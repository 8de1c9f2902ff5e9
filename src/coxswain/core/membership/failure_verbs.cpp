#include "coxswain/core/membership/failure_verbs.hpp"

#include "coxswain/core/concerns.hpp"
#include "coxswain/core/kernel/text.hpp"

#include <utility>

namespace coxswain::core {
namespace {

constexpr std::size_t later_failures_max = 64;

}  // namespace

void failure_verbs::handle(call const& c, report_error_args& args) {
  if (!c.task) return calls_.refuse(c, kernel_.not_joined());
  if (args.what.ok())
    return calls_.refuse(c, {errc::invalid_argument, "an error cannot have code 0"});
  if (c.by.guest_of) roster_.set_parted(*c.task, parting::none);
  fail_task(c.now, *c.task,
            {args.what.code(), shortened(args.what.message(), options_.error_bytes_max)});
  calls_.answer_now(c, calls_.share(status{}), true);
}

// Any session may ask, since no session holds a failed task.
void failure_verbs::handle(call const& c, reset_args& args) {
  if (!c.task) return calls_.refuse(c, {errc::invalid_argument, "a Reset must name its task"});
  if (kernel_.error) return calls_.refuse(c, kernel_.job_failed(errc::failed_precondition));
  if (options_.elastic) {
    return calls_.refuse(
        c, {errc::failed_precondition,
            c.by.guest_of ? "an elastic job has no reset: end this command, and start its "
                            "task again"
                          : "an elastic job has no reset: join again"});
  }
  task& t = roster_.at(*c.task);
  if (t.state != task_state::failed) {
    return calls_.refuse(
        c, {errc::failed_precondition, kernel_.who(*c.task) + " has not failed: its state is \"" +
                                           std::string{name(t.state)} + "\""});
  }
  if (t.self != args.self && !c.by.guest_of) {
    return calls_.refuse(c, {errc::aborted, "another incarnation of " + kernel_.who(*c.task) +
                                                " has failed; join without a reset"});
  }
  roster_.set_state(*c.task, task_state::never_connected);
  t.last->failure = {};
  concerns_.enrolment.vacated(c.now, *c.task);
  kernel_.log_task(severity::info, event_kind::reset, *c.task, {" was reset and may join again"});
  calls_.answer_now(c, calls_.share(status{}), true);
}

void failure_verbs::task_ended(time_point now, task_id id, status why) {
  kernel_.observe(now);
  if (kernel_.stopping || !roster_.has(id)) return;
  if (roster_.at(id).state == task_state::joining) {
    // It is removed, and the join continues until its deadline (semantics D10).
    std::string const how = why.ok() ? why.message() : why.text();
    kernel_.log_task(severity::warning, event_kind::ended, id, {" ended while joining: ", how});
    calls_.answer_parked(concerns_.joins.together().arrival_of(id)->who,
                         calls_.share(status{errc::aborted, why.message()}));
  }
  if (!why.ok()) return fail_task(now, id, std::move(why));
  task const& t = roster_.at(id);
  if (!t.is_connected()) return;
  calls_.end_waits(id, concerns_.leaves,
                   {errc::cancelled, "the process of " + kernel_.who(id) + " has ended"});
  concerns_.leaves.depart(now, id, t.parted == parting::returning);
  concerns_.leaves.release_if_complete(now);
}

// The effects of a task's failure, in order. Only a connected task can fail.
void failure_verbs::fail_task(time_point now, task_id id, status why) {
  task& t = roster_.at(id);
  if (!t.is_connected()) return;
  if (t.parted != parting::none)
    return concerns_.leaves.depart(now, id, t.parted == parting::returning);
  kernel_.log_task(severity::error, event_kind::failed, id, {" failed: ", why.text()});
  if (!t.last) t.last = std::make_unique<last_holder>();
  t.last->failure = why;
  bool const spares_job = t.recoverable && !kernel_.error;
  calls_.end_own_waits(id);
  calls_.end_waits(id, concerns_.alive,
                   {errc::internal, kernel_.who(id) + " failed: " + why.text()});
  if (spares_job) calls_.end_waits(id, {errc::internal, kernel_.has_failed(id)});
  concerns_.joins.end_probe(id);
  concerns_.joins.forget_holder(id);
  roster_.set_state(id, task_state::failed);
  concerns_.keys.remove_keys_of(id);
  if (spares_job) return go_on_without(now, id);
  fail_job(now, {id, std::move(why)});
  concerns_.preemptions.forget(now, id);
  concerns_.joins.end_challenge(id, calls_.share(kernel_.job_failed(errc::aborted)));
}

// A recoverable task has failed, and the others continue (semantics D12): rounds wait for its
// return, unless they have fail_when_lost; the leave does not.
void failure_verbs::go_on_without(time_point now, task_id id) {
  if (options_.elastic) concerns_.epochs.failed(now, id, roster_.at(id).error());
  concerns_.barriers.forget_owed_to(id);
  if (!options_.elastic) concerns_.barriers.fail_rounds_of(now, id);
  concerns_.preemptions.forget(now, id);
  concerns_.enrolment.vacated(now, id);
  concerns_.joins.admit_challenger(now, id);
  if (!options_.elastic) concerns_.leaves.release_if_complete(now);
}

// The first failure is the cause and stays; later ones are listed with it (semantics D19).
void failure_verbs::fail_job(time_point now, failure what, barrier_failure const* missing) {
  if (kernel_.error) {
    ++kernel_.error->later_count;
    if (kernel_.error->later.size() == later_failures_max) return;
    kernel_.error->later.push_back(std::move(what));
    job_error_news_ = true;
    return;
  }
  job_error_news_ = true;
  kernel_.error = job_error{std::move(what), {}, 0};
  status const why = kernel_.job_failed(errc::internal);
  kernel_.log(severity::error, event_kind::job_failed, why.message(), kernel_.error->cause.task);
  for (concern* const one : concerns_.all) one->job_failed(now, why, missing);
}

void failure_verbs::tell_job_error() {
  if (!std::exchange(job_error_news_, false)) return;
  answer_ptr const news = calls_.share(*kernel_.error);
  sessions_.all().each([&](session_id, session& s) { sessions_.push(s, news); });
}

}  // namespace coxswain::core
