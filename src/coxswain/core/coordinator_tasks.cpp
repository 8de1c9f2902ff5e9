// Tasks: how they join and leave, and everything that follows when one fails.

#include "coxswain/core/state.hpp"
#include "coxswain/core/text.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::core {
namespace {

constexpr std::size_t later_failures_max = 64;

// A holder must have some time to show that it lives, also where lost connections get none.
constexpr duration probe_min = 1s;

}  // namespace

// "task 12 (b12:3391)"
std::string coordinator::state::who(task_id id) const {
  std::string text = "task " + std::to_string(id.value);
  task const& t = roster_.at(id);
  if (!t.label.empty()) text += " (" + t.label + ")";
  return text;
}

status coordinator::state::job_failed(errc code) const {
  failure const& cause = error->cause;
  std::string text = "the job has failed: ";
  if (cause.task) text += who(*cause.task) + " failed: ";
  return {code, text + cause.why.text()};
}

bool coordinator::state::is_suspect(task const& t) const {
  session const* const s = sessions_.find(t.held_by);
  return s && s->attached == connection_id{};
}

std::optional<time_point> coordinator::state::last_heard(task const& t) const {
  session const* const s = sessions_.find(t.held_by);
  return s ? s->heard.since : t.last_heard;
}

// --- Join ------------------------------------------------------------------------------------

void coordinator::state::handle(call const& c, join_args& args) {
  if (!c.task) return refuse(c, {errc::invalid_argument, "a Join must name its task"});
  task& t = roster_.at(*c.task);
  if (error) return refuse(c, job_failed(errc::aborted));
  if (t.is_connected()) {
    if (t.self != args.self) return challenge(c, args);
    // The same process again: its reply was lost together with its session.
    if (t.held_by != c.from.session) {
      withdraw_calls_of(*c.task);
      forget_holder(*c.task);
      hold(c, args);
    }
    return answer_now(c, share(join_answer{true}), true);
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
  t.self = args.self;
  t.held_by = c.from.session;
  t.label = c.by.label;
  t.peer = c.by.peer;
  c.by.tasks.push_back(*c.task);
}

void coordinator::state::enter(call const& c, join_args const& args) {
  hold(c, args);
  if (job_started_ || !options.join_barrier) {
    connect(*c.task);
    log(severity::info, who(*c.task) + " from " + c.by.peer + " has joined");
    return answer_now(c, share(join_answer{job_started_}), true);
  }
  roster_.set_state(*c.task, task_state::joining);
  if (!join_.is_open()) join_.open(everyone_, c.now);
  meeting::arrival a;
  a.who = c.from;
  a.deadline = deadline_after(c.now, args.timeout);
  join_.arrive(*c.task, std::move(a));
  parked p;
  p.where = parked::place::join;
  p.task = c.task;
  sessions_.park(c.by, c.from.request, std::move(p));
  log(severity::info, who(*c.task) + " from " + c.by.peer + " joins, " +
                          std::to_string(join_.arrived()) + " of " +
                          std::to_string(roster_.size()) + " are here");
  if (join_.complete()) return release_join();
  deadlines_.arm(join_alarm_, {join_.deadline(), due::join});
}

void coordinator::state::connect(task_id id) {
  roster_.set_state(id, task_state::connected);
  roster_.at(id).error = {};
}

void coordinator::state::release_join() {
  std::vector<task_id> const joined = join_.in_order();
  std::vector<ticket> const tickets = join_.tickets();
  close_join();
  job_started_ = true;
  for (task_id const id : joined) connect(id);
  log(severity::info, "all " + std::to_string(roster_.size()) + " tasks have joined");
  answer_all(tickets, share(join_answer{false}));
}

void coordinator::state::close_join() {
  join_.close();
  deadlines_.disarm(join_alarm_);
}

// A failed join leaves nobody in error: all may try again (semantics D10).
void coordinator::state::fail_join(answer_ptr const& what) {
  if (join_.is_open()) answer_all(join_.tickets(), what);
}

// The request no longer waits to join: as the joining task itself, or as a challenger of one that
// is connected.
void coordinator::state::abandon_join(task_id id, ticket asker) {
  task& t = roster_.at(id);
  if (t.state != task_state::joining) {
    std::erase(t.challengers, asker);
    return;
  }
  forget_holder(id);
  roster_.set_state(id, task_state::never_connected);
  join_.withdraw(id);
  if (join_.arrived() == 0) return close_join();
  deadlines_.arm(join_alarm_, {join_.deadline(), due::join});
}

// Another process says that it is a task which somebody holds (semantics D10): the holder is asked
// for a sign of life.
void coordinator::state::challenge(call const& c, join_args const& args) {
  task& t = roster_.at(*c.task);
  log(severity::warning, who(*c.task) + " is asked for by another incarnation, from " + c.by.peer);
  if (is_suspect(t)) {
    fail_task(c.now, *c.task,
              {errc::aborted, "a new incarnation (" + std::to_string(args.self.value) +
                                  ") joined while its connection was lost"});
    return refuse(c, job_failed(errc::aborted));
  }
  parked p;
  p.where = parked::place::join;
  p.task = c.task;
  sessions_.park(c.by, c.from.request, std::move(p));
  t.challengers.push_back(c.from);
  if (t.probe.armed()) return;
  time_point const verdict = deadline_after(c.now, std::max(options.reconnect_grace, probe_min));
  deadlines_.arm(t.probe, {verdict, due::probe, c.task->value});
  sessions_.push(*sessions_.find(t.held_by), share(probe{}));
}

void coordinator::state::resolve_challenge(time_point now, task_id id, bool holder_lives) {
  task& t = roster_.at(id);
  deadlines_.disarm(t.probe);
  if (!holder_lives) {
    // Its challengers are answered with the failure of the job.
    return fail_task(
        now, id,
        {errc::unavailable, "it gave no sign of life when another incarnation asked to join"});
  }
  answer_all(std::vector{t.challengers},
             share(status{errc::aborted, who(id) + " is alive in another incarnation, from " +
                                             t.peer + "; two processes have the same task id"}));
}

// --- Leave -----------------------------------------------------------------------------------

void coordinator::state::handle(call const& c, leave_args& args) {
  if (!c.task) return refuse(c, not_joined());
  if (error) {
    depart(c.now, *c.task);
    return sessions_.reply(c.from, share(job_failed(errc::failed_precondition)), true, true);
  }
  if (!options.leave_barrier) {
    depart(c.now, *c.task);
    return sessions_.reply(c.from, share(status{}), true, true);
  }
  if (!leave_.is_open()) leave_.open(everyone_, c.now);
  meeting::arrival a;
  a.who = c.from;
  a.deadline = deadline_after(c.now, args.timeout);
  if (auto const older = leave_.arrive(*c.task, std::move(a))) {
    answer_superseded(*older);
  }
  parked p;
  p.where = parked::place::leave;
  p.task = c.task;
  sessions_.park(c.by, c.from.request, std::move(p));
  if (leave_.arrived() + roster_.count(task_state::left) == roster_.size()) {
    return release_leave(c.now);
  }
  deadlines_.arm(leave_alarm_, {leave_.deadline(), due::leave});
}

void coordinator::state::release_leave(time_point now) {
  std::vector<task_id> const leaving = leave_.in_order();
  std::vector<ticket> const tickets = leave_.tickets();
  close_leave();
  for (task_id const id : leaving) depart(now, id);
  answer_all(tickets, share(status{}));
  log(severity::info, "all tasks have left");
}

void coordinator::state::close_leave() {
  leave_.close();
  deadlines_.disarm(leave_alarm_);
}

// Those who wanted to leave have left, though not in order: their clients are gone whatever they
// are told (semantics D11).
void coordinator::state::fail_leave(time_point now, answer_ptr const& what) {
  if (!leave_.is_open()) return;
  std::vector<task_id> const leaving = leave_.in_order();
  std::vector<ticket> const tickets = leave_.tickets();
  close_leave();
  for (task_id const id : leaving) depart(now, id);
  answer_all(tickets, what);
}

void coordinator::state::abandon_leave(task_id id) {
  if (!leave_.is_open()) return;
  leave_.withdraw(id);
  if (leave_.arrived() == 0) return close_leave();
  deadlines_.arm(leave_alarm_, {leave_.deadline(), due::leave});
}

void coordinator::state::depart(time_point now, task_id id) {
  withdraw_calls_of(id);
  forget_holder(id);
  roster_.set_state(id, task_state::left);
  log(severity::info, who(id) + " has left");
  if (!error) fail_rounds_of(now, id, who(id) + " left");
}

// --- Deadlines of both -----------------------------------------------------------------------

void coordinator::state::meeting_due(time_point now, due_item const& item) {
  lateness_.record(now - item.when);
  bool const is_join = item.what == due::join;
  meeting const& m = is_join ? join_ : leave_;
  barrier_failure f = describe(now, m, {});
  std::string const text = timed_out(now, m, is_join ? "Join of the job" : "Shutdown barrier", f);
  log(severity::error, text);
  if (is_join) {
    deadlines_.disarm(join_alarm_);
    auto const what =
        std::make_shared<answer const>(answer{status{errc::deadline_exceeded, text}, std::move(f)});
    return fail_join(what);
  }
  deadlines_.disarm(leave_alarm_);
  fail_job(now, {std::nullopt, status{errc::deadline_exceeded, text}});
}

// --- Failure ---------------------------------------------------------------------------------

void coordinator::state::handle(call const& c, report_error_args& args) {
  if (!c.task) return refuse(c, not_joined());
  if (args.what.ok()) return refuse(c, {errc::invalid_argument, "an error cannot have code 0"});
  fail_task(c.now, *c.task, std::move(args.what));
  answer_now(c, share(status{}), true);
}

void coordinator::state::task_ended(time_point now, task_id id, status why) {
  observe(now);
  if (!roster_.has(id)) return;
  fail_task(now, id, std::move(why));
  tell_job_error();
}

// What follows from the failure of a task, in order.
void coordinator::state::fail_task(time_point now, task_id id, status why) {
  task& t = roster_.at(id);
  if (t.state == task_state::failed || t.state == task_state::left) return;
  log(severity::error, who(id) + " failed: " + why.text());
  if (t.state == task_state::joining) {
    answer_parked(join_.arrival_of(id)->who, share(status{errc::aborted, why.message()}));
  }
  withdraw_calls_of(id);
  forget_holder(id);
  roster_.set_state(id, task_state::failed);
  t.error = why;
  fail_job(now, {id, std::move(why)});
  deadlines_.disarm(t.probe);
  answer_all(std::vector{t.challengers}, share(job_failed(errc::aborted)));
}

// The first failure is the cause and stays; later ones are listed with it (semantics D19).
void coordinator::state::fail_job(time_point now, failure what) {
  job_error_news_ = true;
  if (error) {
    if (error->later.size() < later_failures_max) error->later.push_back(std::move(what));
    return;
  }
  error = job_error{std::move(what), {}};
  status const why = job_failed(errc::internal);
  log(severity::error, why.message());
  fail_all_rounds(now, why);
  barriers_.forget_owed();
  fail_leave(now, share(why));
  fail_join(share(why));
  answer_all(keys_.take_all_waiters(), share(status{errc::cancelled, why.message()}));
}

void coordinator::state::tell_job_error() {
  if (!std::exchange(job_error_news_, false)) return;
  answer_ptr const news = share(*error);
  sessions_.all().each([&](session_id, session& s) { sessions_.push(s, news); });
}

// The task's session no longer acts for it.
void coordinator::state::forget_holder(task_id id) {
  task& t = roster_.at(id);
  if (session* const s = sessions_.find(t.held_by)) {
    t.last_heard = s->heard.since;
    std::erase(s->tasks, id);
  }
  t.held_by = {};
}

// What the task itself waits for, barriers aside: they are failed with their rounds.
void coordinator::state::withdraw_calls_of(task_id id) {
  session* const s = sessions_.find(roster_.at(id).held_by);
  if (!s) return;
  std::vector<request_id> waiting;
  for (auto const& [open_id, p] : s->open) {
    if (p.task == id && p.where == parked::place::key) waiting.push_back(open_id);
  }
  std::sort(waiting.begin(), waiting.end());
  for (request_id const open_id : waiting) {
    answer_parked({roster_.at(id).held_by, open_id},
                  share(status{errc::cancelled, who(id) + " is no longer in the job"}));
  }
}

}  // namespace coxswain::core
