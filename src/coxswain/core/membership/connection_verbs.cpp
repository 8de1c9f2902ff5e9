#include "coxswain/core/membership/connection_verbs.hpp"

#include "coxswain/base/invariant.hpp"
#include "coxswain/core/concerns.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace coxswain::core {

void connection_verbs::stopping(time_point now, status const& why) {
  say_goodbye_to_all({errc::unavailable, why.message()}, false);
  std::vector<session_id> ended;
  sessions_.all().each([&](session_id id, session&) { ended.push_back(id); });
  for (session_id const id : ended) end_session(now, id, why);
}

void connection_verbs::check_session(session_id id, session const& s) const {
  s.open.each([&](request_id open_id, parked const&) {
    invariant(open_id <= s.highest, "an open request has been received");
  });
  for (std::size_t i = 0; i < s.tasks.size(); ++i) {
    task const& t = roster_.at(s.tasks[i]);
    invariant(t.held_by == id && t.place == i, "a session and its tasks know each other");
  }
  auto const probed = std::count_if(s.tasks.begin(), s.tasks.end(),
                                    [&](task_id task) { return roster_.at(task).is_probed(); });
  invariant(s.probed == static_cast<std::size_t>(probed), "a session counts its probed tasks");
  invariant(s.answered_through <= s.replies_sent, "only replies that were sent are received");
  invariant(s.expiry.armed(), "every session expires");
  std::uint64_t last = s.answered_through;
  for (kept_reply const& k : s.kept) {
    invariant(!s.open.contains(k.request), "what was answered is not open");
    if (s.attached == connection_id{} && k.ordinal == 0) continue;
    invariant(k.ordinal > last, "what is kept was sent in this order and not yet received");
    last = k.ordinal;
  }
  invariant(last <= s.replies_sent, "what is kept was sent");
  if (s.attached == connection_id{}) return;
  connection const* const c = sessions_.find(s.attached);
  invariant(c && c->session == id && c->number == s.carrier, "a session knows its connection");
  invariant(!s.grace, "a grace runs only without a connection");
}

void connection_verbs::check_invariants() const {
  sessions_.connections().each([&](connection_id id, connection const& c) {
    invariant(!c.closing || (!c.hello.armed() && !c.stalled_reader.armed()),
              "nothing more is expected of a connection that was sent a goodbye");
    session const* const s = sessions_.find(c.session);
    invariant(s ? s->attached == id : c.session == session_id{},
              "a connection of a session is the one that it is attached to");
  });
  sessions_.all().each([&](session_id id, session const& s) { check_session(id, s); });
  invariant(!kernel_.stopping || sessions_.all().size() == 0,
            "a stopped coordinator has no sessions");
}

std::size_t connection_verbs::armed() const {
  std::size_t count = 0;
  sessions_.connections().each([&](connection_id, connection const& c) {
    count += (c.hello.armed() ? 1U : 0U) + (c.stalled_reader.armed() ? 1U : 0U);
  });
  return count + sessions_.all().size();  // every session expires
}

void connection_verbs::hello_due(time_point now, connection_id id) {
  connection& c = *sessions_.find(id);
  time_point const expiry = kernel_.credited(c.opened, options_.hello_timeout);
  if (expiry > now) return deadlines_.arm(c.hello, {expiry, due::hello, id.value});
  say_goodbye(id, fail<&reasons::no_hello>(options_.hello_timeout), false);
}

// While the loop was stalled, the peer's reading was not checked.
void connection_verbs::stalled_reader_due(time_point now, connection_id id) {
  connection& c = *sessions_.find(id);
  time_point const expiry = kernel_.credited(c.blocked, options_.stalled_reader_timeout);
  if (expiry > now) {
    return deadlines_.arm(c.stalled_reader, {expiry, due::stalled_reader, id.value});
  }
  status const why = fail<&reasons::client_reads_nothing>(options_.stalled_reader_timeout);
  session_id const cut_off = c.session;
  say_goodbye(id, why, false);
  if (cut_off != session_id{}) end_session(now, cut_off, why);
}

void connection_verbs::note_life(time_point now, session& s) {
  s.heard = kernel_.alive_since(now);
  if (s.owes_answer) {
    s.owes_answer = false;
    s.answered = now;
  }
  if (s.probed == 0) return;
  for (task_id const task : task_list{s.tasks}) {
    if (roster_.at(task).is_probed()) concerns_.joins.holder_was_heard(now, task);
  }
}

time_point connection_verbs::expiry_of(session const& s) const {
  if (!s.grace) return kernel_.credited(s.heard, options_.heartbeat_timeout);
  if (s.is_restored) return kernel_.credited(*s.grace, options_.restart_grace);
  if (s.lost_its_trunk) return kernel_.credited(*s.grace, options_.relay_grace);
  duration const grace = options_.reconnect_grace;
  if (!never_resumes(s)) return kernel_.credited(*s.grace, grace);
  return kernel_.credited(*s.grace, std::min<duration>(grace, options_.xla_reconnect_grace));
}

void connection_verbs::arm_expiry(session_id id, session& s) {
  deadlines_.arm(s.expiry, {expiry_of(s), due::session, id.value});
}

// A heartbeat costs one store: the armed deadline stays, and only when it is due is it compared
// with the last sign of life.
void connection_verbs::check_expiry(time_point now, session_id id) {
  session& s = *sessions_.find(id);
  arm_expiry(id, s);
  if (expiry_of(s) > now) return;
  if (kernel_.is_paused(s)) {
    time_point const again = deadline_after(now, options_.heartbeat_timeout);
    return deadlines_.arm(s.expiry, {again, due::session, id.value});
  }
  ++(s.grace ? kernel_.tally.graces_expired : kernel_.tally.heartbeats_expired);
  status const why = expired(now, s);
  if (s.attached != connection_id{}) say_goodbye(s.attached, why, false);
  end_session(now, id, why);
}

status connection_verbs::expired(time_point now, session const& s) const {
  std::string const who = kernel_.whose(s);
  if (!s.grace)
    return fail<&reasons::no_heartbeat>(who, now - s.heard.since, options_.heartbeat_timeout);
  std::string const at = kernel_.moment(now, s.grace->since);
  if (s.has_sent_bye) return fail<&reasons::client_was_destroyed_at>(who, at);
  if (s.is_restored)
    return fail<&reasons::not_resumed_after_restart>(at, who, options_.restart_grace);
  if (s.lost_its_trunk)
    return fail<&reasons::relay_was_lost>(kernel_.relay_of(s), at, options_.relay_grace);
  if (never_resumes(s)) return fail<&reasons::connection_was_closed>(who, at);
  return fail<&reasons::connection_was_lost>(who, at);
}

connection_id connection_verbs::connected(time_point now, std::string peer, session_secret secret) {
  kernel_.observe(now);
  connection c;
  c.peer = std::move(peer);
  c.secret = secret;
  c.opened = kernel_.alive_since(now);
  connection_id const id = sessions_.add_connection(std::move(c));
  if (kernel_.stopping) {
    say_goodbye(id, fail<&reasons::is_about_to_stop>(), false);
    return id;
  }
  if (concerns_.restarts.is_suspended()) {
    say_goodbye(id, fail<&reasons::is_about_to_restart>(), true);
    return id;
  }
  time_point const expiry = deadline_after(now, options_.hello_timeout);
  deadlines_.arm(sessions_.find(id)->hello, {expiry, due::hello, id.value});
  return id;
}

void connection_verbs::heard(time_point now, connection_id from) {
  kernel_.observe(now);
  connection const* const c = sessions_.find(from);
  if (!c || c->closing || c->session == session_id{}) return;
  note_life(now, *sessions_.find(c->session));
}

void connection_verbs::vouched(time_point now, connection_id from) {
  kernel_.observe(now);
  connection const* const c = sessions_.find(from);
  if (!c || c->session == session_id{}) return;
  sessions_.find(c->session)->heard = kernel_.alive_since(now);
}

void connection_verbs::malformed(time_point now, connection_id from, std::string why) {
  kernel_.observe(now);
  connection const* const c = sessions_.find(from);
  if (!c || c->closing) return;
  session_id const by = c->session;
  kernel_.log(severity::warning, event_kind::refused,
              "connection from " + c->peer + " ended: " + why);
  status const cause = fail<&reasons::protocol_error>(why);
  say_goodbye(from, cause, false);
  if (by != session_id{}) end_session(now, by, cause);
}

void connection_verbs::lost(time_point now, connection_id from, loss how) {
  kernel_.observe(now);
  connection* const c = sessions_.find(from);
  if (!c) return;
  session_id const id = c->session;
  deadlines_.disarm(c->hello);
  deadlines_.disarm(c->stalled_reader);
  sessions_.erase_connection(from);
  session* const s = sessions_.find(id);
  if (!s) return;
  s->attached = {};
  if (how == loss::exited && !learns_end(*s))
    return end_session(now, id, fail<&reasons::process_ended_without_leaving>(kernel_.whose(*s)));
  if (how != loss::unreachable) s->grace = kernel_.alive_since(now);
  s->lost_its_trunk = how == loss::trunk_closed;
  suspect(now, id, s->lost_its_trunk ? "its relay was lost" : "its connection was lost");
}

// The exit code or the signal, which the owner or a supervisor reports, says more.
bool connection_verbs::learns_end(session const& s) const {
  return options_.reports_ends || concerns_.failures.is_supervised(s);
}

// Once it has joined, a JAX process ends when its connection does. While it joins it connects
// again.
bool connection_verbs::never_resumes(session const& s) const {
  auto const is_joined_jax = [&](task_id task) {
    return roster_.at(task).is_jax && roster_.at(task).is_connected();
  };
  return !s.tasks.empty() && std::all_of(s.tasks.begin(), s.tasks.end(), is_joined_jax) &&
         !learns_end(s);
}

void connection_verbs::forget_connections() {
  std::vector<connection_id> all;
  sessions_.connections().each([&](connection_id id, connection& c) {
    deadlines_.disarm(c.hello);
    deadlines_.disarm(c.stalled_reader);
    if (session* const s = sessions_.find(c.session)) s->attached = {};
    all.push_back(id);
  });
  for (connection_id const id : all) sessions_.erase_connection(id);
}

void connection_verbs::suspect(time_point now, session_id id, std::string const& why) {
  for (task_id const task : sessions_.find(id)->tasks) {
    kernel_.log_task(severity::warning, event_kind::suspect, task, {" is suspect: ", why});
    roster_.changed();
  }
  check_expiry(now, id);
}

void connection_verbs::write_blocked(time_point now, connection_id to) {
  kernel_.observe(now);
  connection* const c = sessions_.find(to);
  if (!c || c->closing || c->stalled_reader.armed()) return;
  c->blocked = kernel_.alive_since(now);
  deadlines_.arm(c->stalled_reader, {deadline_after(now, options_.stalled_reader_timeout),
                                     due::stalled_reader, to.value});
}

void connection_verbs::write_progressed(time_point now, connection_id to) {
  kernel_.observe(now);
  connection* const c = sessions_.find(to);
  if (!c) return;
  deadlines_.disarm(c->stalled_reader);
  if (session* const s = sessions_.find(c->session); s && c->reading_paused) note_life(now, *s);
}

void connection_verbs::reading_paused(time_point now, connection_id from) {
  kernel_.observe(now);
  connection* const c = sessions_.find(from);
  if (c && !c->reading_paused) c->reading_paused = kernel_.alive_since(now);
}

// A successful write is no sign of life: the kernel buffers it even for a peer that is gone. A peer
// that resumes reading shows one through `write_progressed`.
void connection_verbs::reading_resumed(time_point now, connection_id from) {
  kernel_.observe(now);
  connection* const c = sessions_.find(from);
  if (!c || !c->reading_paused) return;
  liveness const since = *std::exchange(c->reading_paused, std::nullopt);
  session* const s = sessions_.find(c->session);
  if (!s) return;
  s->heard.leave_out(since, kernel_.alive_since(now));
  arm_expiry(c->session, *s);
  for (task_id const task : s->tasks) {
    concerns_.joins.postpone_probe(now, since, task);
    concerns_.progress.come_back(now, since.since, task);
  }
}

std::size_t connection_verbs::frame_bytes_max(connection_id of) const {
  connection const* const c = sessions_.find(of);
  if (!c || c->session == session_id{}) return hello_frame_bytes_max;
  std::size_t const most = options_.frame_bytes_max();
  bool const reads_only = sessions_.find(c->session)->given == role::reader;
  return reads_only ? std::min(most, reader_frame_bytes_max) : most;
}

bool connection_verbs::is_relay(connection_id who) const {
  connection const* const c = sessions_.find(who);
  session const* const s = c ? sessions_.find(c->session) : nullptr;
  return s && s->given == role::relay;
}

// Of a client of a relay, the peer is that of the relay and what follows.
void connection_verbs::show(snapshot& in) const {
  std::map<std::string_view, std::pair<std::uint64_t, snapshot::relay>> by_peer;
  sessions_.connections().each([&](connection_id id, connection const& c) {
    if (!is_relay(id)) return;
    auto const at = c.opened.since - kernel_.started;
    snapshot::relay relay{sessions_.find(c.session)->from.label(), c.peer, 0, 0, at};
    by_peer.emplace(c.peer, std::pair{c.number, std::move(relay)});
  });
  if (by_peer.empty()) return;
  sessions_.connections().each([&](connection_id, connection const& c) {
    if (c.session == session_id{}) return;
    std::string_view const peer = c.peer;
    auto const found = by_peer.find(peer.substr(0, peer.rfind(via_relay)));
    if (found == by_peer.end() || found->first.size() == peer.size()) return;
    auto& relay = found->second.second;
    ++relay.clients;
    if (c.stalled_reader.armed()) ++relay.clients_paused;
  });
  std::map<std::uint64_t, snapshot::relay> by_number;
  for (auto& [_, entry] : by_peer) by_number.insert(std::move(entry));
  for (auto& [_, entry] : by_number) {
    if (in.relays.size() == options_.page_entries_max) {
      ++in.more_relays;
    } else {
      in.relays.push_back(std::move(entry));
    }
  }
}

std::optional<share_kind> connection_verbs::share_of(connection_id who) const {
  connection const* const c = sessions_.find(who);
  session const* const s = c ? sessions_.find(c->session) : nullptr;
  return s ? std::optional{sessions::kind_of(*s)} : std::nullopt;
}

void connection_verbs::say_goodbye(connection_id to, status why, bool may_resume, bool restarted) {
  connection& c = *sessions_.find(to);
  if (session* const s = sessions_.find(c.session)) s->attached = {};
  c.session = {};
  c.closing = true;
  deadlines_.disarm(c.hello);
  deadlines_.disarm(c.stalled_reader);
  sessions_.push(to, calls_.share(goodbye{std::move(why), may_resume, restarted}));
}

void connection_verbs::say_goodbye_to_all(status const& why, bool may_resume) {
  std::vector<connection_id> open;
  sessions_.connections().each([&](connection_id id, connection const& c) {
    if (!c.closing) open.push_back(id);
  });
  // Relays last: what comes after theirs reaches no client.
  std::stable_partition(open.begin(), open.end(),
                        [this](connection_id id) { return !is_relay(id); });
  for (connection_id const id : open) say_goodbye(id, why, may_resume);
}

void connection_verbs::end_session(time_point now, session_id id, status const& why) {
  session& s = *sessions_.find(id);
  std::vector<request_id> open;
  s.open.each([&](request_id open_id, parked const&) { open.push_back(open_id); });
  for (request_id const open_id : open) calls_.release({id, open_id});
  deadlines_.disarm(s.expiry);
  concerns_.restarts.ended(now, s);
  if (auto* const g = concerns_.guests.grant_of(s)) std::erase(g->guests, id);
  task_list const tasks = s.tasks;
  for (task_id const task : tasks) concerns_.joins.forget_holder(task);
  std::vector<undelivered> unreceived = sessions_.take_undelivered(s);
  if (s.produces) concerns_.why.plan_review();
  sessions_.erase(id);
  if (kernel_.stopping) return;
  calls_.put_back(std::move(unreceived));
  for (task_id const task : tasks) concerns_.failures.fail_task(now, task, why);
  for (concern* const each : concerns_.all) each->session_ended(now, id, why);
}

bool connection_verbs::is_deserted() const {
  bool is_empty = true;
  sessions_.all().each(
      [&](session_id, session const& s) { is_empty = is_empty && s.given == role::relay; });
  return is_empty;
}

bool connection_verbs::drained() const {
  bool owes = false;
  sessions_.all().each([&](session_id, session const& s) {
    owes = owes || std::any_of(s.kept.begin(), s.kept.end(),
                               [](kept_reply const& k) { return k.is_leave; });
  });
  return !owes;
}

void connection_verbs::bye(time_point now, session_id by, bye_args const& args) {
  session& s = *sessions_.find(by);
  status const why = args.abandoned
                         ? fail<&reasons::client_was_destroyed>(kernel_.whose(s))
                         : fail<&reasons::session_ended_without_leaving>(kernel_.whose(s));
  // Once the job has failed, going is no failure of its own.
  if (error_) {
    for (task_id const task : task_list{s.tasks}) concerns_.leaves.depart(now, task);
  }
  say_goodbye(s.attached, {}, false);
  if (!learns_end(s) || s.tasks.empty()) return end_session(now, by, why);
  s.grace = kernel_.alive_since(now);
  s.has_sent_bye = true;
  suspect(now, by, "its client was destroyed without leaving");
}

}  // namespace coxswain::core
