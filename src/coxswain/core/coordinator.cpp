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

}  // namespace

coordinator::state::state(config o, incarnation self, time_point now)
    : options{std::move(o)},
      memory{std::make_shared<memory_meter>(options.memory_bytes_max)},
      self_{self},
      started_{now},
      observed_{now},
      sessions_{memory, out},
      roster_{options.num_tasks},
      barriers_{options.owed_outcomes_max, options.idle_barriers_max},
      keys_{memory},
      everyone_{std::make_shared<task_set const>(options.num_tasks)} {}

// --- Time ------------------------------------------------------------------------------------

void coordinator::state::observe(time_point now) {
  if (now - observed_ > tick + stall_min && deadlines_.size() != 0) {
    stalled_ += now - observed_;
    log(severity::warning, "the coordinator's loop stood still for " + in_words(now - observed_) +
                               "; heartbeats and graces are extended by as much");
  }
  observed_ = now;
}

// A stall is credited to what was armed before it, but at most one heartbeat timeout.
time_point coordinator::state::credited(liveness const& l, duration allowed) const {
  duration const credit = std::min(stalled_ - l.stalled_before, options.heartbeat_timeout);
  return deadline_after(deadline_after(l.since, allowed), credit);
}

std::optional<time_point> coordinator::state::next_deadline() const {
  auto const next = deadlines_.next();
  if (!next) return std::nullopt;
  return std::min(*next, observed_ + tick);
}

void coordinator::state::advance(time_point now) {
  observe(now);
  while (auto const item = deadlines_.due_at(now)) handle_due(now, *item);
  tell_job_error();
}

void coordinator::state::handle_due(time_point now, due_item const& item) {
  connection_id const connection{item.subject};
  switch (item.what) {
    case due::hello: {
      auto* const c = sessions_.find(connection);
      time_point const expiry = credited(c->opened, options.hello_timeout);
      deadlines_.disarm(c->hello);
      if (expiry > now) {
        deadlines_.arm(c->hello, {expiry, due::hello, item.subject});
        return;
      }
      say_goodbye(connection,
                  {errc::deadline_exceeded, "no Hello within " + in_words(options.hello_timeout)},
                  false);
      return;
    }
    case due::stalled_reader: {
      auto* const c = sessions_.find(connection);
      deadlines_.disarm(c->stalled_reader);
      status const why{errc::unavailable, "it read nothing for " +
                                              in_words(options.stalled_reader_timeout) +
                                              " although replies were waiting"};
      session_id const cut_off = c->session;
      say_goodbye(connection, why, false);
      if (cut_off != session_id{}) end_session(now, cut_off, why);
      return;
    }
    case due::session: return check_expiry(now, session_id{item.subject});
    case due::probe:
      return resolve_challenge(now, task_id{static_cast<std::uint32_t>(item.subject)}, false);
    case due::call: return call_due(now, item);
    case due::round:
    case due::round_log:
    case due::round_progress: return round_due(now, item);
    case due::join:
    case due::leave: return meeting_due(now, item);
  }
}

void coordinator::state::note_life(time_point now, session_id id, session& s) {
  s.heard = alive_since(now);
  for (task_id const task : s.tasks) {
    if (roster_.at(task).probe.armed() && roster_.at(task).held_by == id) {
      resolve_challenge(now, task, true);
    }
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
  status const why =
      s.grace
          ? status{errc::unavailable, "its connection was lost " + in_words(now - s.grace->since) +
                                          " ago and it did not come back"}
          : status{errc::unavailable,
                   "it gave no sign of life for " + in_words(now - s.heard.since) +
                       "; the heartbeat timeout is " + in_words(options.heartbeat_timeout)};
  if (s.attached != connection_id{}) say_goodbye(s.attached, why, false);
  end_session(now, id, why);
}

void coordinator::state::call_due(time_point now, due_item const& item) {
  lateness_.record(now - item.when);
  ticket const who{session_id{item.subject}, request_id{item.request}};
  auto const p = release(who);
  bool const is_key = p->where == parked::place::key;
  std::string const text =
      is_key ? "key " + quoted(p->name) + " got no value in time"
             : "Barrier timed out. Count barrier " + quoted(p->name) + " was not reached by enough";
  sessions_.reply(who, share(status{errc::deadline_exceeded, text}), !is_key);
}

// --- The verbs -------------------------------------------------------------------------------

coordinator::coordinator(config options, incarnation self, time_point now)
    : state_{std::make_unique<state>(std::move(options), self, now)} {}

coordinator::~coordinator() = default;

connection_id coordinator::connected(time_point now, std::string peer, session_secret secret) {
  return state_->connected(now, std::move(peer), secret);
}
void coordinator::received(time_point now, connection_id from, client_message message) {
  state_->received(now, from, std::move(message));
}
void coordinator::heard(time_point now, connection_id from) { state_->heard(now, from); }
void coordinator::malformed(time_point now, connection_id from, std::string why) {
  state_->malformed(now, from, std::move(why));
}
void coordinator::lost(time_point now, connection_id from, loss how) {
  state_->lost(now, from, how);
}
void coordinator::write_blocked(time_point now, connection_id to) {
  state_->write_blocked(now, to);
}
void coordinator::write_progressed(time_point now, connection_id to) {
  state_->write_progressed(now, to);
}
void coordinator::task_ended(time_point now, task_id task, status why) {
  state_->task_ended(now, task, std::move(why));
}
void coordinator::stop(time_point now, std::string reason) { state_->stop(now, std::move(reason)); }
std::optional<time_point> coordinator::next_deadline() const { return state_->next_deadline(); }
void coordinator::advance(time_point now) { state_->advance(now); }
void coordinator::take_outgoing(std::vector<outgoing>& into) {
  into.clear();
  into.swap(state_->out);
}
void coordinator::take_events(std::vector<event>& into) {
  into.clear();
  into.swap(state_->events);
}
std::size_t coordinator::frame_bytes_max(connection_id of) const {
  return state_->frame_bytes_max(of);
}
snapshot coordinator::look(time_point now) const { return state_->look(now); }
bool coordinator::done() const { return state_->done(); }
std::optional<job_error> const& coordinator::error() const { return state_->error; }
bool coordinator::drained() const { return state_->drained(); }
config const& coordinator::options() const { return state_->options; }
std::shared_ptr<memory_meter> const& coordinator::memory() const { return state_->memory; }
void coordinator::check_invariants() const { state_->check_invariants(); }

}  // namespace coxswain::core
