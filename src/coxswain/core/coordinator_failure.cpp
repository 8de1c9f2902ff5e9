// Everything that follows when a task fails, or the job.

#include "coxswain/core/state.hpp"
#include "coxswain/core/text.hpp"

#include <functional>
#include <utility>

namespace coxswain::core {
namespace {

constexpr std::size_t later_failures_max = 64;

// How much of the cause the failures of calls repeat: a kept reply has at most 1 KiB (D4). The
// whole text is in the pushed error.
constexpr std::size_t cause_bytes_max = 512;

}  // namespace

// "task 12 (b12:3391) failed: ABORTED: killed by signal 9 (SIGKILL)"
std::string coordinator::state::has_failed(task_id id) const {
  return who(id) + " failed: " + shortened(roster_.at(id).error().text(), cause_bytes_max);
}

status coordinator::state::job_failed(errc code) const {
  failure const& cause = error->cause;
  std::string text = "the job has failed: ";
  if (cause.task) text += who(*cause.task) + " failed: ";
  return {code, text + shortened(cause.why.text(), cause_bytes_max)};
}

void coordinator::state::handle(call const& c, report_error_args& args) {
  if (!c.task) return refuse(c, not_joined());
  if (args.what.ok()) return refuse(c, {errc::invalid_argument, "an error cannot have code 0"});
  if (c.by.guest_of) roster_.set_parted(*c.task, parting::none);
  fail_task(c.now, *c.task,
            {args.what.code(), shortened(args.what.message(), options.error_bytes_max)});
  answer_now(c, share(status{}), true);
}

// Any session may ask, since nobody holds a task that has failed.
void coordinator::state::handle(call const& c, reset_args& args) {
  if (!c.task) return refuse(c, {errc::invalid_argument, "a Reset must name its task"});
  if (error) return refuse(c, job_failed(errc::failed_precondition));
  task& t = roster_.at(*c.task);
  if (t.state != task_state::failed) {
    return refuse(c, {errc::failed_precondition,
                      who(*c.task) + " has not failed: it is " + std::string{name(t.state)}});
  }
  if (t.self != args.self && !c.by.guest_of) {
    return refuse(c, {errc::aborted, "another incarnation of " + who(*c.task) +
                                         " has failed; join without a reset"});
  }
  roster_.set_state(*c.task, task_state::never_connected);
  t.last->failure = {};
  log(severity::info, event_kind::reset, who(*c.task) + " was reset and may join again", c.task);
  answer_now(c, share(status{}), true);
}

void coordinator::state::task_ended(time_point now, task_id id, status why) {
  observe(now);
  if (stopping_ || !roster_.has(id)) return;
  if (roster_.at(id).state == task_state::joining) {
    // It is un-counted, and the join goes on to its deadline (semantics D10).
    std::string const how = why.ok() ? why.message() : why.text();
    log(severity::warning, event_kind::ended, who(id) + " ended while it joined: " + how, id);
    answer_parked(join_.arrival_of(id)->who, share(status{errc::aborted, why.message()}));
  }
  if (!why.ok()) return fail_task(now, id, std::move(why));
  task const& t = roster_.at(id);
  if (!t.is_connected()) return;
  end_waits(id, parked::place::leave,
            {errc::cancelled, "the process of " + who(id) + " has ended"});
  depart(now, id, t.parted == parting::returning);
  if (leave_.is_open() && leave_is_complete()) release_leave(now);
}

// What follows from the failure of a task, in order. Only a task that is connected can fail.
void coordinator::state::fail_task(time_point now, task_id id, status why) {
  task& t = roster_.at(id);
  if (!t.is_connected()) return;
  if (t.parted != parting::none) return depart(now, id, t.parted == parting::returning);
  log(severity::error, event_kind::failed, who(id) + " failed: " + why.text(), id);
  if (!t.last) t.last = std::make_unique<last_holder>();
  t.last->failure = why;
  bool const spares_job = t.recoverable && !error;
  end_reads(id);
  end_waits(id, parked::place::alive, {errc::internal, who(id) + " failed: " + why.text()});
  if (spares_job) end_waits(id, std::nullopt, {errc::internal, has_failed(id)});
  end_probe(id);
  forget_holder(id);
  roster_.set_state(id, task_state::failed);
  remove_keys_of(id);
  if (spares_job) return go_on_without(now, id);
  fail_job(now, {id, std::move(why)});
  forget_preemption(now, id);
  end_challenge(id, share(job_failed(errc::aborted)));
}

// A recoverable task has failed, and the others go on (semantics D12): the rounds wait for it to
// come back, unless they said otherwise, and the leave does not.
void coordinator::state::go_on_without(time_point now, task_id id) {
  barriers_.forget_owed_to(id);
  fail_rounds_of(now, id);
  forget_preemption(now, id);
  admit_challenger(now, id);
  if (leave_.is_open() && leave_is_complete()) release_leave(now);
}

// The first failure is the cause and stays; later ones are listed with it (semantics D19).
void coordinator::state::fail_job(time_point now, failure what,
                                  std::optional<barrier_failure> details) {
  if (error) {
    ++error->later_count;
    if (error->later.size() == later_failures_max) return;
    error->later.push_back(std::move(what));
    job_error_news_ = true;
    return;
  }
  job_error_news_ = true;
  error = job_error{std::move(what), {}, 0};
  status const why = job_failed(errc::internal);
  log(severity::error, event_kind::job_failed, why.message(), error->cause.task);
  fail_all_rounds(now, why);
  answer_all(alive_queries_.callers(), share(why));
  barriers_.forget_owed();
  end_returns();
  fail_leave(now, details ? make_answer({why, *std::move(details)}) : share(why));
  fail_join(share(why));
  end_agreement(why);
  end_exchanges(why);
  cancel_reads(why.message());
}

void coordinator::state::tell_job_error() {
  if (!std::exchange(job_error_news_, false)) return;
  answer_ptr const news = share(*error);
  sessions_.all().each([&](session_id, session& s) { sessions_.push(s, news); });
}

// The task's session no longer acts for it.
void coordinator::state::forget_holder(task_id id) {
  task& t = roster_.at(id);
  end_probe(id);
  deadlines_.disarm(t.progress_due);
  if (!t.last) t.last = std::make_unique<last_holder>();
  session_id const held_by = std::exchange(t.held_by, {});
  if (held_by != session_id{}) t.last->session = held_by;
  if (session* const s = sessions_.find(held_by)) {
    t.last->from = s->from;
    t.last->heard = s->heard.since;
    // The last one takes its place: a session of many tasks may lose them one by one.
    task_id const last = s->tasks.back();
    s->tasks[t.place] = last;
    roster_.at(last).place = t.place;
    s->tasks.pop_back();
  }
}

// Answers what the task waits for, everywhere or in one place only.
void coordinator::state::end_waits(task_id id, std::optional<parked::place> only,
                                   status const& why) {
  if (!only) leave_count_barriers(id);
  answer_waits(
      id, [&](parked const& p) { return !only || p.where == *only; }, why);
}

// They are the session's, with a task or without one (semantics D17).
void coordinator::state::leave_count_barriers(task_id id) {
  task& t = roster_.at(id);
  if (t.blocked.for_outsiders() == 0) return;
  std::erase_if(t.waits, [&](ticket const who) {
    if (sessions_.parked_at(who)->where != parked::place::count_barrier) return false;
    sessions_.find(who.session)->open.disown(who.request);
    t.blocked.end(blocking_calls::wait::for_outsiders);
    return true;
  });
}

// What it waits for alone: the others do not mind.
void coordinator::state::end_reads(task_id id) {
  leave_count_barriers(id);
  auto const is_its_own = [](parked const& p) {
    return is_get_or_pop(p) || p.where == parked::place::preemption ||
           p.where == parked::place::sync_point;
  };
  answer_waits(id, is_its_own, {errc::cancelled, who(id) + " is no longer in the job"});
}

void coordinator::state::answer_waits(task_id id, std::function<bool(parked const&)> const& chosen,
                                      status const& why) {
  task const& t = roster_.at(id);
  if (t.waits.empty()) return;
  std::vector<ticket> waiting;
  for (ticket const who : t.waits) {
    if (chosen(*sessions_.parked_at(who))) waiting.push_back(who);
  }
  answer_all(waiting, share(why));
}

}  // namespace coxswain::core
