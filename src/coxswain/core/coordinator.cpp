#include "coxswain/core/coordinator.hpp"

#include "coxswain/core/state.hpp"
#include "coxswain/core/text.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::core {
namespace {

// How often the loop is expected to show that it runs, and how late it may be before that counts
// as a stall (semantics D6).
constexpr duration tick = 50ms;
constexpr duration stall_min = 100ms;
constexpr duration stall_log_period = 10s;

// Deadlines that expire at once are handled in portions of so many steps, with other work in
// between.
constexpr std::uint64_t steps_per_advance = 2048;
constexpr std::uint64_t looks_per_step = 4;

}  // namespace

coordinator::state::state(config o, incarnation self, time_point now)
    : options{std::move(o)},
      memory{std::make_shared<memory_meter>(options.memory_bytes_max)},
      self_{self},
      started_{now},
      observed_{now},
      removals_left_{options.page_entries_max},
      sessions_{memory, out},
      roster_{options.num_tasks, options.recoverable},
      barriers_{memory, options.owed_outcomes_max, options.idle_barriers_max},
      keys_{memory, {options.changes_max, options.change_bytes_max}},
      joint_gets_{memory},
      queues_{memory},
      everyone_{boost::make_local_shared<task_set const>(options.num_tasks)},
      alive_queries_{memory},
      event_log_{{options.events_max, options.event_bytes_max, options.events_alike_max},
                 options.started},
      topologies_{memory} {}

// --- Time ------------------------------------------------------------------------------------

void coordinator::state::observe(time_point now) {
  if (now - observed_ > tick + stall_min && deadlines_.size() != 0) {
    stalled_ += now - observed_;
    ++tally.stalls;
    tally.stalled = stalled_;
    log_stall(now);
  }
  observed_ = std::max(observed_, now);
}

// Not each time: a barrier of ten thousand tasks takes that long to be released.
void coordinator::state::log_stall(time_point now) {
  if (stall_told_ && now - *stall_told_ < stall_log_period) return;
  stall_told_ = now;
  log(severity::warning, event_kind::stalled,
      "the coordinator's loop stood still for " + in_words(now - observed_) +
          "; heartbeats and graces are extended by as much");
}

// A stall is credited to what was armed before it, but at most one heartbeat timeout.
time_point coordinator::state::credited(liveness const& l, duration allowed) const {
  duration const credit =
      std::min<duration>(stalled_ - l.stalled_before, options.heartbeat_timeout);
  return deadline_after(deadline_after(l.since, allowed), credit);
}

std::optional<time_point> coordinator::state::next_deadline() const {
  if (joint_gets_.has_woken() || keys_.has_ended_keys()) return started_;  // at once
  auto const next = deadlines_.next();
  if (!next) return std::nullopt;
  return std::min(*next, observed_ + tick);
}

void coordinator::state::advance(time_point now) {
  observe(now);
  look_at_woken(joint_gets::looks_per_advance);
  removals_left_ = options.page_entries_max;
  remove_ended_keys();
  auto const most = tally.steps + steps_per_advance;
  while (auto const item = deadlines_.due_at(now)) {
    if (++tally.steps > most) return;
    handle_due(now, *item);
  }
}

void coordinator::state::handle_due(time_point now, due_item const& item) {
  switch (item.what) {
    case due::hello: return hello_due(now, connection_id{item.subject});
    case due::stalled_reader: return stalled_reader_due(now, connection_id{item.subject});
    case due::session: return check_expiry(now, session_id{item.subject});
    case due::probe: return probe_due(now, task_id{static_cast<std::uint32_t>(item.subject)});
    case due::call: return call_due(now, item);
    case due::round:
    case due::round_log:
    case due::round_progress: return round_due(now, item);
    case due::join:
    case due::leave: return meeting_due(now, item);
    case due::join_log:
    case due::leave_log: return log_meeting(now, item);
    case due::preemption: return preemption_due(now);
    case due::topology_log: return log_exchanges(now);
    case due::review: return review_due(now);
    case due::no_progress:
      return no_progress_due(now, task_id{static_cast<std::uint32_t>(item.subject)});
    case due::wrong_tokens: return tell_wrong_tokens(now);
    case due::task_return:
      return return_due(now, task_id{static_cast<std::uint32_t>(item.subject)});
  }
}

void coordinator::state::hello_due(time_point now, connection_id id) {
  connection& c = *sessions_.find(id);
  time_point const expiry = credited(c.opened, options.hello_timeout);
  if (expiry > now) return deadlines_.arm(c.hello, {expiry, due::hello, id.value});
  say_goodbye(id, {errc::deadline_exceeded, "no Hello within " + in_words(options.hello_timeout)},
              false);
}

// While the loop stood still, nobody looked whether the peer read.
void coordinator::state::stalled_reader_due(time_point now, connection_id id) {
  connection& c = *sessions_.find(id);
  time_point const expiry = credited(c.blocked, options.stalled_reader_timeout);
  if (expiry > now) {
    return deadlines_.arm(c.stalled_reader, {expiry, due::stalled_reader, id.value});
  }
  status const why{errc::unavailable, "it read nothing for " +
                                          in_words(options.stalled_reader_timeout) +
                                          " although replies were waiting"};
  session_id const cut_off = c.session;
  say_goodbye(id, why, false);
  if (cut_off != session_id{}) end_session(now, cut_off, why);
}

void coordinator::state::note_life(time_point now, session& s) {
  s.heard = alive_since(now);
  if (s.probed == 0) return;
  for (task_id const task : std::vector{s.tasks}) {
    if (roster_.at(task).is_probed()) holder_lives(task);
  }
}

time_point coordinator::state::expiry_of(session const& s) const {
  return s.grace ? credited(*s.grace, options.reconnect_grace)
                 : credited(s.heard, options.heartbeat_timeout);
}

void coordinator::state::arm_expiry(session_id id, session& s) {
  deadlines_.arm(s.expiry, {expiry_of(s), due::session, id.value});
}

// A heartbeat costs one store: the armed deadline stays, and only when it is due is it compared
// with the last sign of life.
void coordinator::state::check_expiry(time_point now, session_id id) {
  session& s = *sessions_.find(id);
  arm_expiry(id, s);
  if (expiry_of(s) > now) return;
  if (is_held_back(s)) {
    time_point const again = deadline_after(now, options.heartbeat_timeout);
    return deadlines_.arm(s.expiry, {again, due::session, id.value});
  }
  ++(s.grace ? tally.graces_expired : tally.heartbeats_expired);
  status const why{errc::unavailable, expiry_text(now, s)};
  if (s.attached != connection_id{}) say_goodbye(s.attached, why, false);
  end_session(now, id, why);
}

std::string coordinator::state::expiry_text(time_point now, session const& s) const {
  if (!s.grace) {
    return "no heartbeat from " + whose(s) + " for " + in_words(now - s.heard.since) +
           " (timeout " + in_words(options.heartbeat_timeout) + ")";
  }
  std::string const at = moment(now, s.grace->since);
  if (s.has_said_bye) {
    return "the client of " + whose(s) + " was destroyed without leaving at " + at +
           ", and its process runs on";
  }
  return "the connection of " + whose(s) + " was lost at " + at + " and did not come back";
}

void coordinator::state::call_due(time_point now, due_item const& item) {
  note_lateness(now - item.when);
  ticket const late{session_id{item.subject}, request_id{item.request}};
  parked const& p = *sessions_.parked_at(late);
  if (p.where == parked::place::keys) tally.steps += joint_gets::looks_per_text / looks_per_step;
  answer_parked(late, overdue(now, p));
}

// That nothing has changed is an answer to those who watch.
answer_ptr coordinator::state::overdue(time_point now, parked const& p) {
  switch (p.where) {
    case parked::place::alive: return alive_overdue(now, p);
    case parked::place::tasks: return tasks_now();
    case parked::place::events: {
      // In this turn something may have happened before the deadline was looked at.
      auto const& w = watchers_of_events_.all().at(p.number);
      return share(event_log_.since(w.seen, w.at_least));
    }
    case parked::place::key_changes: return share(key_changes_answer{{}, keys_.version()});
    case parked::place::topology: return overdue_exchange(now, p);
    default: return share(status{errc::deadline_exceeded, overdue_text(now, p)});
  }
}

std::string coordinator::state::overdue_text(time_point now, parked const& p) const {
  std::string const waited = in_words(now - p.since);
  if (p.where == parked::place::key) {
    return "key " + quoted(p.name.get()) + " got no value within " + waited;
  }
  if (p.where == parked::place::keys) {
    return "not all keys got values within " + waited + "; missing are " +
           missing_text(joint_gets_.at(p.number));
  }
  if (p.where == parked::place::queue) {
    return "queue " + quoted(p.name.get()) + " got no item within " + waited;
  }
  if (p.where == parked::place::count_barrier) {
    auto const& w = count_barriers_.all().at(p.name.get());
    return "Barrier timed out. Count barrier " + quoted(p.name.get()) + " timed out after " +
           waited + ": " + std::to_string(w.arrived.size()) + " of " + std::to_string(w.count) +
           " had arrived";
  }
  return who(*p.task) + " is held by another incarnation, from " +
         from_of(roster_.at(*p.task)).peer() + ", of which it was not yet known after " + waited +
         " whether it lives; join again";
}

// The alarm is never put off here: when it is due, the meeting is asked until when it waits. So
// whoever withdraws costs nothing.
void coordinator::state::arm_deadline(alarms& of, time_point deadline, due_item item) {
  if (of.deadline.armed() && of.deadline_at <= deadline) return;
  of.deadline_at = deadline;
  item.when = deadline;
  deadlines_.arm(of.deadline, item);
}

void coordinator::state::arm_log(alarms& of, time_point now, due_item item) {
  if (options.waiting_log_period <= 0s) return;
  item.when = deadline_after(now, options.waiting_log_period);
  deadlines_.arm(of.log, item);
}

void coordinator::state::disarm(alarms& of) {
  deadlines_.disarm(of.deadline);
  deadlines_.disarm(of.log);
  deadlines_.disarm(of.progress);
}

// --- The verbs -------------------------------------------------------------------------------

coordinator::coordinator(config options, incarnation self, time_point now)
    : state_{std::make_unique<state>(std::move(options), self, now)} {}

coordinator::~coordinator() = default;

connection_id coordinator::connected(time_point now, std::string peer, session_secret secret) {
  return state_->connected(now, std::move(peer), secret);
}
void coordinator::received(time_point now, connection_id from, client_message&& message) {
  state_->received(now, from, std::move(message));
  state_->follow_up();
}
void coordinator::expect(connection_id from) const { state_->expect(from); }
void coordinator::expect_session(connection_id from) const { state_->expect_session(from); }
void coordinator::expect_requests(connection_id from) const { state_->expect_requests(from); }
void coordinator::heard(time_point now, connection_id from) { state_->heard(now, from); }
void coordinator::malformed(time_point now, connection_id from, std::string why) {
  state_->malformed(now, from, std::move(why));
  state_->follow_up();
}
void coordinator::lost(time_point now, connection_id from, loss how) {
  state_->lost(now, from, how);
  state_->follow_up();
}
void coordinator::write_blocked(time_point now, connection_id to) {
  state_->write_blocked(now, to);
}
void coordinator::write_progressed(time_point now, connection_id to) {
  state_->write_progressed(now, to);
}
void coordinator::held_back(time_point now, connection_id from) { state_->held_back(now, from); }
void coordinator::read_again(time_point now, connection_id from) { state_->read_again(now, from); }
void coordinator::task_ended(time_point now, task_id task, status why) {
  state_->task_ended(now, task, std::move(why));
  state_->follow_up();
}
void coordinator::stop(time_point now, std::string reason) { state_->stop(now, std::move(reason)); }
std::optional<time_point> coordinator::next_deadline() const { return state_->next_deadline(); }
void coordinator::advance(time_point now) {
  state_->advance(now);
  state_->follow_up();
}
void coordinator::take_outgoing(std::vector<outgoing>& into) {
  into.clear();
  into.swap(state_->out);
  state_->unsent_bytes = 0;
}
std::size_t coordinator::unsent() const { return state_->out.size(); }
std::size_t coordinator::unsent_bytes() const { return state_->unsent_bytes; }
void coordinator::take_events(std::vector<event>& into) {
  into.clear();
  into.swap(state_->events);
}
std::size_t coordinator::untold() const { return state_->events.size(); }
std::string const* coordinator::wrong_token(connection_id of) const {
  return state_->wrong_token(of);
}

std::size_t coordinator::frame_bytes_max(connection_id of) const {
  return state_->frame_bytes_max(of);
}
std::size_t coordinator::held_by(share_kind kind) const { return state_->held_by(kind); }
std::optional<share_kind> coordinator::share_of(connection_id who) const {
  return state_->share_of(who);
}
statistics const& coordinator::counts() const { return state_->tally; }
status coordinator::preempt(time_point now, task_id task, duration in) {
  status outcome = state_->preempt(now, task, in);
  state_->follow_up();
  return outcome;
}
status coordinator::cancel(time_point now, cancel_barrier_args const& what, std::string const& by) {
  status outcome = state_->cancel(now, what, by, std::nullopt);
  state_->follow_up();
  return outcome;
}
void coordinator::replace_credentials(std::vector<credential> by) {
  state_->replace_credentials(std::move(by));
  state_->follow_up();
}
bool coordinator::job_has_started() const noexcept { return state_->job_has_started(); }
snapshot coordinator::look(time_point now) const { return state_->look(now); }
why_answer coordinator::why(time_point now) const {
  std::uint64_t steps{};
  return state_->why(now, steps);
}
events_answer coordinator::events(std::optional<std::uint64_t> after, severity at_least,
                                  std::size_t last_of_each) const {
  return state_->events_since(after, at_least, last_of_each);
}
std::uint64_t coordinator::last_event() const { return state_->last_event(); }
listing_answer coordinator::keys(std::string const& prefix, std::string const& after,
                                 std::size_t most) const {
  return state_->keys(prefix, after, most);
}
result<value_answer> coordinator::value(std::string_view key) const { return state_->value(key); }

bytes coordinator::exchange_value(std::string_view key, bytes by) {
  return state_->exchange_value(key, std::move(by));
}
barrier_history coordinator::history(time_point now, std::string_view barrier) const {
  return state_->history(now, barrier);
}
bool coordinator::done() const { return state_->done(); }
std::optional<job_error> const& coordinator::error() const { return state_->error; }
bool coordinator::drained() const { return state_->drained(); }
config const& coordinator::options() const { return state_->options; }
std::shared_ptr<memory_meter> const& coordinator::memory() const { return state_->memory; }
void coordinator::check_invariants() const { state_->check_invariants(); }

}  // namespace coxswain::core
