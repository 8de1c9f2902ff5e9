// Tasks: how they join, and the deadlines of the join and of the leave.

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

// "task 12 (b12:3391)", "tasks 0-3 (b12:3391)", "a program of task 12 (b12:3391)" or "client
// b12:3391".
std::string coordinator::state::whose(session const& s) const {
  std::string const label = s.from.label().empty() ? s.from.peer() : s.from.label();
  if (s.guest_of) return "a program of " + who(s.guest_of->of.task);
  if (s.tasks.empty()) return "client " + label;
  if (s.tasks.size() == 1) return who(s.tasks.front());
  std::vector<task_id> sorted = s.tasks;
  std::sort(sorted.begin(), sorted.end());
  return "tasks " + ranges(sorted).text + " (" + label + ")";
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
      roster_.set_parted(*c.task, parting::none);
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
  if (t.last) deadlines_.disarm(t.last->return_due);
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
  roster_.set_recoverable(*c.task, is_recoverable(args));
  t.came_late = job_started_;
  if (c.by.guest_of) c.by.guest_of->is_member = true;
  if (job_started_ || !options.join_barrier) {
    connect(*c.task);
    log(severity::info, event_kind::joined,
        who(*c.task) + " from " + c.by.from.peer() + " has joined", c.task);
    answer_now(c, share(join_answer{job_started_}), true);
    tell_agreement(*sessions_.find(t.held_by));
    plan_agreement(c.now);
    // It may have been the last one that was not recoverable.
    if (leave_.is_open() && !leaves_together()) release_leave(c.now);
    return;
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
                   {errc::aborted,
                    newcomer + " joined while the connection of " + who(*c.task) + " was lost"});
  }
  if (t.is_probed()) return;
  t.challenge->probed = alive_since(c.now);
  arm_probe(deadline_after(c.now, probe_time()), *c.task);
  session& holder = *sessions_.find(t.held_by);
  ++holder.probed;
  sessions_.push(holder, share(probe{}));
}

duration coordinator::state::probe_time() const {
  return std::max<duration>(options.reconnect_grace, probe_min);
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
          {errc::unavailable,
           "no heartbeat from " + who(id) + " when another incarnation asked to join"});
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

// --- Deadlines of both -----------------------------------------------------------------------

void coordinator::state::meeting_due(time_point now, due_item const& item) {
  bool const is_join = item.what == due::join;
  meeting const& m = is_join ? join_ : leave_;
  alarms& of = is_join ? join_alarms_ : leave_alarms_;
  deadlines_.disarm(of.deadline);
  // The call with the earliest deadline may have been withdrawn.
  if (m.deadline() > now) return arm_deadline(of, m.deadline(), item);
  note_lateness(now - item.when);
  barrier_failure f = describe(now, m, {});
  std::string const text = timed_out(now, m, is_join ? "Join of the job" : "Shutdown barrier", f);
  log(severity::error, event_kind::round_failed, text);
  if (!is_join) return fail_job(now, {f.known.front().task, {errc::internal, text}}, f);
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
