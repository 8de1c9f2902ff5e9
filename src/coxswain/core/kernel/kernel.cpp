#include "coxswain/core/kernel/kernel.hpp"

#include "coxswain/core/kernel/text.hpp"
#include "coxswain/core/model/reasons.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::core {
namespace {

// How late the loop may be before that counts as a stall (§4.2).
constexpr duration stall_min = 100ms;
constexpr duration stall_log_period = 10s;

// How much of the cause the failures of calls repeat: a kept reply has at most 1 KiB (§2.2). The
// whole text is in the pushed error.
constexpr std::size_t cause_bytes_max = 512;

}  // namespace

kernel::kernel(config given, incarnation id, time_point now)
    : options{std::move(given)},
      memory{make_meter(options.memory_bytes_max)},
      self{id},
      started{now},
      sessions{memory, out},
      roster{options.num_tasks, options.recoverable},
      everyone{boost::make_local_shared<task_set const>(options.num_tasks)},
      event_log{{options.events_max, options.event_bytes_max, options.events_alike_max},
                options.started},
      term{options.term},
      observed_{now} {}

void kernel::observe(time_point now) {
  if (now - observed_ > tick + stall_min && deadlines.size() != 0) {
    stalled_ += now - observed_;
    ++tally.stalls;
    tally.stalled = stalled_;
    log_stall(now);
  }
  observed_ = std::max(observed_, now);
}

void kernel::pass_over(time_point now) {
  stalled_ += now - observed_;
  tally.stalled = stalled_;
  observed_ = now;
}

// Not for shorter delays: the release of a barrier of ten thousand tasks takes that long.
void kernel::log_stall(time_point now) {
  if (stall_reported_ && now - *stall_reported_ < stall_log_period) return;
  stall_reported_ = now;
  log(severity::warning, event_kind::stalled,
      "event loop stalled for " + in_words(now - observed_) +
          "; liveness deadlines extended by the same time");
}

time_point kernel::credited(liveness const& l, duration allowed) const {
  duration const credit =
      std::min<duration>(stalled_ - l.stalled_before, options.heartbeat_timeout);
  return deadline_after(deadline_after(l.since, allowed), credit);
}

// The alarm is never postponed here: when it is due, the meeting's deadline is checked. So a
// cancellation costs nothing.
void kernel::arm_deadline(alarms& of, time_point deadline, due_item item) {
  if (of.deadline.armed() && of.deadline_at <= deadline) return;
  of.deadline_at = deadline;
  item.when = deadline;
  deadlines.arm(of.deadline, item);
}

void kernel::arm_log(alarms& of, time_point now, due_item item) {
  if (options.waiting_log_period <= 0s) return;
  item.when = deadline_after(now, options.waiting_log_period);
  deadlines.arm(of.log, item);
}

void kernel::disarm(alarms& of) {
  deadlines.disarm(of.deadline);
  deadlines.disarm(of.log);
  deadlines.disarm(of.progress);
}

bool kernel::is_paused(session const& s) const {
  connection const* const c = sessions.find(s.attached);
  return c && c->reading_paused;
}

void kernel::log(severity level, event_kind kind, std::string text, std::optional<task_id> task,
                 std::string_view barrier) {
  subject_.clear();
  if (task) append_who(subject_, *task);
  add_event({level, std::move(text), kind, task, std::string{barrier}});
}

void kernel::log_task(severity level, event_kind kind, task_id task,
                      std::initializer_list<std::string_view> rest) {
  subject_.clear();
  bool const joins = kind == event_kind::joined || kind == event_kind::joining;
  if (roster.at(task).is_jax && !joins) {
    subject_.append("task ").append(std::to_string(task.value));
  } else {
    append_who(subject_, task);
  }
  std::size_t bytes = subject_.size();
  for (auto const part : rest) bytes += part.size();
  std::string text;
  text.reserve(bytes);
  text += subject_;
  for (auto const part : rest) text += part;
  add_event({level, std::move(text), kind, task});
}

// `subject_` is the part of its text that names the task.
void kernel::add_event(event what) {
  auto logged = event_log.add(observed_ - started, std::move(what), subject_);
  if (logged) events.push_back(*std::move(logged));
}

std::string kernel::moment(time_point now, time_point at) const {
  return clock_text(options.started.plus(at - started), options.started.plus(now - started));
}

status kernel::room_to_wait(session const& s, std::size_t bytes) const {
  if (status why = sessions.room_for(s, bytes, true); !why.ok()) return why;
  return memory->fits(bytes + memory->owned_max() / part_for_tasks) ? status{} : out_of_memory();
}

status kernel::out_of_memory() const { return fail<&reasons::memory_used_up>(usage_text(*memory)); }

status kernel::room_to_store() const {
  return refuses_storing.empty() ? status{} : status{errc::resource_exhausted, refuses_storing};
}

std::string kernel::who(task_id id) const {
  std::string text;
  append_who(text, id);
  return text;
}

void kernel::append_who(std::string& to, task_id id) const {
  std::string const& label = from_of(roster.at(id)).label();
  std::string const number = std::to_string(id.value);
  to.reserve(to.size() + label.size() + number.size() + 8);
  to.append("task ").append(number);
  if (!label.empty()) to.append(" (").append(label).append(")");
}

std::string kernel::whose(session const& s) const {
  std::string const& label = label_of(s);
  if (s.guest_of) return "a program of " + who(s.guest_of->of.task);
  if (s.tasks.empty()) return "client " + label;
  if (s.tasks.size() == 1) return who(s.tasks.front());
  std::vector<task_id> sorted(s.tasks.begin(), s.tasks.end());
  std::sort(sorted.begin(), sorted.end());
  return "tasks " + ranges(sorted).text + " (" + label + ")";
}

std::string kernel::requester(session const& s, std::optional<task_id> task) const {
  if (task) return who(*task);
  return s.tasks.empty() && !s.guest_of ? label_of(s) : whose(s);
}

std::string const& kernel::label_of(session const& s) {
  return s.from.label().empty() ? s.from.peer() : s.from.label();
}

std::string kernel::relay_of(session const& s) const {
  std::string const& peer = s.from.peer();
  return "the relay of " + whose(s) + " at " + peer.substr(0, peer.rfind(via_relay));
}

origin const& kernel::from_of(task const& t) const {
  static origin const nowhere;
  if (session const* const s = sessions.find(t.held_by)) return s->from;
  return t.last ? t.last->from : nowhere;
}

bool kernel::is_suspect(task const& t) const {
  session const* const s = sessions.find(t.held_by);
  return s && s->attached == connection_id{};
}

std::optional<time_point> kernel::last_heard(task const& t) const {
  session const* const s = sessions.find(t.held_by);
  if (s) return s->heard.since;
  return t.last ? t.last->heard : std::nullopt;
}

status kernel::absence(task_id id) const {
  task const& t = roster.at(id);
  if (t.state == task_state::failed) return {errc::internal, has_failed(id)};
  if (t.state == task_state::returning) return fail<&reasons::task_returns>(who(id));
  if (t.state == task_state::never_connected) return fail<&reasons::task_never_joins>(who(id));
  if (!t.recoverable) return fail<&reasons::task_has_left>(who(id));
  return fail<&reasons::task_has_finished>(id);
}

std::string kernel::has_failed(task_id id) const {
  return has_failed(id, shortened(roster.at(id).error().text(), cause_bytes_max));
}

// The label of a JAX program is not repeated.
std::string kernel::has_failed(task_id id, std::string_view why) const {
  task const& t = roster.at(id);
  bool const is_named = t.is_jax && why.find(who(id)) != why.npos;
  return text_of<&reasons::task_failed>(is_named ? argument{id}.text : who(id), why);
}

status kernel::job_failed(errc code) const {
  failure const& cause = error->cause;
  std::string const why = shortened(cause.why.text(), cause_bytes_max);
  return fail_as<&reasons::job_has_failed>(code, cause.task ? has_failed(*cause.task, why) : why);
}

status kernel::not_joined() const {
  if (error) return job_failed(errc::failed_precondition);
  return fail<&reasons::not_joined>();
}

void kernel::resize_everyone() {
  if (everyone->size() == roster.size()) return;
  everyone = boost::make_local_shared<task_set const>(roster.size());
}

void kernel::note_lateness(duration late) {
  lateness.record(late);
  tally.lateness.record(late);
}

}  // namespace coxswain::core
