// Tasks: how they join and leave.

#include "coxswain/core/state.hpp"
#include "coxswain/core/text.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::core {
namespace {

// A holder must have some time to show that it lives, also where lost connections get none.
constexpr duration probe_min = 1s;

}  // namespace

// "task 12 (b12:3391)"
std::string coordinator::state::who(task_id id) const {
  std::string text = "task " + std::to_string(id.value);
  std::string const& label = from_of(roster_.at(id)).label();
  if (!label.empty()) text += " (" + label + ")";
  return text;
}

// Of who holds it, or held it last.
origin const& coordinator::state::from_of(task const& t) const {
  static origin const nowhere;
  if (session const* const s = sessions_.find(t.held_by)) return s->from;
  return t.last ? t.last->from : nowhere;
}

bool coordinator::state::is_suspect(task const& t) const {
  session const* const s = sessions_.find(t.held_by);
  return s && s->attached == connection_id{};
}

std::optional<time_point> coordinator::state::last_heard(task const& t) const {
  session const* const s = sessions_.find(t.held_by);
  if (s) return s->heard.since;
  return t.last ? t.last->heard : std::nullopt;
}

// --- Join ------------------------------------------------------------------------------------

void coordinator::state::handle(call const& c, join_args& args) {
  if (!c.task) return refuse(c, {errc::invalid_argument, "a Join must name its task"});
  bool const names_job = sessions_.find(c.from.session)->names_job;
  if (!names_job && options.job != job_default) {
    return refuse(c, {errc::failed_precondition, another_job(job_default, options.job)});
  }
  task& t = roster_.at(*c.task);
  if (error) return refuse(c, job_failed(errc::aborted));
  if (c.by.guest_of) {
    if (t.is_connected()) {
      c.by.guest_of->is_member = true;
      roster_.set_parted(*c.task, false);
      return answer_now(c, share(join_answer{t.came_late}), true);
    }
    args.self = t.self;
    args.recoverable = t.recoverable;
    args.take_over = false;
  }
  if (args.take_over && !is_recoverable(args)) {
    return refuse(c, {errc::invalid_argument, "only a recoverable task may take over, and " +
                                                  who(*c.task) + " does not join as one"});
  }
  if (t.state == task_state::failed && t.self == args.self) {
    return refuse(c, {errc::aborted,
                      has_failed(*c.task) + "; to join again, reset it or restart its process"});
  }
  if (t.is_connected()) {
    if (t.self != args.self) return challenge(c, args);
    // The same process again: its reply was lost together with its session.
    if (t.held_by != c.from.session) move_holder(c, args);
    answer_now(c, share(join_answer{true}), true);
    return tell_agreement(c.by);
  }
  if (t.state == task_state::joining) {
    ticket const older = join_.arrival_of(*c.task)->who;
    bool const is_newer = t.self != args.self;
    answer_parked(older, share(is_newer ? status{errc::already_exists,
                                                 "a newer incarnation of task " +
                                                     std::to_string(c.task->value) + " joins"}
                                        : status{errc::cancelled, "the same task asked again"}));
  }
  enter(c, args);
}

void coordinator::state::hold(call const& c, join_args const& args) {
  task& t = roster_.at(*c.task);
  if (t.self != args.self) {
    t.blocked.renew();
    t.progress.reset();
  }
  t.self = args.self;
  t.held_by = c.by.guest_of ? c.by.guest_of->of.holder : c.from.session;
  session& by = *sessions_.find(t.held_by);
  t.place = static_cast<std::uint32_t>(by.tasks.size());
  by.tasks.push_back(*c.task);
  std::erase(by.replaced, *c.task);
  auto const before = std::exchange(t.last, nullptr);
  session* const last = before ? sessions_.find(before->session) : nullptr;
  if (last && last != &by) last->replaced.push_back(*c.task);
}

// Another session acts for the task from now on. The old one's calls for it end here, so that they
// cannot be taken back in its name later.
void coordinator::state::move_holder(call const& c, join_args const& args) {
  end_waits(*c.task, std::nullopt,
            {errc::aborted, who(*c.task) + " is held by another session: this one was replaced"});
  holder_lives(*c.task);
  forget_holder(*c.task);
  hold(c, args);
  watch_progress(*c.task);
  roster_.changed();
}

bool coordinator::state::is_recoverable(join_args const& args) const {
  return args.recoverable.value_or(options.recoverable);
}

void coordinator::state::enter(call const& c, join_args const& args) {
  hold(c, args);
  task& t = roster_.at(*c.task);
  t.recoverable = is_recoverable(args);
  t.came_late = job_started_;
  if (c.by.guest_of) c.by.guest_of->is_member = true;
  if (job_started_ || !options.join_barrier) {
    connect(*c.task);
    log(severity::info, event_kind::joined,
        who(*c.task) + " from " + c.by.from.peer() + " has joined", c.task);
    answer_now(c, share(join_answer{job_started_}), true);
    tell_agreement(*sessions_.find(t.held_by));
    return plan_agreement(c.now);
  }
  roster_.set_state(*c.task, task_state::joining);
  if (!join_.is_open()) {
    join_.open(everyone_, c.now);
    arm_log(join_alarms_, c.now, {{}, due::join_log});
  }
  meeting::arrival a;
  a.who = c.from;
  a.deadline = deadline_after(c.now, args.timeout);
  join_.arrive(*c.task, std::move(a));
  parked p;
  p.where = parked::place::join;
  p.task = c.task;
  park(c, std::move(p));
  log(severity::info, event_kind::joining,
      who(*c.task) + " from " + c.by.from.peer() + " joins, " + std::to_string(join_.arrived()) +
          " of " + std::to_string(roster_.size()) + " are here",
      c.task);
  if (join_.complete()) return release_join(c.now);
  arm_deadline(join_alarms_, deadline_after(c.now, args.timeout), {{}, due::join});
}

void coordinator::state::connect(task_id id) { roster_.set_state(id, task_state::connected); }

void coordinator::state::release_join(time_point now) {
  std::vector<task_id> const joined = join_.in_order();
  std::vector<ticket> const tickets = join_.tickets();
  close_join();
  job_started_ = true;
  for (task_id const id : joined) connect(id);
  log(severity::info, event_kind::joined,
      "all " + std::to_string(roster_.size()) + " tasks have joined");
  answer_all(tickets, share(join_answer{false}));
  plan_agreement(now);
}

// It rarely opens again, so its memory goes.
void coordinator::state::close_join() {
  join_ = meeting{};
  disarm(join_alarms_);
}

// A failed join leaves nobody in error: all may try again (semantics D10).
void coordinator::state::fail_join(answer_ptr const& what) {
  if (join_.is_open()) answer_all(join_.tickets(), what);
}

// The request no longer waits to join: as the joining task itself, which may have joined by now, or
// as a challenger of one that is connected.
void coordinator::state::abandon_join(task_id id, ticket asker) {
  task& t = roster_.at(id);
  if (t.state != task_state::joining) {
    if (!t.challenge) return;
    std::erase_if(t.challenge->by, [&](challenger const& one) { return one.who == asker; });
    if (!t.challenge->by.empty()) return;
    end_probe(id);
    t.challenge.reset();
    return;
  }
  forget_holder(id);
  roster_.set_state(id, task_state::never_connected);
  join_.withdraw(id);
  if (join_.arrived() == 0) close_join();
}

// Another process says that it is a task which somebody holds (semantics D10): the holder is asked
// for a sign of life, unless it is known to have none, or need not be asked.
void coordinator::state::challenge(call const& c, join_args const& args) {
  task& t = roster_.at(*c.task);
  log(severity::warning, event_kind::challenged,
      who(*c.task) + " is asked for by another incarnation, from " + c.by.from.peer(), c.task);
  if (args.take_over && !t.recoverable) {
    return refuse(
        c, {errc::invalid_argument, who(*c.task) + " did not join as a recoverable task, so it "
                                                   "cannot be taken over"});
  }
  parked p;
  p.where = parked::place::join;
  p.task = c.task;
  arm_call(c, p, args.timeout);
  park(c, std::move(p));
  if (!t.challenge) t.challenge = std::make_unique<core::challenge>();
  t.challenge->by.push_back({c.from, args});
  std::string const newcomer = "a new incarnation (" + std::to_string(args.self.value) + ")";
  if (args.take_over) return replace(c.now, *c.task, {errc::aborted, newcomer + " took over"});
  if (is_suspect(t)) {
    return replace(c.now, *c.task,
                   {errc::aborted, newcomer + " joined while its connection was lost"});
  }
  if (t.is_probed()) return;
  t.challenge->probed = alive_since(c.now);
  arm_probe(deadline_after(c.now, probe_time()), *c.task);
  session& holder = *sessions_.find(t.held_by);
  ++holder.probed;
  sessions_.push(holder, share(probe{}));
}

duration coordinator::state::probe_time() const {
  return std::max(options.reconnect_grace, probe_min);
}

void coordinator::state::arm_probe(time_point when, task_id id) {
  deadlines_.arm(roster_.at(id).challenge->probe, {when, due::probe, id.value});
}

void coordinator::state::probe_due(time_point now, task_id id) {
  task& t = roster_.at(id);
  time_point const verdict = credited(t.challenge->probed, probe_time());
  if (verdict > now) return arm_probe(verdict, id);
  if (is_held_back(*sessions_.find(t.held_by))) {
    return arm_probe(deadline_after(now, probe_time()), id);
  }
  replace(now, id,
          {errc::unavailable, "it gave no sign of life when another incarnation asked to join"});
}

// The holder was not read since then.
void coordinator::state::postpone_probe(time_point now, liveness const& since, task_id id) {
  task& t = roster_.at(id);
  if (!t.is_probed()) return;
  t.challenge->probed.leave_out(since, alive_since(now));
  arm_probe(credited(t.challenge->probed, probe_time()), id);
}

// The holder has failed, and if it is recoverable its challenger takes the place.
void coordinator::state::replace(time_point now, task_id id, status why) {
  if (roster_.at(id).recoverable) {
    end_waits(id, std::nullopt, {errc::aborted, who(id) + " was replaced by a new incarnation"});
  }
  fail_task(now, id, std::move(why));
}

// The newest newcomer joins in place of the holder, which has failed.
void coordinator::state::admit_challenger(time_point now, task_id id) {
  task& t = roster_.at(id);
  if (!t.challenge) return;
  challenger const newest = t.challenge->by.back();
  release(newest.who);
  end_challenge(id, share(status{errc::already_exists, "a newer incarnation of task " +
                                                           std::to_string(id.value) + " joins"}));
  session& by = *sessions_.find(newest.who.session);
  enter({now, newest.who, by, id, operation_of<join_args>}, newest.asked);
}

void coordinator::state::holder_lives(task_id id) {
  end_challenge(id,
                share(status{errc::aborted, who(id) + " is alive in another incarnation, from " +
                                                from_of(roster_.at(id)).peer() +
                                                "; two processes have the same task id"}));
}

// All who ask to take the task's place are answered.
void coordinator::state::end_challenge(task_id id, answer_ptr const& what) {
  task const& t = roster_.at(id);
  if (!t.challenge) return;
  end_probe(id);
  std::vector<ticket> asking;
  for (challenger const& one : t.challenge->by) asking.push_back(one.who);
  answer_all(asking, what);
}

// The holder owes no sign of life any more.
void coordinator::state::end_probe(task_id id) {
  task& t = roster_.at(id);
  if (!t.is_probed()) return;
  deadlines_.disarm(t.challenge->probe);
  --sessions_.find(t.held_by)->probed;
}

// --- Leave -----------------------------------------------------------------------------------

void coordinator::state::handle(call const& c, leave_args& args) {
  if (!c.task) return refuse(c, not_joined());
  bool const alone = error || !options.leave_barrier || args.timeout <= 0s;
  if (alone || roster_.at(*c.task).parted) return leave_alone(c);
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

// Without the barrier; it may be the last one for whom others wait.
void coordinator::state::leave_alone(call const& c) {
  if (c.by.guest_of) {
    part(c.by);
  } else {
    end_waits(*c.task, parked::place::leave, {errc::cancelled, "the same task asked again"});
    depart(c.now, *c.task);
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
  log(severity::info, event_kind::left,
      failed == 0 ? "all tasks have left"
                  : "all tasks have left, but for " + std::to_string(failed) + " that had failed");
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

void coordinator::state::depart(time_point now, task_id id) {
  end_reads(id);
  end_waits(id, parked::place::alive, {errc::cancelled, who(id) + " is no longer in the job"});
  end_challenge(id, share(status{errc::aborted, who(id) + " has just left; join again"}));
  forget_holder(id);
  roster_.set_state(id, task_state::left);
  remove_keys_of(id);
  barriers_.forget_owed_to(id);
  forget_preemption(now, id);
  log(severity::info, event_kind::left, who(id) + " has left", id);
  plan_review();
  if (error) return;
  fail_rounds_of(now, id, who(id) + " left");
  leave_exchanges(id);
}

// --- Deadlines of both -----------------------------------------------------------------------

void coordinator::state::meeting_due(time_point now, due_item const& item) {
  bool const is_join = item.what == due::join;
  meeting const& m = is_join ? join_ : leave_;
  alarms& of = is_join ? join_alarms_ : leave_alarms_;
  deadlines_.disarm(of.deadline);
  // Who wanted it so early may have withdrawn.
  if (m.deadline() > now) return arm_deadline(of, m.deadline(), item);
  note_lateness(now - item.when);
  barrier_failure f = describe(now, m, {});
  std::string const text = timed_out(now, m, is_join ? "Join of the job" : "Shutdown barrier", f);
  log(severity::error, event_kind::round_failed, text);
  if (!is_join) return fail_job(now, {std::nullopt, status{errc::deadline_exceeded, text}});
  fail_join(make_answer({status{errc::deadline_exceeded, text}, std::move(f)}));
}

void coordinator::state::log_meeting(time_point now, due_item const& item) {
  bool const is_join = item.what == due::join_log;
  meeting const& m = is_join ? join_ : leave_;
  arm_log(is_join ? join_alarms_ : leave_alarms_, now, item);
  log(severity::warning, event_kind::waiting,
      std::string{is_join ? "Join of the job" : "Shutdown barrier"} + " has waited for " +
          in_words(now - m.opened()) + ": " + missing_text(now, describe(now, m, {})));
}

}  // namespace coxswain::core
