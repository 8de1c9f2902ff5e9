#include "coxswain/core/membership/failure_verbs.hpp"

#include "coxswain/core/concerns.hpp"
#include "coxswain/core/kernel/text.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::core {
namespace {

constexpr std::size_t later_failures_max = 64;

}  // namespace

void failure_verbs::handle(call const& c, report_error_args& args) {
  if (!c.task) return calls_.refuse(c, kernel_.not_joined());
  if (c.by.tasks.empty() && supervised_by(c.from.session) == c.task) {
    return process_ended(c, *c.task, args);
  }
  if (args.what.ok()) return calls_.refuse<&reasons::error_has_no_code>(c);
  if (c.by.guest_of) roster_.set_detached(*c.task, detachment::none);
  fail_task(c.now, *c.task,
            {args.what.code(), shortened(args.what.message(), options_.error_bytes_max)}, true);
  calls_.answer_now(c, calls_.share(status{}), true);
}

// Any session may ask, since no session holds a failed task.
void failure_verbs::handle(call const& c, reset_args& args) {
  if (!c.task) return calls_.refuse<&reasons::reset_names_no_task>(c);
  if (kernel_.error) return calls_.refuse(c, kernel_.job_failed(errc::failed_precondition));
  if (concerns_.ends.is_draining()) return calls_.refuse(c, concerns_.ends.refusal(c.now));
  if (options_.elastic) {
    return calls_.refuse(c, c.by.guest_of ? fail<&reasons::elastic_guest_has_no_reset>()
                                          : fail<&reasons::elastic_job_has_no_reset>());
  }
  task& t = roster_.at(*c.task);
  if (t.state != task_state::failed)
    return calls_.refuse<&reasons::task_has_not_failed>(c, kernel_.who(*c.task), name(t.state));
  if (t.self != args.self && !c.by.guest_of)
    return calls_.refuse<&reasons::other_incarnation_failed>(c, kernel_.who(*c.task));
  roster_.set_state(*c.task, task_state::never_connected);
  t.last->failure = {};
  t.last->ended_with_job = false;
  concerns_.enrolment.vacated(c.now, *c.task);
  kernel_.log_task(severity::info, event_kind::reset, *c.task, {" was reset and may join again"});
  calls_.answer_now(c, calls_.share(status{}), true);
}

void failure_verbs::task_ended(time_point now, task_id id, status why) {
  kernel_.observe(now);
  if (kernel_.stopping || !roster_.has(id)) return;
  session_id const holder = roster_.at(id).held_by;
  session const* const s = sessions_.find(holder);
  if (s && s->tasks.size() == 1) {
    concerns_.queues.return_items_of(holder);
    concerns_.locks.release_all_of(holder);
  }
  if (roster_.at(id).state == task_state::joining) {
    // It is removed, and the join continues until its deadline (§1.2).
    std::string const how = why.ok() ? why.message() : why.text();
    kernel_.log_task(severity::warning, event_kind::ended, id, {" ended while joining: ", how});
    calls_.answer_parked(concerns_.joins.together().arrival_of(id)->who,
                         calls_.share(status{errc::aborted, why.message()}));
  }
  task const& t = roster_.at(id);
  if (!why.ok() && s && s->lost_its_trunk && s->attached == connection_id{} && t.is_jax) {
    why = {why.code(), why.message() + " after " + kernel_.relay_of(*s) + " was lost"};
  }
  if (!why.ok()) return fail_task(now, id, std::move(why));
  if (!t.is_connected()) return;
  calls_.end_waits(id, concerns_.leaves, fail<&reasons::process_has_ended>(kernel_.who(id)));
  concerns_.leaves.depart(now, id, t.detached == detachment::returning);
  concerns_.leaves.release_if_complete(now);
}

void failure_verbs::supervise(session_id by, task_id task) {
  supervisors_.emplace(by, task);
  supervisions_[task] = {by, {}};
}

void failure_verbs::joined(task_id task, incarnation self) {
  auto const at = supervisions_.find(task);
  if (at == supervisions_.end()) return;
  at->second.of = self;
  // None while its session ends, which may have held the task itself.
  session const* const supervisor = sessions_.find(at->second.by);
  if (supervisor != nullptr && roster_.at(task).is_jax) name_place(task, *supervisor);
}

// Where a JAX program does not say where it is, the label of its supervisor does: "jax 0.10,
// b12:3391" instead of "jax 0.10, 10.0.0.7:40112".
void failure_verbs::name_place(task_id task, session const& supervisor) {
  origin& from = sessions_.find(roster_.at(task).held_by)->from;
  std::string const& peer = from.peer();
  std::string const address = ", " + peer.substr(0, peer.find(via_relay));
  if (supervisor.from.label().empty() || !from.label().ends_with(address)) return;
  auto const version = from.label().substr(0, from.label().size() - address.size());
  from = {version + ", " + supervisor.from.label(), peer};
}

std::optional<task_id> failure_verbs::supervised_by(session_id who) const {
  auto const at = supervisors_.find(who);
  return at == supervisors_.end() ? std::nullopt : std::optional{at->second};
}

std::optional<session_id> failure_verbs::supervisor_of(task_id task) const {
  auto const at = supervisions_.find(task);
  return at == supervisions_.end() ? std::nullopt : std::optional{at->second.by};
}

bool failure_verbs::is_supervised(session const& s) const {
  return !s.tasks.empty() && std::all_of(s.tasks.begin(), s.tasks.end(), [this](task_id task) {
    auto const at = supervisions_.find(task);
    return at != supervisions_.end() && at->second.of == roster_.at(task).self;
  });
}

void failure_verbs::session_ended(time_point, session_id id, status const&) {
  auto const at = supervisors_.find(id);
  if (at == supervisors_.end()) return;
  auto const of = supervisions_.find(at->second);
  if (of != supervisions_.end() && of->second.by == id) supervisions_.erase(of);
  supervisors_.erase(at);
}

// A supervisor that another one has replaced says nothing about the present process.
void failure_verbs::process_ended(call const& c, task_id task, report_error_args& args) {
  auto const known = supervisions_.find(task);
  bool const is_present = known != supervisions_.end() && known->second.by == c.from.session;
  if (is_present && known->second.of == incarnation{})
    return calls_.refuse<&reasons::process_has_not_joined>(c, task);
  if (is_present) {
    session_id const holder = roster_.at(task).held_by;
    task_ended(c.now, task,
               {args.what.code(), shortened(args.what.message(), options_.error_bytes_max)});
    end_session_of_process(c.now, holder);
  }
  calls_.answer_now(c, calls_.share(status{}), true);
}

// The process has ended, so nobody resumes its session.
void failure_verbs::end_session_of_process(time_point now, session_id id) {
  session const* const s = sessions_.find(id);
  if (!s || !s->tasks.empty()) return;
  status const why = fail<&reasons::supervised_process_has_ended>();
  if (s->attached != connection_id{}) concerns_.connections.say_goodbye(s->attached, why, false);
  concerns_.connections.end_session(now, id, why);
}

// The effects of a task's failure, in order. Only a connected task can fail.
void failure_verbs::fail_task(time_point now, task_id id, status why, bool is_reported) {
  task& t = roster_.at(id);
  if (!t.is_connected()) return;
  if (t.detached != detachment::none)
    return concerns_.leaves.depart(now, id, t.detached == detachment::returning);
  std::string_view const ended_before = ended_before_failure(why);
  log_failure(id, why, ended_before);
  if (!t.last) t.last = std::make_unique<last_holder>();
  t.last->failure = why;
  t.last->ended_with_job = !ended_before.empty();
  bool const spares_job = t.recoverable && !kernel_.error;
  calls_.end_own_waits(id);
  calls_.end_waits(id, concerns_.alive, {errc::internal, kernel_.has_failed(id, why.text())});
  if (spares_job) calls_.end_waits(id, {errc::internal, kernel_.has_failed(id)});
  concerns_.joins.end_probe(id);
  concerns_.joins.forget_holder(id);
  roster_.set_state(id, task_state::failed);
  concerns_.keys.remove_keys_of(id);
  if (spares_job) return go_on_without(now, id);
  fail_job(now, {id, std::move(why), is_reported});
  concerns_.preemptions.forget(now, id);
  concerns_.joins.answer_claimants(id, calls_.share(kernel_.job_failed(errc::aborted)));
}

// Whose end has caused this failure: that of the "job", of the "epoch", or nothing's.
std::string_view failure_verbs::ended_before_failure(status const& why) const {
  if (kernel_.error) return "job";
  return options_.elastic && concerns_.epochs.is_cause_of(why) ? "epoch" : "";
}

// A consequence is logged with its reason, unless that only repeats the job's error.
void failure_verbs::log_failure(task_id id, status const& why, std::string_view ended_before) {
  if (ended_before.empty())
    return kernel_.log_task(severity::error, event_kind::failed, id, {" failed: ", why.text()});
  std::string const of_job = kernel_.error ? kernel_.job_failed(why.code()).message() : "";
  bool const is_known = ended_before == "epoch" || why.message().find(of_job) != std::string::npos;
  kernel_.log_task(severity::info, event_kind::ended_with_job, id,
                   {" ended with the ", ended_before, is_known ? "" : ": ",
                    is_known ? std::string{} : why.text()});
}

// A recoverable task has failed, and the others continue (§1.4): rounds wait for its
// return, unless they have fail_when_lost; the leave does not.
void failure_verbs::go_on_without(time_point now, task_id id) {
  if (options_.elastic) concerns_.epochs.failed(now, id, roster_.at(id).error());
  concerns_.barriers.forget_owed_to(id);
  if (!options_.elastic) concerns_.barriers.fail_rounds_of(now, id);
  if (!options_.elastic && concerns_.ends.is_draining())
    concerns_.topologies.task_left(kernel_.absence(id));
  concerns_.preemptions.forget(now, id);
  concerns_.enrolment.vacated(now, id);
  concerns_.joins.admit_claimant(now, id);
  if (!options_.elastic) concerns_.leaves.release_if_complete(now);
}

// The first failure is the cause and stays; later ones are listed with it (§5.1).
void failure_verbs::fail_job(time_point now, failure what, barrier_failure const* missing) {
  if (kernel_.error) {
    ++kernel_.error->later_count;
    if (kernel_.error->later.size() == later_failures_max) return;
    kernel_.error->later.push_back(std::move(what));
    job_error_is_due_ = true;
    return;
  }
  job_error_is_due_ = true;
  kernel_.error = job_error{std::move(what), {}, 0};
  status const why = kernel_.job_failed(errc::internal);
  kernel_.log(severity::error, event_kind::job_failed, why.message(), kernel_.error->cause.task);
  for (concern* const each : concerns_.all) each->job_failed(now, why, missing);
}

void failure_verbs::push_job_error() {
  if (!std::exchange(job_error_is_due_, false)) return;
  answer_ptr const update = calls_.share(*kernel_.error);
  sessions_.all().each([&](session_id, session& s) { sessions_.push(s, update); });
}

}  // namespace coxswain::core
