#include "coxswain/core/membership/join_verbs.hpp"

#include "coxswain/base/invariant.hpp"
#include "coxswain/core/concerns.hpp"
#include "coxswain/core/kernel/text.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::core {
namespace {

// A holder must have some time to show that it lives, also where lost connections get none.
constexpr duration probe_min = 1s;

// Within it the end of a process is reported that its last bytes preceded.
constexpr duration verdict_delay = 200ms;

}  // namespace

join_verbs::join_verbs(concerns& all)
    : waiting_concern{all,
                      {operation_id<join_args>, std::nullopt, wait_traits::party::joining_task}} {}

void join_verbs::job_failed(time_point, status const& why, barrier_failure const*) {
  fail_join(calls_.share(why));
}

void join_verbs::stopping(time_point, status const& why) { refuse_all(why); }

void join_verbs::refuse_all(status const& why) {
  fail_join(calls_.share(why));
  for (std::uint32_t i = 0; i < roster_.size(); ++i) {
    answer_claimants(task_id{i}, calls_.share(why));
  }
}

// As the joining task itself, which may have joined by now, or as a claimant of one that is
// connected.
void join_verbs::cancel(ticket who, parked const& p) {
  task_id const id = *p.task;
  task& t = roster_.at(id);
  if (t.state != task_state::joining) {
    if (!t.holder_probe) return;
    std::erase_if(t.holder_probe->by,
                  [&](claimant const& claimant) { return claimant.who == who; });
    if (!t.holder_probe->by.empty()) return;
    end_probe(id);
    t.holder_probe.reset();
    return;
  }
  forget_holder(id);
  roster_.set_state(id, task_state::never_connected);
  join_.cancel(id);
  if (join_.arrived() == 0) close_join();
}

// Only a claimant has a deadline of its own.
answer_ptr join_verbs::overdue(time_point now, parked const& p) {
  return calls_.share(fail<&reasons::probe_timed_out>(held_text(*p.task), now - p.since));
}

std::string join_verbs::missing_text(time_point now, ticket who, parked const& p) {
  auto const* const arrival = join_.is_open() ? join_.arrival_of(*p.task) : nullptr;
  if (arrival && arrival->who == who) return concerns_.missing.brief(now, p, join_);
  return held_text(*p.task) + ", which is being probed";
}

std::size_t join_verbs::waiting() const {
  std::size_t count = roster_.count(task_state::joining);
  for (std::uint32_t i = 0; i < roster_.size(); ++i) {
    task const& t = roster_.at(task_id{i});
    count += t.holder_probe ? t.holder_probe->by.size() : 0;
  }
  return count;
}

void join_verbs::check(ticket who, parked const& p) const {
  task const& t = roster_.at(*p.task);
  if (t.state == task_state::joining) {
    return invariant(join_.arrival_of(*p.task)->who == who, "who joins has arrived");
  }
  auto const is_it = [&](claimant const& claimant) { return claimant.who == who; };
  invariant(
      t.holder_probe && std::any_of(t.holder_probe->by.begin(), t.holder_probe->by.end(), is_it),
      "a call to join is of a task that joins, or of a claimant");
}

void join_verbs::check_invariants() const {
  invariant(join_.is_open() == join_alarms_.deadline.armed(), "an open meeting has a deadline");
  invariant(
      !join_.is_open() || (join_.arrived() > 0 && join_alarms_.deadline_at <= join_.deadline()),
      "an open meeting waits for somebody");
  invariant(!error_ || !join_.is_open(), "nobody waits to join once the job has failed");
  for (std::uint32_t i = 0; i < roster_.size(); ++i) {
    task const& t = roster_.at(task_id{i});
    invariant((t.state == task_state::joining) ==
                  (join_.is_open() && join_.arrival_of(task_id{i}) != nullptr),
              "who joins has arrived at the join");
    invariant(t.is_probed() == (t.holder_probe != nullptr),
              "a holder is probed while claimants wait");
    invariant(!t.holder_probe || t.is_connected(), "only a holder is probed");
    invariant(!t.holder_probe || !t.holder_probe->by.empty(), "a probe has claimants");
  }
}

std::size_t join_verbs::armed() const {
  std::size_t count = join_alarms_.armed();
  for (std::uint32_t i = 0; i < roster_.size(); ++i) {
    count += roster_.at(task_id{i}).is_probed() ? 1 : 0;
  }
  return count;
}

void join_verbs::handle(call const& c, join_args& args) {
  if (!c.task && !args.any) return calls_.refuse<&reasons::join_names_no_task>(c);
  bool const names_job = sessions_.find(c.from.session)->names_job;
  if (!names_job && options_.job != job_default)
    return calls_.refuse<&reasons::job_is_not_named>(c, options_.job, options_.job);
  if (args.any) return concerns_.enrolment.enrol(c, args);
  bool const is_guest = c.by.guest_of && roster_.at(*c.task).is_connected();
  if (options_.elastic && !is_guest) {
    return calls_.refuse(c, c.by.guest_of ? fail<&reasons::host_is_no_member>(kernel_.who(*c.task))
                                          : fail<&reasons::job_assigns_numbers>());
  }
  join(c, args);
}

void join_verbs::join(call const& c, join_args& args) {
  args.timeout = std::min<duration>(args.timeout, options_.join_timeout_max);
  task& t = roster_.at(*c.task);
  if (error_) return calls_.refuse(c, kernel_.job_failed(errc::aborted));
  if (is_ending_for(*c.task))
    return calls_.refuse<&reasons::coordinator_is_ending>(c, task_id{*options_.hosted_by_task});
  if (c.by.guest_of) {
    if (t.is_connected()) {
      c.by.guest_of->is_member = true;
      roster_.set_detached(*c.task, detachment::none);
      return calls_.answer_now(c, calls_.share(join_answer{t.came_late}), true);
    }
    args.self = t.self;
    args.recoverable = t.recoverable;
    args.take_over = false;
  }
  if (args.take_over && !is_recoverable(args))
    return calls_.refuse<&reasons::take_over_needs_recoverable>(c, kernel_.who(*c.task));
  if (args.with_hello && is_known(t, args.self))
    return calls_.refuse<&reasons::joined_in_another_session>(c, *c.task);
  if (t.state == task_state::failed && t.self == args.self)
    return calls_.refuse<&reasons::failed_before>(c, kernel_.has_failed(*c.task));
  if (t.is_connected()) {
    if (t.self != args.self && concerns_.ends.is_draining())
      return calls_.refuse(c, concerns_.ends.refusal(c.now));
    if (t.self != args.self) return probe_holder(c, args);
    // The same process again: its reply was lost together with its session.
    if (t.held_by != c.from.session) move_holder(c, args);
    join_answer joined{true};
    if (args.any) joined.task = c.task;
    if (options_.elastic) joined.epoch = concerns_.epochs.answer_for(*c.task);
    calls_.answer_now(c, calls_.share(joined), true);
    return concerns_.preemptions.send_agreement(c.now, c.by);
  }
  if (concerns_.ends.is_draining()) return calls_.refuse(c, concerns_.ends.refusal(c.now));
  if (t.state == task_state::joining) {
    ticket const older = join_.arrival_of(*c.task)->who;
    bool const is_newer = t.self != args.self;
    calls_.answer_parked(older, calls_.share(is_newer ? fail<&reasons::newer_incarnation_joins>(
                                                            kernel::label_of(c.by), *c.task)
                                                      : fail<&reasons::superseded>()));
  }
  enter(c, args);
}

// Whether a session of this incarnation has joined as the task, or waits for its holder to fail.
bool join_verbs::is_known(task const& t, incarnation self) {
  if (t.self == self) return true;
  auto const is_such = [self](claimant const& claimant) { return claimant.asked.self == self; };
  return t.holder_probe &&
         std::any_of(t.holder_probe->by.begin(), t.holder_probe->by.end(), is_such);
}

void join_verbs::hold(call const& c, join_args const& args) {
  task& t = roster_.at(*c.task);
  if (t.self != args.self) {
    t.blocked.renew();
    t.progress.reset();
    t.last_call = {};
  }
  t.self = args.self;
  t.held_by = c.by.guest_of ? c.by.guest_of->of.holder : c.from.session;
  session& by = *sessions_.find(t.held_by);
  t.place = static_cast<std::uint32_t>(by.tasks.size());
  by.tasks.push_back(*c.task);
  auto& replaced = by.replaced;
  replaced.erase(std::remove(replaced.begin(), replaced.end(), *c.task), replaced.end());
  if (t.last) deadlines_.disarm(t.last->return_due);
  auto const before = std::exchange(t.last, nullptr);
  bool const was_jax = std::exchange(t.is_jax, args.is_jax);
  concerns_.failures.joined(*c.task, args.self);
  session* const last = before ? sessions_.find(before->session) : nullptr;
  if (!last || last == &by) return;
  last->replaced.push_back(*c.task);
  if (was_jax && last->tasks.empty()) end_replaced(c.now, before->session, *c.task);
}

// A JAX program asks nothing that would be refused: it waits for an error.
void join_verbs::end_replaced(time_point now, session_id id, task_id task) {
  status const why = fail<&reasons::replaced_by_incarnation>(task);
  session const& s = *sessions_.find(id);
  if (s.attached != connection_id{}) concerns_.connections.say_goodbye(s.attached, why, false);
  concerns_.connections.end_session(now, id, why);
}

// Another session acts for the task from now on. The old one's calls for it end here, so that they
// cannot be taken back in its name later.
void join_verbs::move_holder(call const& c, join_args const& args) {
  calls_.end_waits(*c.task, fail<&reasons::held_by_another_session>(kernel_.who(*c.task)));
  holder_lives(*c.task);
  forget_holder(*c.task);
  hold(c, args);
  concerns_.progress.watch(*c.task);
  roster_.changed();
}

// All tasks have left a coordinator that runs in the process of one of them: that process is about
// to end it, and only the task itself can know better.
bool join_verbs::is_ending_for(task_id claimant) const {
  return options_.hosted_by_task && claimant.value != *options_.hosted_by_task &&
         roster_.count(task_state::left) + roster_.count(task_state::failed) == roster_.size();
}

bool join_verbs::is_recoverable(join_args const& args) const {
  return options_.elastic || args.recoverable.value_or(options_.recoverable);
}

void join_verbs::enter(call const& c, join_args const& args) {
  hold(c, args);
  concerns_.enrolment.entered(*c.task, args, c.by.guest_of != nullptr);
  task& t = roster_.at(*c.task);
  roster_.set_recoverable(*c.task, is_recoverable(args));
  t.came_late = job_started_;
  if (c.by.guest_of) c.by.guest_of->is_member = true;
  job_started_ = job_started_ || options_.elastic;
  if (job_started_ || !options_.join_barrier) {
    connect(*c.task);
    kernel_.log_task(severity::info, event_kind::joined, *c.task,
                     {" from ", c.by.from.peer(), " has joined"});
    if (args.any) {
      concerns_.enrolment.send_number(c.from, *c.task, job_started_);
    } else {
      calls_.answer_now(c, calls_.share(join_answer{job_started_}), true);
    }
    concerns_.preemptions.send_agreement(c.now, *sessions_.find(t.held_by));
    if (!options_.elastic) concerns_.preemptions.plan_agreement(c.now);
    // It may have been the last one that was not recoverable.
    if (concerns_.leaves.together().is_open() && !concerns_.leaves.leaves_together())
      concerns_.leaves.release_leave(c.now);
    return;
  }
  roster_.set_state(*c.task, task_state::joining);
  if (!join_.is_open()) {
    join_.open(kernel_.everyone, c.now);
    kernel_.arm_log(join_alarms_, c.now, {{}, due::join_log});
  }
  meeting::arrival a;
  a.who = c.from;
  a.deadline = deadline_after(c.now, args.timeout);
  join_.arrive(*c.task, std::move(a));
  calls_.park(c, *this, {});
  kernel_.log_task(severity::info, event_kind::joining, *c.task,
                   {" from ", c.by.from.peer(), " is joining (", std::to_string(join_.arrived()),
                    " of ", std::to_string(roster_.size()), " tasks)"});
  if (join_.complete()) return release_join(c.now);
  kernel_.arm_deadline(join_alarms_, deadline_after(c.now, args.timeout), {{}, due::join});
}

void join_verbs::connect(task_id id) { roster_.set_state(id, task_state::connected); }

void join_verbs::release_join(time_point now) {
  std::vector<task_id> const joined = join_.in_order();
  std::vector<ticket> tickets = join_.tickets();
  close_join();
  job_started_ = true;
  for (task_id const id : joined) connect(id);
  kernel_.log(severity::info, event_kind::joined,
              "all " + std::to_string(roster_.size()) + " tasks have joined");
  for (std::size_t i = 0; i < joined.size(); ++i) {
    if (!concerns_.enrolment.has_enrolled(joined[i])) continue;
    calls_.unpark(tickets[i]);
    concerns_.enrolment.send_number(tickets[i], joined[i], false);
    tickets[i] = {};
  }
  std::erase(tickets, ticket{});
  calls_.answer_all(tickets, calls_.share(join_answer{false}));
  concerns_.preemptions.plan_agreement(now);
}

// It rarely opens again, so its memory goes.
void join_verbs::close_join() {
  join_ = meeting{};
  kernel_.disarm(join_alarms_);
}

// A failed join fails no task: all may try again (§1.2).
void join_verbs::fail_join(answer_ptr const& what) {
  if (join_.is_open()) calls_.answer_all(join_.tickets(), what);
}

// Another process joins as a task that a session holds (§1.2): the holder is probed,
// unless it is known to be lost, or the claimant takes over.
void join_verbs::probe_holder(call const& c, join_args const& args) {
  task& t = roster_.at(*c.task);
  kernel_.log_task(severity::warning, event_kind::challenged, *c.task,
                   {" is challenged by another incarnation, from ", c.by.from.peer()});
  if (args.take_over && !t.recoverable)
    return calls_.refuse<&reasons::cannot_be_taken_over>(c, kernel_.who(*c.task));
  calls_.park(c, *this, {}, args.timeout);
  if (!t.holder_probe) t.holder_probe = std::make_unique<core::holder_probe>();
  t.holder_probe->by.push_back({c.from, args});
  if (args.take_over) return replace(c.now, *c.task, fail<&reasons::taken_over>(args.self.value));
  session& holder = *sessions_.find(t.held_by);
  if (kernel_.is_suspect(t)) {
    return replace(
        c.now, *c.task,
        fail<&reasons::joined_while_lost>(
            args.self.value, holder.lost_its_trunk ? kernel_.relay_of(holder)
                                                   : "the connection of " + kernel_.who(*c.task)));
  }
  if (t.is_probed()) return;
  t.holder_probe->probed = kernel_.alive_since(c.now);
  arm_probe(deadline_after(c.now, probe_time()), *c.task);
  ++holder.probed;
  sessions_.push(holder, calls_.share(probe{}));
}

duration join_verbs::probe_time() const {
  return std::max<duration>(options_.reconnect_grace, probe_min);
}

void join_verbs::arm_probe(time_point when, task_id id) {
  deadlines_.arm(roster_.at(id).holder_probe->probe, {when, due::probe, id.value});
}

void join_verbs::probe_due(time_point now, task_id id) {
  task& t = roster_.at(id);
  if (t.holder_probe->holder_heard) {
    if (!kernel_.is_suspect(t)) return holder_lives(id);
    return replace(now, id, fail<&reasons::lost_when_probed>(kernel_.who(id)));
  }
  time_point const verdict = kernel_.credited(t.holder_probe->probed, probe_time());
  if (verdict > now) return arm_probe(verdict, id);
  if (kernel_.is_paused(*sessions_.find(t.held_by))) {
    return arm_probe(deadline_after(now, probe_time()), id);
  }
  replace(now, id, fail<&reasons::silent_when_probed>(kernel_.who(id)));
}

// The holder was not read since then.
void join_verbs::postpone_probe(time_point now, liveness const& since, task_id id) {
  task& t = roster_.at(id);
  if (!t.is_probed() || t.holder_probe->holder_heard) return;
  t.holder_probe->probed.leave_out(since, kernel_.alive_since(now));
  arm_probe(kernel_.credited(t.holder_probe->probed, probe_time()), id);
}

// The holder has failed, and if it is recoverable its claimant takes the place.
void join_verbs::replace(time_point now, task_id id, status why) {
  if (roster_.at(id).recoverable)
    calls_.end_waits(id, fail<&reasons::replaced_by_incarnation>(kernel_.who(id)));
  concerns_.failures.fail_task(now, id, std::move(why));
}

// The newest claimant joins in place of the holder, which has failed.
void join_verbs::admit_claimant(time_point now, task_id id) {
  task& t = roster_.at(id);
  if (!t.holder_probe) return;
  claimant newest = t.holder_probe->by.back();
  newest.asked.timeout = time_left(*calls_.release(newest.who), newest.asked.timeout, now);
  auto label = kernel::label_of(*sessions_.find(newest.who.session));
  answer_claimants(id, calls_.share(fail<&reasons::newer_incarnation_joins>(std::move(label), id)));
  session& by = *sessions_.find(newest.who.session);
  if (options_.elastic) {
    return concerns_.enrolment.enrol({now, newest.who, by, {}, operation_id<join_args>},
                                     newest.asked);
  }
  enter({now, newest.who, by, id, operation_id<join_args>}, newest.asked);
}

void join_verbs::holder_was_heard(time_point now, task_id id) {
  task& t = roster_.at(id);
  if (std::exchange(t.holder_probe->holder_heard, true)) return;
  arm_probe(deadline_after(now, verdict_delay), id);
}

void join_verbs::holder_lives(task_id id) {
  answer_claimants(id, calls_.share(fail<&reasons::holder_is_alive>(
                           kernel_.who(id), kernel_.from_of(roster_.at(id)).peer())));
}

// Answers all claimants of the task.
void join_verbs::answer_claimants(task_id id, answer_ptr const& what) {
  task const& t = roster_.at(id);
  if (!t.holder_probe) return;
  concerns_.epochs.look_again();
  end_probe(id);
  std::vector<ticket> asking;
  for (claimant const& claimant : t.holder_probe->by) asking.push_back(claimant.who);
  calls_.answer_all(asking, what);
}

// The holder is no longer probed.
void join_verbs::end_probe(task_id id) {
  task& t = roster_.at(id);
  if (!t.is_probed()) return;
  deadlines_.disarm(t.holder_probe->probe);
  --sessions_.find(t.held_by)->probed;
}

// The task's session no longer acts for it.
void join_verbs::forget_holder(task_id id) {
  task& t = roster_.at(id);
  end_probe(id);
  deadlines_.disarm(t.progress_due);
  if (!t.last) t.last = std::make_unique<last_holder>();
  session_id const held_by = std::exchange(t.held_by, {});
  if (held_by != session_id{}) t.last->session = held_by;
  if (session* const s = sessions_.find(held_by)) {
    t.last->from = s->from;
    t.last->heard = s->heard.since;
    // The last one takes its position: a session of many tasks can lose them one by one.
    task_id const last = s->tasks.back();
    s->tasks[t.place] = last;
    roster_.at(last).place = t.place;
    s->tasks.pop_back();
  }
}

// "task 3 is held by another incarnation, from 10.0.0.1:7"
std::string join_verbs::held_text(task_id id) const {
  return kernel_.who(id) + " is held by another incarnation, from " +
         kernel_.from_of(roster_.at(id)).peer();
}

void join_verbs::join_due(time_point now, due_item const& item) {
  deadlines_.disarm(join_alarms_.deadline);
  // The call with the earliest deadline may have been cancelled.
  if (join_.deadline() > now) return kernel_.arm_deadline(join_alarms_, join_.deadline(), item);
  kernel_.note_lateness(now - item.when);
  barrier_failure f = concerns_.missing.describe(now, join_, {});
  std::string const text =
      text_of<&reasons::join_timed_out>(now - join_.opened(), concerns_.missing.text(now, f),
                                        f.arrived, f.expected, join_.in_order().front());
  kernel_.log(severity::error, event_kind::round_failed, text);
  fail_join(make_answer({status{errc::deadline_exceeded, text}, std::move(f)}));
}

void join_verbs::log_due(time_point now, due_item const& item) {
  kernel_.arm_log(join_alarms_, now, item);
  barrier_failure const f = concerns_.missing.describe(now, join_, {});
  kernel_.log(severity::warning, event_kind::waiting,
              "Join of the job has waited for " + in_words(now - join_.opened()) + ": " +
                  concerns_.missing.text(now, f));
}

}  // namespace coxswain::core
