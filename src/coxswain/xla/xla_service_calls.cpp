// The core's request for each method.

#include "coxswain/core/kernel/text.hpp"
#include "coxswain/core/model/reasons.hpp"
#include "coxswain/xla/codec.hpp"
#include "coxswain/xla/topology_key.hpp"
#include "coxswain/xla/xla_service.hpp"

#include <algorithm>
#include <limits>

namespace coxswain::xla {
namespace {

// Our errors arrive this long before the client's own deadline.
constexpr duration before_deadline = 5s;
constexpr duration timeout_min = 1s;

// The barrier at which jaxlib up to 0.4.35 waits after RegisterTask.
constexpr std::string_view first_generation_barrier = "PjRT_Client_Connect";

constexpr std::string_view jobs_default_name = "jax_worker";

duration timeout_of(std::optional<duration> given) {
  if (!given) return core::timeout_default;
  return std::max<duration>(*given - before_deadline, timeout_min);
}

// With a shutdown timeout of zero the task leaves alone. Clients round the timeout they send.
duration leave_timeout_of(std::optional<duration> given) {
  constexpr duration rounding = 250ms;
  if (!given) return core::timeout_default;
  return *given > before_deadline + rounding ? *given - before_deadline : duration{};
}

duration from_ms(std::int64_t ms) {
  if (ms <= 0) return {};
  if (ms > std::numeric_limits<duration::rep>::max() / 1'000'000) return without_limit;
  return std::chrono::milliseconds{ms};
}

std::string task_text(std::int32_t id) { return "task " + std::to_string(id); }

status not_registered(std::int32_t id, errc code) {
  return {code, task_text(id) +
                    " is not registered with this incarnation: RegisterTask comes "
                    "before all other calls"};
}

std::vector<task_id> numbers_of(std::vector<task_name> const& tasks) {
  std::vector<task_id> made;
  made.reserve(tasks.size());
  for (task_name const& task : tasks) made.push_back(task_id{task.id});
  return made;
}

}  // namespace

void xla_service::register_task(arrived_call const& a) {
  task_name const& who = *a.asked.task;
  bool const is_ours = who.job.empty() || who.job == jobs_default_name || who.job == options_.job;
  if (!is_ours) {
    return a.refuse(by_service(
        core::fail_as<&core::reasons::other_job>(errc::invalid_argument, who.job, options_.job)));
  }
  if (a.asked.self == incarnation{}) {
    return a.refuse(by_service({errc::invalid_argument, "RegisterTask: the incarnation is zero"}));
  }
  task_session* known = sessions_.find(a.asked.self);
  if (known && (known->is == standing::left || known->is == standing::ended)) {
    core_.drop(a.now, *known);
    known = nullptr;
  }
  if (known) {
    if (known->task != task_id{who.id}) {
      return a.refuse(by_service(
          {errc::invalid_argument, "the incarnation belongs to " +
                                       task_text(static_cast<std::int32_t>(known->task.value))}));
    }
    core_.bind(a.now, *known, a.by);
    if (known->is == standing::joined) return a.succeed({encode_incarnation(self_)});
    // The same call again: it waits in place of the older one.
    return calls_.move(known->join, a.by, a.what.id.stream,
                       by_service({errc::cancelled, "replaced by a newer call of the same task"}));
  }
  if (a.by.tasks.size() >= std::size_t{2} * options_.num_tasks + 64) {
    return a.refuse(
        by_service({errc::resource_exhausted,
                    "this connection has registered " + std::to_string(a.by.tasks.size()) +
                        " incarnations, more than twice the job's tasks"}));
  }
  task_session& s = core_.open(a);
  core::join_args join;
  join.self = a.asked.self;
  join.timeout = timeout_of(a.what.timeout);
  join.is_jax = true;
  if (who.recoverable) join.recoverable = true;
  s.recoverable = who.recoverable || options_.recoverable;
  if (strict_) {
    evict_holder(a, s.task);
    join.take_over = s.recoverable;
  }
  core_.submit(a.now, a.opened_by(s), s.task, std::move(join));
  s.join = s.open.back();
}

// Upstream does not probe the holder: a holder that is not recoverable fails, and with it the job.
void xla_service::evict_holder(arrived_call const& a, task_id task) {
  for (task_session* const s : sessions_.of_task(task)) {
    if (s->is != standing::joined || s->recoverable || s->core == connection_id{}) continue;
    core::report_error_args report;
    report.what = {errc::aborted, task_text(static_cast<std::int32_t>(task.value)) +
                                      " has restarted: another incarnation has registered"};
    open_call none;
    none.of = {method::report_error, a.of.of};
    none.by = s;
    core_.submit(a.now, std::move(none), task, std::move(report));
  }
}

// Upstream, once a task is in error: alike for each caller, registered or not.
bool xla_service::refuses_after_failure(arrived_call const& a) const {
  outcome how = failure_.as_outcome(a.of.of, std::nullopt);
  if (a.of.what == method::heartbeat || a.of.what == method::register_task) {
    how.code = errc::aborted;
  } else if (a.of.what == method::poll_for_error) {
    how = failure_.as_outcome(a.of.of, task_id{a.asked.task->id});
  } else if (a.of.what == method::barrier || a.of.what == method::shutdown_task) {
    open_call call = a.opened_by(a.by);
    call.name = a.asked.name;
    call.counter = a.asked.counter;
    how = replies_.failed(call, {errc::internal, how.text});
  } else {
    return false;
  }
  a.refuse(std::move(how));
  return true;
}

void xla_service::heartbeat(arrived_call const& a) {
  task_session* const s = core_.caller(a);
  if (!s) return;
  if (s->is == standing::left) return a.succeed({encode_incarnation(self_)});
  if (s->is == standing::joining) {
    return a.refuse(by_service(not_registered(a.asked.task->id, errc::invalid_argument)));
  }
  core_.bind(a.now, *s, a.by);
  life_.beat(a.now, *s, a.by);
  if (s->resumes) {
    s->heartbeats.push_back(calls_.add(a.opened_by(*s)));
    return;
  }
  core_.send(a.now, *s, {}, std::nullopt, std::monostate{});
  if (failure_.has_happened() && s->poll == request_id{}) {
    outcome how = failure_.as_outcome(a.of.of, s->task);
    how.code = errc::aborted;
    return a.refuse(std::move(how));
  }
  a.answer_heartbeat({encode_incarnation(self_)});
}

void xla_service::shutdown_task(arrived_call const& a) {
  task_session* const s = core_.caller(a);
  if (!s) return;
  if (s->is == standing::left) {
    return a.refuse(
        by_service({errc::failed_precondition, task_text(a.asked.task->id) + " has left already"}));
  }
  core_.bind(a.now, *s, a.by);
  core::leave_args leave;
  leave.timeout = leave_timeout_of(a.what.timeout);
  core_.submit(a.now, a.opened_by(*s), s->task, leave);
}

void xla_service::poll_for_error(arrived_call const& a) {
  task_session* const s = core_.caller(a);
  if (!s) return;
  if (s->is == standing::left) {
    return a.refuse(by_service({errc::cancelled, task_text(a.asked.task->id) + " has left"}));
  }
  core_.bind(a.now, *s, a.by);
  if (failure_.has_happened()) return a.refuse(failure_.as_outcome(a.of.of, s->task));
  core_.answer_poll(*s, by_service({errc::cancelled, "replaced by a newer poll of the same task"}));
  s->poll = calls_.add(a.opened_by(*s));
}

void xla_service::report_error(arrived_call const& a) {
  task_session* const s = core_.caller(a);
  if (!s) return;
  bool const has_code = a.asked.code > 0 && a.asked.code <= 16;
  core::report_error_args report;
  report.what = {has_code ? errc_of(static_cast<std::uint32_t>(a.asked.code)) : errc::internal,
                 std::move(a.asked.text)};
  core_.submit(a.now, a.opened_by(*s), s->task, std::move(report));
}

void xla_service::barrier(arrived_call const& a) {
  request& asked = a.asked;
  if (a.of.of == generation::second && asked.name == first_generation_barrier) {
    return a.refuse(of_barrier({errc::failed_precondition,
                                "This client is of jaxlib 0.4.35 or older, whose protocol is not "
                                "supported: use jaxlib 0.4.36 or newer."},
                               asked.name, asked.counter));
  }
  task_session* const s = core_.caller(a);
  if (!s) return;
  if (strict_) return strict_barrier(a, *s);
  if (repeats_barrier(a, *s)) return;
  auto const& listed = asked.tasks;
  bool const takes_part =
      listed.empty() || std::any_of(listed.begin(), listed.end(), [&](task_name const& task_name) {
        return task_id{task_name.id} == s->task;
      });
  if (!takes_part) {
    return a.refuse(of_barrier(
        {errc::invalid_argument, "A non-participating task (" + std::to_string(s->task.value) +
                                     ") called the barrier: " + core::shortened(asked.name, 800)},
        asked.name, asked.counter));
  }
  arrive_at_barrier(a, *s, asked.name, asked.counter);
}

void xla_service::arrive_at_barrier(arrived_call const& a, task_session& s,
                                    std::string name_in_core, std::int64_t counter) {
  request& asked = a.asked;
  core::barrier_args meet;
  meet.name = std::move(name_in_core);
  meet.timeout = from_ms(asked.timeout_ms);
  meet.participants = numbers_of(asked.tasks);
  // JAX's own barrier would be for all tasks, but only JAX tasks arrive at it.
  meet.of_jax_tasks = !strict_ && meet.participants.empty() && asked.name == preemption_barrier;
  open_call call = a.opened_by(s);
  call.name = std::move(asked.name);
  call.counter = counter;
  core_.submit(a.now, std::move(call), s.task, std::move(meet));
}

// A repeated call, as after a lost connection: it replaces the waiting one, or gets its outcome.
bool xla_service::repeats_barrier(arrived_call const& a, task_session& s) {
  request const& asked = a.asked;
  for (request_id const id : s.open) {
    open_call const& call = calls_.at(id);
    bool const is_it =
        call.of.what == method::barrier && call.name == asked.name && call.counter == asked.counter;
    if (!is_it) continue;
    status const why{errc::cancelled, "replaced by a newer call of the same task"};
    calls_.move(id, a.by, a.what.id.stream, of_barrier(why, call.name, call.counter));
    return true;
  }
  for (done_round const& round : s.done) {
    if (round.name != asked.name || round.counter != asked.counter) continue;
    open_call again = a.opened_by(s);
    again.name = round.name;
    again.counter = round.counter;
    status const& outcome = round.what->outcome;
    if (outcome.ok()) {
      calls_.answer(again, {}, {encode_counter(round.counter)});
    } else {
      calls_.answer(again, replies_.failed(again, outcome));
    }
    return true;
  }
  return false;
}

void xla_service::strict_barrier(arrived_call const& a, task_session& s) {
  request& asked = a.asked;
  auto const verdict =
      strict_->arrive({asked.name, asked.counter, numbers_of(asked.tasks), s.task, s.recoverable});
  auto const& r = *strict_->find(asked.name);
  bool const replaces = replaces_barrier(a, s);
  if (verdict == strict_barriers::verdict::arrives) {
    if (!replaces)
      arrive_at_barrier(a, s, strict_barriers::name_in_core(r.id, r.counter), r.counter);
    return;
  }
  if (verdict == strict_barriers::verdict::fails) cancel_in_core(a, r);
  if (replaces) return;  // it ends with the others (`met`)
  if (r.outcome.ok()) return a.succeed({encode_counter(r.counter)});
  a.refuse(of_barrier(r.outcome, r.id, r.counter));
}

// Upstream: the latest call of a task waits, with whatever counter.
bool xla_service::replaces_barrier(arrived_call const& a, task_session& s) {
  for (request_id const id : s.open) {
    open_call const& call = calls_.at(id);
    if (call.of.what != method::barrier || call.name != a.asked.name) continue;
    status const why{errc::cancelled, "Cancelled because there's a more recent barrier call for " +
                                          strict_barriers::name_in_core(call.name, call.counter) +
                                          " from the same task."};
    calls_.move(id, a.by, a.what.id.stream, plain(why));
    return true;
  }
  return false;
}

void xla_service::cancel_in_core(arrived_call const& a, strict_barriers::instance const& which) {
  open_call none;
  none.of = {method::cancel_barrier, a.of.of};
  none.by = &a.by;
  core_.submit(
      a.now, std::move(none), std::nullopt,
      core::cancel_barrier_args{strict_barriers::name_in_core(which.id, which.counter), {}});
}

void xla_service::cancel_barrier(arrived_call const& a) {
  task_session* const s = core_.caller(a);
  if (!s) return;
  if (strict_) {
    bool was_open = false;
    auto const how = strict_->cancel(a.asked.name, a.asked.counter, s->task, was_open);
    auto const& r = *strict_->find(a.asked.name);
    if (was_open) cancel_in_core(a, r);
    return how.ok() ? a.succeed() : a.refuse(of_barrier(how, r.id, r.counter));
  }
  open_call call = a.opened_by(*s);
  call.name = a.asked.name;
  call.counter = a.asked.counter;
  // Clients always send counter zero.
  core_.submit(a.now, std::move(call), s->task,
               core::cancel_barrier_args{std::move(a.asked.name), {}});
}

void xla_service::get_alive_tasks(arrived_call const& a) {
  task_session* const s = core_.caller(a);
  if (!s) return;
  core::alive_args query;
  query.tasks = numbers_of(a.asked.tasks);
  query.timeout = options_.alive_timeout;
  open_call call = a.opened_by(*s);
  if (a.of.of == generation::second) {
    call.asked = a.asked.tasks.empty() ? std::vector{*a.asked.task} : std::move(a.asked.tasks);
  }
  core_.submit(a.now, std::move(call), s->task, std::move(query));
}

void xla_service::watch_tasks(arrived_call const& a) {
  core::watch_tasks_args watch;
  if (a.asked.number >= 0) watch.after = static_cast<std::uint64_t>(a.asked.number);
  open_call call = a.opened_by(a.by);
  call.name = std::move(a.asked.text);
  core_.submit(a.now, std::move(call), std::nullopt, watch);
}

void xla_service::keys(arrived_call const& a) {
  request& asked = a.asked;
  bool const is_notice = a.of.what == method::get_key_value && asked.name == preemption_key;
  carrier& by = is_notice ? a.by : core_.key_carrier(a);
  bool const gives_notice = a.of.what == method::insert_key_value && asked.name == preemption_key;
  std::string const when = gives_notice ? asked.value : std::string{};
  open_call call = a.opened_by(by);
  call.name = asked.name;
  core::request what;
  switch (a.of.what) {
    case method::insert_key_value:
      if (!asked.overwrite && is_topology_key(asked.name)) {
        call.topology = std::make_unique<std::string>(std::move(asked.value));
        what = core::try_get_args{std::move(asked.name)};
        break;
      }
      what = core::put_args{std::move(asked.name), std::move(asked.value), asked.overwrite};
      break;
    case method::get_key_value: what = core::get_args{std::move(asked.name), without_limit}; break;
    case method::try_get_key_value: what = core::try_get_args{std::move(asked.name)}; break;
    default: what = core::increment_args{std::move(asked.name), asked.number}; break;
  }
  core_.submit(a.now, std::move(call), std::nullopt, std::move(what));
  if (gives_notice) give_notice(a, when);
}

void xla_service::directory(arrived_call const& a) {
  bool const removes = a.of.what == method::delete_key_value;
  bool const is_root = a.asked.name.find_first_not_of('/') == std::string::npos;
  if (removes && is_root) return a.succeed();  // like upstream, removes nothing
  open_call call = a.opened_by(core_.key_carrier(a));
  call.pages = std::make_unique<directory_pages>(
      removes ? directory_pages::purpose::remove : directory_pages::purpose::list,
      std::move(a.asked.name), memory_.get());
  carrier& by = *call.by;
  request_id const id = calls_.add(std::move(call));
  if (removes) return next_page(a.now, id);
  by.open.push_back(id);  // it ends with its session
  waiting_listings_.push_back(id);
  begin_listings(a.now);
}

}  // namespace coxswain::xla
