#include "coxswain/core/membership/leave_verbs.hpp"

#include "coxswain/base/invariant.hpp"
#include "coxswain/core/concerns.hpp"
#include "coxswain/core/kernel/text.hpp"
#include "coxswain/core/observe/wait_graph.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::core {

leave_verbs::leave_verbs(concerns& all)
    : blocking_concern{all, {operation_id<leave_args>, blocking_calls::wait::for_tasks}} {}

void leave_verbs::job_failed(time_point now, status const& why, barrier_failure const* missing) {
  end_returns();
  fail_leave(now, missing ? make_answer({why, *missing}) : calls_.share(why));
}

void leave_verbs::stopping(time_point now, status const& why) {
  fail_leave(now, calls_.share(why));
  end_returns();
}

void leave_verbs::add_to(wait_graph& g, picture_budget&) const {
  if (leave_.is_open()) g.wait_for_all(leave_.present(), concerns_.missing.from(leave_));
}

void leave_verbs::cancel(ticket who, parked const& p) {
  if (!leave_.is_open()) return;
  if (auto* const g = concerns_.guests.grant_of(*sessions_.find(who.session))) {
    std::erase(g->leaving, who);
    if (!g->leaving.empty()) return;
    who = {};
  }
  auto const* const arrival = leave_.arrival_of(*p.task);
  if (!arrival || arrival->who != who) return;
  auto const* const shared = concerns_.guests.grant_of(host{who.session, *p.task});
  if (shared && !shared->leaving.empty()) {
    meeting::arrival of_guests;
    of_guests.deadline = arrival->deadline;
    leave_.arrive(*p.task, std::move(of_guests));
    return;
  }
  leave_.cancel(*p.task);
  if (leave_.arrived() == 0) close_leave();
}

std::string leave_verbs::missing_text(time_point now, ticket, parked const& p) {
  return concerns_.missing.brief(now, p, leave_);
}

std::string leave_verbs::goal_text(parked const&) const { return "the others to leave"; }

std::string leave_verbs::stuck_text(parked const&) const { return "in the shutdown barrier"; }

std::vector<task_id> leave_verbs::awaited(parked const&) const {
  return concerns_.missing.from(leave_);
}

std::size_t leave_verbs::waiting() const {
  std::size_t leaving = concerns_.guests.count_leaving();
  if (leave_.is_open()) {
    leave_.each([&](task_id, meeting::arrival const& a) { leaving += a.who != ticket{} ? 1 : 0; });
  }
  return leaving;
}

void leave_verbs::check(ticket who, parked const& p) const {
  auto const* const arrival = leave_.is_open() ? leave_.arrival_of(*p.task) : nullptr;
  bool const is_guest = sessions_.find(who.session)->guest_of != nullptr;
  invariant(arrival && (is_guest || arrival->who == who), "a leave has arrived");
}

void leave_verbs::check_invariants() const {
  invariant(leave_.is_open() == leave_alarms_.deadline.armed(), "an open meeting has a deadline");
  invariant(
      !leave_.is_open() || (leave_.arrived() > 0 && leave_alarms_.deadline_at <= leave_.deadline()),
      "an open meeting waits for somebody");
  invariant(!leave_.is_open() || (!leave_is_complete() && leaves_together()),
            "the leave waits for somebody");
  invariant(!error_ || !leave_.is_open(), "nobody waits to leave once the job has failed");
}

std::size_t leave_verbs::armed() const { return leave_alarms_.armed(); }

void leave_verbs::handle(call const& c, leave_args& args) {
  if (!c.task) return calls_.refuse(c, kernel_.not_joined());
  task const& t = roster_.at(*c.task);
  if (args.returning && options_.elastic)
    return calls_.refuse<&reasons::elastic_task_cannot_return>(c);
  if (args.returning && !t.recoverable)
    return calls_.refuse<&reasons::return_needs_recoverable>(c, kernel_.who(*c.task));
  args.timeout = std::min<duration>(args.timeout, options_.leave_timeout_max);
  bool const alone = error_ || args.returning || !leaves_together() || args.timeout <= 0s;
  if (alone || t.detached != detachment::none) return leave_alone(c, args.returning);
  if (!leave_.is_open()) {
    leave_.open(kernel_.everyone, c.now);
    kernel_.arm_log(leave_alarms_, c.now, {{}, due::leave_log});
  }
  arrive(c, args);
  calls_.park(c, *this, {});
  if (leave_is_complete()) return release_leave(c.now);
  kernel_.arm_deadline(leave_alarms_, deadline_after(c.now, args.timeout), {{}, due::leave});
}

// The task and its guests share one arrival, and so the earliest of their deadlines.
void leave_verbs::arrive(call const& c, leave_args const& args) {
  bool const is_guest = c.by.guest_of != nullptr;
  grant* const shared = is_guest ? concerns_.guests.grant_of(c.by)
                                 : concerns_.guests.grant_of(host{c.from.session, *c.task});
  meeting::arrival a;
  a.deadline = deadline_after(c.now, args.timeout);
  if (is_guest) shared->leaving.push_back(c.from);
  if (!is_guest) a.who = c.from;
  if (auto const* const before = leave_.arrival_of(*c.task)) {
    if (is_guest) a.who = before->who;
    if (shared && !shared->leaving.empty()) a.deadline = std::min(a.deadline, before->deadline);
  }
  ticket const now_is = a.who;
  auto const older = leave_.arrive(*c.task, std::move(a));
  if (older && *older != ticket{} && *older != now_is) calls_.answer_superseded(*older);
}

// A task that can return at any time harms no other by leaving, so no task needs to wait for it.
bool leave_verbs::leaves_together() const {
  return options_.leave_barrier &&
         (options_.leave_together || options_.elastic || !roster_.all_recoverable());
}

// Without the barrier; it may be the last one for which others wait.
void leave_verbs::leave_alone(call const& c, bool returning) {
  if (c.by.guest_of) {
    concerns_.guests.part(c.by, returning);
  } else {
    calls_.end_waits(*c.task, *this, fail<&reasons::superseded>());
    depart(c.now, *c.task, returning || roster_.at(*c.task).detached == detachment::returning);
  }
  auto const reply =
      calls_.share(error_ ? kernel_.job_failed(errc::failed_precondition) : status{});
  kernel_.tally.count_request(c.what, reply->outcome.code());
  sessions_.reply(c.from, reply, true, true);
  release_if_complete(c.now);
}

bool leave_verbs::leave_is_complete() const {
  // Recoverable tasks that have failed are not waited for (§1.3), nor those that may not join.
  std::uint32_t const refused =
      concerns_.ends.is_draining() ? roster_.count(task_state::never_connected) : 0;
  return leave_.arrived() + roster_.count(task_state::left) + roster_.count(task_state::failed) +
             roster_.detached() + refused ==
         roster_.size();
}

void leave_verbs::release_if_complete(time_point now) {
  if (leave_.is_open() && leave_is_complete()) release_leave(now);
}

void leave_verbs::release_leave(time_point now) {
  auto const [leaving, tickets] = close_leave();
  for (task_id const id : leaving) depart(now, id);
  calls_.answer_all(tickets, calls_.share(status{}));
  std::uint32_t const failed = roster_.count(task_state::failed);
  std::string text = "all tasks have left";
  if (failed > 0) text += ", except " + std::to_string(failed) + " that had failed";
  if (!leave_is_complete())
    text = "all tasks are recoverable: they leave without waiting for each other";
  kernel_.log(severity::info, event_kind::left, std::move(text));
}

// Returns the tasks that depart now, and all calls to answer: a task whose guests leave stays with
// its holder.
std::pair<std::vector<task_id>, std::vector<ticket>> leave_verbs::close_leave() {
  std::vector<task_id> leaving = leave_.in_order();
  std::vector<ticket> tickets = leave_.tickets();
  leave_.close();
  kernel_.disarm(leave_alarms_);
  if (concerns_.guests.empty()) return {std::move(leaving), std::move(tickets)};
  std::vector<task_id> departing;
  for (std::size_t i = 0; i < leaving.size(); ++i) {
    if (tickets[i] != ticket{}) departing.push_back(leaving[i]);
    concerns_.guests.take_leaving_guests(leaving[i], tickets);
  }
  std::erase(tickets, ticket{});
  return {std::move(departing), std::move(tickets)};
}

// The waiting tasks have left, though not in order: their clients end regardless of the reply
// (§1.3).
void leave_verbs::fail_leave(time_point now, answer_ptr const& what) {
  if (!leave_.is_open()) return;
  auto const [leaving, tickets] = close_leave();
  for (task_id const id : leaving) {
    if (roster_.at(id).is_connected()) depart(now, id);
  }
  calls_.answer_all(tickets, what);
}

void leave_verbs::end_open(status const& why) {
  if (!leave_.is_open()) return;
  for (task_id const id : leave_.present()) calls_.end_waits(id, *this, why);
}

void leave_verbs::depart(time_point now, task_id id, bool returning) {
  calls_.end_own_waits(id);
  calls_.end_waits(id, concerns_.alive, fail<&reasons::no_longer_in_job>(kernel_.who(id)));
  calls_.end_waits(id, concerns_.epochs, fail<&reasons::no_longer_in_job>(kernel_.who(id)));
  concerns_.joins.answer_claimants(id,
                                   calls_.share(fail<&reasons::has_just_left>(kernel_.who(id))));
  bool const returns = returning && !error_ && !concerns_.ends.is_draining();
  if (returns) {
    calls_.end_waits(id, fail_as<&reasons::task_returns>(errc::cancelled, kernel_.who(id)));
  } else if (options_.elastic) {  // else its rounds fail below
    calls_.end_waits_except(id, *this,
                            fail_as<&reasons::task_has_left>(errc::cancelled, kernel_.who(id)));
  }
  concerns_.joins.forget_holder(id);
  roster_.set_state(id, returns ? task_state::returning : task_state::left);
  concerns_.keys.remove_keys_of(id);
  concerns_.barriers.forget_owed_to(id);
  concerns_.preemptions.forget(now, id);
  if (returns) return await_return(now, id);
  kernel_.log_task(severity::info, event_kind::left, id, {" has left"});
  concerns_.epochs.left(id);
  concerns_.why.plan_review();
  // The calls of the other members of an epoch end with it, as after a failure.
  if (error_ || options_.elastic) return;
  concerns_.barriers.fail_rounds_of(now, id);
  concerns_.topologies.task_left(kernel_.absence(id));
}

// Rounds wait for its next process, unless they have fail_when_lost, as after a failure.
void leave_verbs::await_return(time_point now, task_id id) {
  time_point const due_at = deadline_after(now, options_.return_timeout);
  deadlines_.arm(roster_.at(id).last->return_due, {due_at, due::task_return, id.value});
  kernel_.log_task(
      severity::info, event_kind::left, id,
      {" has left; expected back ", options_.return_timeout == without_limit ? "" : "within ",
       in_words(options_.return_timeout)});
  concerns_.barriers.fail_rounds_of(now, id);
}

void leave_verbs::return_due(time_point now, task_id id) {
  task& t = roster_.at(id);
  deadlines_.disarm(t.last->return_due);
  time_point const earliest = concerns_.restarts.grace_end();
  if (earliest > now) {
    return deadlines_.arm(t.last->return_due, {earliest, due::task_return, id.value});
  }
  roster_.set_state(id, task_state::failed);
  t.last->failure = fail<&reasons::did_not_return>(kernel_.who(id), options_.return_timeout);
  kernel_.log_task(severity::error, event_kind::failed, id, {" failed: ", t.error().text()});
  concerns_.failures.go_on_without(now, id);
}

// The job has failed or drains, or the coordinator stops.
void leave_verbs::end_returns() {
  for (std::uint32_t i = 0; i < roster_.size() && roster_.count(task_state::returning) > 0; ++i) {
    task& t = roster_.at(task_id{i});
    if (t.state != task_state::returning) continue;
    deadlines_.disarm(t.last->return_due);
    roster_.set_state(task_id{i}, task_state::left);
  }
}

void leave_verbs::leave_due(time_point now, due_item const& item) {
  deadlines_.disarm(leave_alarms_.deadline);
  // The call with the earliest deadline may have been cancelled.
  if (leave_.deadline() > now) return kernel_.arm_deadline(leave_alarms_, leave_.deadline(), item);
  kernel_.note_lateness(now - item.when);
  barrier_failure f = concerns_.missing.describe(now, leave_, {});
  std::string const text = concerns_.missing.timed_out(now, leave_, "Shutdown barrier", f);
  kernel_.log(severity::error, event_kind::round_failed, text);
  concerns_.failures.fail_job(now, {f.known.front().task, {errc::internal, text}}, &f);
}

void leave_verbs::log_due(time_point now, due_item const& item) {
  kernel_.arm_log(leave_alarms_, now, item);
  barrier_failure const f = concerns_.missing.describe(now, leave_, {});
  kernel_.log(severity::warning, event_kind::waiting,
              "Shutdown barrier has waited for " + in_words(now - leave_.opened()) + ": " +
                  concerns_.missing.text(now, f));
}

}  // namespace coxswain::core
