// Tasks: how they leave, for good or to return.

#include "coxswain/core/state.hpp"
#include "coxswain/core/text.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::core {

void coordinator::state::handle(call const& c, leave_args& args) {
  if (!c.task) return refuse(c, not_joined());
  task const& t = roster_.at(*c.task);
  if (args.returning && !t.recoverable) {
    return refuse(c, {errc::invalid_argument,
                      who(*c.task) + " did not join as a recoverable task, so it cannot leave to "
                                     "return: join with recoverable set, or leave for good"});
  }
  bool const alone = error || args.returning || !leaves_together() || args.timeout <= 0s;
  if (alone || t.parted != parting::none) return leave_alone(c, args.returning);
  if (!leave_.is_open()) {
    leave_.open(everyone_, c.now);
    arm_log(leave_alarms_, c.now, {{}, due::leave_log});
  }
  grant* const shared = c.by.guest_of ? grant_of(c.by) : nullptr;
  if (shared) shared->leaving.push_back(c.from);
  if (!shared || !leave_.arrival_of(*c.task)) {
    meeting::arrival a;
    if (!shared) a.who = c.from;
    a.deadline = deadline_after(c.now, args.timeout);
    auto const older = leave_.arrive(*c.task, std::move(a));
    if (older && *older != ticket{}) answer_superseded(*older);
  }
  parked p;
  p.where = parked::place::leave;
  p.task = c.task;
  park(c, std::move(p));
  if (leave_is_complete()) return release_leave(c.now);
  arm_deadline(leave_alarms_, leave_.deadline(), {{}, due::leave});
}

// A task that may come back any time harms nobody by leaving, so nobody needs to wait for it.
bool coordinator::state::leaves_together() const {
  return options.leave_barrier && (options.leave_together || !roster_.all_recoverable());
}

// Without the barrier; it may be the last one for whom others wait.
void coordinator::state::leave_alone(call const& c, bool returning) {
  if (c.by.guest_of) {
    part(c.by, returning);
  } else {
    end_waits(*c.task, parked::place::leave, {errc::cancelled, "the same task asked again"});
    depart(c.now, *c.task, returning || roster_.at(*c.task).parted == parting::returning);
  }
  auto const reply = share(error ? job_failed(errc::failed_precondition) : status{});
  tally.count_request(c.what, reply->outcome.code());
  sessions_.reply(c.from, reply, true, true);
  if (leave_.is_open() && leave_is_complete()) release_leave(c.now);
}

bool coordinator::state::leave_is_complete() const {
  // Recoverable tasks that have failed are not waited for (semantics D11).
  return leave_.arrived() + roster_.count(task_state::left) + roster_.count(task_state::failed) +
             roster_.parted() ==
         roster_.size();
}

void coordinator::state::release_leave(time_point now) {
  auto const [leaving, tickets] = close_leave();
  for (task_id const id : leaving) depart(now, id);
  answer_all(tickets, share(status{}));
  std::uint32_t const failed = roster_.count(task_state::failed);
  std::string text = "all tasks have left";
  if (failed > 0) text += ", but for " + std::to_string(failed) + " that had failed";
  if (!leave_is_complete()) text = "all tasks are recoverable: nobody waits any longer to leave";
  log(severity::info, event_kind::left, std::move(text));
}

// Gives who departs now, and all who are to be answered: a task whose guests leave stays with its
// holder.
std::pair<std::vector<task_id>, std::vector<ticket>> coordinator::state::close_leave() {
  std::vector<task_id> leaving = leave_.in_order();
  std::vector<ticket> tickets = leave_.tickets();
  leave_.close();
  disarm(leave_alarms_);
  if (grants_.empty()) return {std::move(leaving), std::move(tickets)};
  std::vector<task_id> departing;
  for (std::size_t i = 0; i < leaving.size(); ++i) {
    if (tickets[i] != ticket{}) departing.push_back(leaving[i]);
    take_leaving_guests(leaving[i], tickets);
  }
  std::erase(tickets, ticket{});
  return {std::move(departing), std::move(tickets)};
}

// Those who wanted to leave have left, though not in order: their clients are gone whatever they
// are told (semantics D11).
void coordinator::state::fail_leave(time_point now, answer_ptr const& what) {
  if (!leave_.is_open()) return;
  auto const [leaving, tickets] = close_leave();
  for (task_id const id : leaving) {
    if (roster_.at(id).is_connected()) depart(now, id);
  }
  answer_all(tickets, what);
}

void coordinator::state::abandon_leave(task_id id, ticket asker) {
  if (!leave_.is_open()) return;
  if (auto* const g = grant_of(*sessions_.find(asker.session))) {
    std::erase(g->leaving, asker);
    if (!g->leaving.empty()) return;
    asker = {};
  }
  auto const* const arrival = leave_.arrival_of(id);
  if (!arrival || arrival->who != asker) return;
  leave_.withdraw(id);
  if (leave_.arrived() == 0) close_leave();
}

void coordinator::state::depart(time_point now, task_id id, bool returning) {
  end_reads(id);
  end_waits(id, parked::place::alive, {errc::cancelled, who(id) + " is no longer in the job"});
  end_challenge(id, share(status{errc::aborted, who(id) + " has just left; join again"}));
  bool const returns = returning && !error;
  if (returns) {
    end_waits(id, std::nullopt, {errc::cancelled, who(id) + " has left, and is to return"});
  }
  forget_holder(id);
  roster_.set_state(id, returns ? task_state::returning : task_state::left);
  remove_keys_of(id);
  barriers_.forget_owed_to(id);
  forget_preemption(now, id);
  if (returns) return await_return(now, id);
  log(severity::info, event_kind::left, who(id) + " has left", id);
  plan_review();
  if (error) return;
  fail_rounds_of(now, id);
  leave_exchanges(absence(id));
}

status coordinator::state::absence(task_id id) const {
  task const& t = roster_.at(id);
  if (t.state == task_state::failed) return {errc::internal, has_failed(id)};
  if (t.state == task_state::returning) {
    return {errc::internal, who(id) + " has left, and is to return"};
  }
  if (!t.recoverable) return {errc::internal, who(id) + " has left"};
  return {errc::failed_precondition, "task " + std::to_string(id.value) + " has finished"};
}

// The rounds wait for its next process, unless they said otherwise, as they do after a failure.
void coordinator::state::await_return(time_point now, task_id id) {
  time_point const due_at = deadline_after(now, options.return_timeout);
  deadlines_.arm(roster_.at(id).last->return_due, {due_at, due::task_return, id.value});
  log(severity::info, event_kind::left,
      who(id) + " has left, and is to return within " + in_words(options.return_timeout), id);
  fail_rounds_of(now, id);
}

void coordinator::state::return_due(time_point now, task_id id) {
  task& t = roster_.at(id);
  deadlines_.disarm(t.last->return_due);
  roster_.set_state(id, task_state::failed);
  t.last->failure = {errc::deadline_exceeded,
                     who(id) +
                         " left to return, but none of its processes joined within the "
                         "return timeout of " +
                         in_words(options.return_timeout)};
  log(severity::error, event_kind::failed, who(id) + " failed: " + t.error().text(), id);
  go_on_without(now, id);
}

// The job has failed, or the coordinator stops: nobody may come back.
void coordinator::state::end_returns() {
  for (std::uint32_t i = 0; i < roster_.size() && roster_.count(task_state::returning) > 0; ++i) {
    task& t = roster_.at(task_id{i});
    if (t.state != task_state::returning) continue;
    deadlines_.disarm(t.last->return_due);
    roster_.set_state(task_id{i}, task_state::left);
  }
}

}  // namespace coxswain::core
