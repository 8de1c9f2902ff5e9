// Connections, the end of sessions, and how a request finds its verb.

#include "coxswain/core/state.hpp"
#include "coxswain/core/text.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::core {
namespace {

// Requests that may answer somebody's get or pop.
template <class Args>
constexpr bool makes_something =
    std::is_same_v<Args, put_args> || std::is_same_v<Args, put_all_args> ||
    std::is_same_v<Args, compare_and_set_args> || std::is_same_v<Args, append_args> ||
    std::is_same_v<Args, increment_args> || std::is_same_v<Args, push_args>;

}  // namespace

connection_id coordinator::state::connected(time_point now, std::string peer,
                                            session_secret secret) {
  observe(now);
  connection c;
  c.peer = std::move(peer);
  c.secret = secret;
  c.opened = alive_since(now);
  connection_id const id = sessions_.add_connection(std::move(c));
  if (stopping_) {
    say_goodbye(id, {errc::unavailable, "the coordinator is stopping"}, false);
    return id;
  }
  time_point const expiry = deadline_after(now, options.hello_timeout);
  deadlines_.arm(sessions_.find(id)->hello, {expiry, due::hello, id.value});
  return id;
}

void coordinator::state::heard(time_point now, connection_id from) {
  observe(now);
  connection const* const c = sessions_.find(from);
  if (!c || c->closing || c->session == session_id{}) return;
  note_life(now, *sessions_.find(c->session));
}

void coordinator::state::received(time_point now, connection_id from, client_message&& message) {
  observe(now);
  connection const* const c = sessions_.find(from);
  if (!c || c->closing) return;
  if (c->session == session_id{}) {
    if (auto const* const args = std::get_if<hello_args>(&message.what)) {
      hello(now, from, *args);
    } else if (auto const* const again = std::get_if<resume_args>(&message.what)) {
      resume(now, from, message.answered_through, *again);
    } else {
      malformed(now, from, "the first message must be Hello or Resume");
    }
  } else {
    session_id const by = c->session;
    session& s = *sessions_.find(by);
    note_life(now, s);
    if (!sessions_.acknowledge(s, message.answered_through)) {
      malformed(now, from,
                "answered_through is " + std::to_string(message.answered_through) + ", but only " +
                    std::to_string(s.replies_sent) + " replies were sent");
    } else {
      dispatch(now, by, std::move(message));
    }
  }
}

void coordinator::state::expect_session(connection_id from) const {
  if (auto const* const c = sessions_.find(from)) sessions_.expect(c->session);
}

void coordinator::state::expect_requests(connection_id from) const {
  if (auto const* const c = sessions_.find(from)) sessions_.expect_requests(c->session);
}

void coordinator::state::malformed(time_point now, connection_id from, std::string why) {
  observe(now);
  connection const* const c = sessions_.find(from);
  if (!c || c->closing) return;
  session_id const by = c->session;
  log(severity::warning, event_kind::refused, "connection from " + c->peer + " ended: " + why);
  status const cause{errc::invalid_argument, "protocol error: " + std::move(why)};
  say_goodbye(from, cause, false);
  if (by != session_id{}) end_session(now, by, cause);
}

void coordinator::state::lost(time_point now, connection_id from, loss how) {
  observe(now);
  connection* const c = sessions_.find(from);
  if (!c) return;
  session_id const id = c->session;
  deadlines_.disarm(c->hello);
  deadlines_.disarm(c->stalled_reader);
  sessions_.erase_connection(from);
  session* const s = sessions_.find(id);
  if (!s) return;
  s->attached = {};
  if (how == loss::closed) s->grace = alive_since(now);
  suspect(now, id, "its connection was lost");
}

void coordinator::state::suspect(time_point now, session_id id, std::string const& why) {
  for (task_id const task : sessions_.find(id)->tasks) {
    log(severity::warning, event_kind::suspect, who(task) + " is suspect: " + why, task);
    roster_.changed();
  }
  check_expiry(now, id);
}

void coordinator::state::write_blocked(time_point now, connection_id to) {
  observe(now);
  connection* const c = sessions_.find(to);
  if (!c || c->closing || c->stalled_reader.armed()) return;
  c->blocked = alive_since(now);
  deadlines_.arm(c->stalled_reader, {deadline_after(now, options.stalled_reader_timeout),
                                     due::stalled_reader, to.value});
}

void coordinator::state::write_progressed(time_point now, connection_id to) {
  observe(now);
  connection* const c = sessions_.find(to);
  if (!c) return;
  deadlines_.disarm(c->stalled_reader);
  if (session* const s = sessions_.find(c->session); s && c->held_back) note_life(now, *s);
}

void coordinator::state::held_back(time_point now, connection_id from) {
  observe(now);
  connection* const c = sessions_.find(from);
  if (c && !c->held_back) c->held_back = alive_since(now);
}

// That what waited was written is no sign of life: the kernel takes it for a peer that is gone,
// too. Who had stopped reading and goes on has given one to `write_progressed`.
void coordinator::state::read_again(time_point now, connection_id from) {
  observe(now);
  connection* const c = sessions_.find(from);
  if (!c || !c->held_back) return;
  liveness const since = *std::exchange(c->held_back, std::nullopt);
  session* const s = sessions_.find(c->session);
  if (!s) return;
  s->heard.leave_out(since, alive_since(now));
  arm_expiry(c->session, *s);
  for (task_id const task : s->tasks) {
    postpone_probe(now, since, task);
    come_back(now, since.since, task);
  }
}

bool coordinator::state::is_held_back(session const& s) const {
  connection const* const c = sessions_.find(s.attached);
  return c && c->held_back;
}

std::size_t coordinator::state::frame_bytes_max(connection_id of) const {
  connection const* const c = sessions_.find(of);
  if (!c || c->session == session_id{}) return hello_frame_bytes_max;
  std::size_t const most = options.frame_bytes_max();
  bool const reads_only = sessions_.find(c->session)->given == role::reader;
  return reads_only ? std::min(most, reader_frame_bytes_max) : most;
}

std::optional<share_kind> coordinator::state::share_of(connection_id who) const {
  connection const* const c = sessions_.find(who);
  session const* const s = c ? sessions_.find(c->session) : nullptr;
  return s ? std::optional{sessions::kind_of(*s)} : std::nullopt;
}

void coordinator::state::say_goodbye(connection_id to, status why, bool may_resume,
                                     bool restarted) {
  connection& c = *sessions_.find(to);
  if (session* const s = sessions_.find(c.session)) s->attached = {};
  c.session = {};
  c.closing = true;
  deadlines_.disarm(c.hello);
  deadlines_.disarm(c.stalled_reader);
  sessions_.push(to, share(goodbye{std::move(why), may_resume, restarted}));
}

void coordinator::state::stop(time_point now, std::string reason) {
  observe(now);
  if (stopping_) return;
  stopping_ = true;
  log(severity::info, event_kind::stopping, "stopping: " + reason);
  status const why{errc::aborted, "the coordinator stops: " + reason};
  fail_all_rounds(now, why);
  answer_all(alive_queries_.callers(), share(why));
  fail_join(share(why));
  fail_leave(now, share(why));
  end_agreement(why);
  end_exchanges(why);
  end_returns();
  for (std::uint32_t i = 0; i < roster_.size(); ++i) end_challenge(task_id{i}, share(why));
  std::vector<ticket> waiting;
  for (auto const& [_, barrier] : count_barriers_.all()) {
    for (auto const& [number, waiter] : barrier.arrived) waiting.push_back(waiter);
  }
  answer_all(waiting, share(why));
  cancel_reads(why.message());
  answer_all(key_watches_.take_all(), share(status{errc::unavailable, why.message()}));
  end_watches({errc::unavailable, why.message()});
  std::vector<connection_id> open;
  sessions_.connections().each([&](connection_id id, connection const& c) {
    if (!c.closing) open.push_back(id);
  });
  for (connection_id const id : open) say_goodbye(id, {errc::unavailable, why.message()}, false);
  std::vector<session_id> ended;
  sessions_.all().each([&](session_id id, session&) { ended.push_back(id); });
  for (session_id const id : ended) end_session(now, id, why);
  grants_.clear();
  keys_.forget_changes();  // nobody can ask for them any more
  barriers_.forget_owed();
  deadlines_.disarm(review_);
  tell_wrong_tokens(now);
  deadlines_.disarm(wrong_tokens_due_);
}

// --- The end of a session --------------------------------------------------------------------

void coordinator::state::end_session(time_point now, session_id id, status const& why) {
  session& s = *sessions_.find(id);
  std::vector<request_id> open;
  s.open.each([&](request_id open_id, parked const&) { open.push_back(open_id); });
  for (request_id const open_id : open) release({id, open_id});
  deadlines_.disarm(s.expiry);
  if (auto* const g = grant_of(s)) std::erase(g->guests, id);
  std::vector<task_id> const tasks = s.tasks;
  for (task_id const task : tasks) forget_holder(task);
  std::vector<undelivered> items = sessions_.take_undelivered(s);
  if (s.produces) plan_review();
  sessions_.erase(id);
  if (stopping_) return;
  put_back(std::move(items));
  for (task_id const task : tasks) fail_task(now, task, why);
  end_grants(now, id, {why.code(), "the session of its task has ended: " + why.message()});
}

void coordinator::state::park(call const& c, parked&& p) {
  p.since = c.now;
  bool const is_wait = p.task && p.where != parked::place::join;
  if (is_wait) roster_.at(*p.task).waits.push_back(c.from);
  if (blocks(p)) {
    task& t = roster_.at(*p.task);
    wait_begins(c.now, t);
    t.blocked.begin(c.now, kind_of_wait(p));
    plan_review();
  }
  sessions_.park(c.by, c.from.request, std::move(p));
}

blocking_calls::wait coordinator::state::kind_of_wait(parked const& p) {
  if (is_get_or_pop(p)) return blocking_calls::wait::for_anybody;
  return p.where == parked::place::count_barrier ? blocking_calls::wait::for_outsiders
                                                 : blocking_calls::wait::for_tasks;
}

std::optional<parked> coordinator::state::unpark(ticket who) {
  auto p = sessions_.unpark(who);
  if (!p) return p;
  deadlines_.disarm(p->deadline);
  if (p->task && p->where != parked::place::join) {
    auto& waits = roster_.at(*p->task).waits;
    bool const is_newest = waits.back() == who;
    waits.erase(is_newest ? waits.end() - 1 : std::find(waits.begin(), waits.end(), who));
  }
  if (blocks(*p)) {
    task& t = roster_.at(*p->task);
    t.blocked.end(kind_of_wait(*p));
    wait_has_ended(observed_, t);
    watch_progress(*p->task);
    if (!stuck_told_.empty()) plan_review();
  }
  return p;
}

std::optional<parked> coordinator::state::release(ticket who) {
  auto p = unpark(who);
  if (!p) return p;
  switch (p->where) {
    case parked::place::key: keys_.withdraw(p->name.get(), p->number); break;
    case parked::place::count_barrier: count_barriers_.withdraw(p->name.get(), p->number); break;
    case parked::place::barrier: leave_round(p->number, *p->task); break;
    case parked::place::join: abandon_join(*p->task, who); break;
    case parked::place::leave: abandon_leave(*p->task, who); break;
    case parked::place::preemption: preemption_.withdraw(*p->task); break;
    case parked::place::keys:
      sessions_.let_go(*sessions_.find(who.session), joint_gets_.at(p->number).bytes);
      end_joint_get(p->number);
      break;
    case parked::place::queue: queues_.withdraw(p->name.get(), p->number); break;
    case parked::place::key_changes: key_watches_.withdraw(p->name.get(), p->number); break;
    case parked::place::alive: alive_queries_.withdraw(p->number, *p->task, who); break;
    case parked::place::tasks: watchers_of_tasks_.withdraw(p->number); break;
    case parked::place::events: watchers_of_events_.withdraw(p->number); break;
    case parked::place::topology: topologies_.withdraw(p->name.get(), *p->task); break;
    case parked::place::sync_point:
      if (auto* const g = grant_of(*sessions_.find(who.session))) std::erase(g->at_sync_point, who);
      break;
  }
  return p;
}

void coordinator::state::arm_call(call const& c, parked& p, duration timeout) {
  if (timeout == without_limit) return;
  deadlines_.arm(p.deadline, {deadline_after(c.now, timeout), due::call, c.from.session.value,
                              c.from.request.value});
}

// --- Requests --------------------------------------------------------------------------------

void coordinator::state::dispatch(time_point now, session_id by, client_message&& message) {
  session& s = *sessions_.find(by);
  connection_id const from = s.attached;
  bool const says_nothing = std::holds_alternative<std::monostate>(message.what);
  if (says_nothing && message.id == request_id{}) {
    tally.count_request(operation_of<std::monostate>, errc::ok);
    if (!std::exchange(s.wrote_since_heartbeat, false)) sessions_.push(from, share(status{}));
    return;
  }
  if (auto const* const bye = std::get_if<bye_args>(&message.what)) {
    tally.count_request(operation_of<bye_args>, errc::ok);
    status const why{errc::unavailable, "the client of " + whose(s) +
                                            (bye->abandoned ? " was destroyed" : " said Bye") +
                                            " without leaving"};
    // Once the job has failed, going is no failure of its own.
    if (error) {
      for (task_id const task : std::vector{s.tasks}) depart(now, task);
    }
    say_goodbye(from, {}, false);
    if (!options.reports_ends || s.tasks.empty()) return end_session(now, by, why);
    s.grace = alive_since(now);
    s.has_said_bye = true;
    return suspect(now, by, "its client was destroyed without leaving");
  }
  if (auto const* const withdrawn = std::get_if<withdraw_args>(&message.what)) {
    tally.count_request(operation_of<withdraw_args>, errc::ok);
    release({by, withdrawn->request});
    return put_back(sessions_.take_withdrawn(s, withdrawn->request));
  }
  if (auto const* const asked = std::get_if<ask_waiting_args>(&message.what)) {
    tally.count_request(operation_of<ask_waiting_args>, errc::ok);
    return tell_waiting(now, s, {by, asked->request});
  }
  if (std::holds_alternative<hello_args>(message.what) ||
      std::holds_alternative<resume_args>(message.what)) {
    return malformed(now, from, "a second handshake on one connection");
  }
  if (!sessions_.admit(s, message.id)) {
    return malformed(now, from,
                     "request id " + std::to_string(message.id.value) + " does not rise above " +
                         std::to_string(s.highest.value));
  }
  operation const what =
      says_nothing ? unknown_operation : operation{static_cast<std::uint8_t>(message.what.index())};
  call c{now, {by, message.id}, s, std::nullopt, what};
  if (says_nothing) {
    return refuse(c, {errc::unimplemented, "this coordinator, version " + options.version +
                                               ", does not know this kind of request"});
  }
  sessions_.classify(s);
  if (status why = admissible(s, message); !why.ok()) return refuse(c, std::move(why));
  auto const task = acting_task(by, s, message);
  if (!task) return refuse(c, task.error());
  c.task = *task;
  std::visit(
      [&]<class Args>(Args& args) {
        if (makes_something<Args> && s.tasks.empty() && !s.guest_of) s.produces = true;
        if constexpr (requires { handle(c, args); }) handle(c, args);
      },
      message.what);
}

// Acting for a task needs the session that joined it, so a zombie can do nothing (semantics D3).
result<std::optional<task_id>> coordinator::state::acting_task(
    session_id by, session const& s, client_message const& message) const {
  bool const joins = std::holds_alternative<join_args>(message.what) ||
                     std::holds_alternative<reset_args>(message.what);
  auto const replaced = [&](task_id id) {
    return status{errc::aborted, who(id) + " is held by another session: this one was replaced"};
  };
  if (!message.task) {
    // A session that has nothing but tasks which others hold now is no observer.
    if (s.tasks.empty() && !s.replaced.empty() && !joins) return replaced(s.replaced.back());
    bool const is_plain = s.tasks.size() == 1 && roster_.at(s.tasks.front()).is_connected();
    if (is_plain) return std::optional{s.tasks.front()};
    if (s.guest_of) return acting_guest(s, message);
    return std::nullopt;
  }
  task_id const id = *message.task;
  if (!roster_.has(id)) {
    return status{errc::invalid_argument, "there is no task " + std::to_string(id.value) +
                                              "; the job has tasks 0 to " +
                                              std::to_string(roster_.size() - 1)};
  }
  if (joins && !s.guest_of) return std::optional{id};
  task const& t = roster_.at(id);
  if (t.is_connected() && t.held_by == by) return std::optional{id};
  if (s.guest_of) {
    auto const as_guest = acting_guest(s, message);
    if (!as_guest || *as_guest) return as_guest;
  }
  if (std::find(s.replaced.begin(), s.replaced.end(), id) != s.replaced.end()) return replaced(id);
  if (error) return job_failed(errc::failed_precondition);
  if (t.state == task_state::failed) return status{errc::failed_precondition, has_failed(id)};
  std::string const text = "task " + std::to_string(id.value);
  if (t.state == task_state::left || t.state == task_state::returning) {
    return status{errc::failed_precondition, text + " has left; it may join again"};
  }
  return status{errc::failed_precondition, text + (t.state == task_state::joining && t.held_by == by
                                                       ? " is still joining"
                                                       : " has not joined by this session")};
}

// --- Answers ---------------------------------------------------------------------------------

answer_ptr coordinator::state::share(status outcome) const {
  if (outcome.ok()) return plain_ok_;
  return make_answer({std::move(outcome), {}});
}

void coordinator::state::answer_now(call const& c, answer_ptr what, bool keep) {
  tally.count_request(c.what, what->outcome.code());
  sessions_.reply(c.from, std::move(what), keep);
}

void coordinator::state::answer_parked(ticket who, answer_ptr what) {
  parked::place const where = release(who).value().where;
  bool const is_read = where == parked::place::key || where == parked::place::keys ||
                       where == parked::place::key_changes || where == parked::place::tasks ||
                       where == parked::place::events;
  tally.count_request(operation_at(where), what->outcome.code());
  // A session's tasks join once; the next session's replies take the room of its requests.
  if (where == parked::place::join) sessions_.find(who.session)->open.give_back();
  sessions_.reply(who, std::move(what), !is_read, where == parked::place::leave);
}

// Asks for the memory that answering those after `tickets[i]` takes: at each distance for what can
// be found by what was asked for before.
void coordinator::state::expect_all(std::vector<ticket> const& tickets, std::size_t i) const {
  if (i + 6 < tickets.size()) sessions_.expect(tickets[i + 6].session);
  if (i + 4 < tickets.size()) sessions_.expect_requests(tickets[i + 4].session);
  if (i + 2 < tickets.size()) {
    auto const* const p = sessions_.parked_at(tickets[i + 2]);
    if (p && p->task) prefetch(roster_.at(*p->task));
  }
}

void coordinator::state::answer_all(std::vector<ticket> const& tickets, answer_ptr const& what) {
  // Doubled on the way, the room for many could be twice what is needed.
  if (tickets.size() > out.size()) out.reserve(out.size() + tickets.size());
  for (std::size_t i = 0; i < tickets.size(); ++i) {
    expect_all(tickets, i);
    answer_parked(tickets[i], what);
  }
}

void coordinator::state::log(severity level, event_kind kind, std::string text,
                             std::optional<task_id> task, std::string_view barrier) {
  events.push_back({level, std::move(text), kind, task, std::string{barrier}});
  event_log_.add(observed_ - started_, events.back(), task ? who(*task) : std::string{});
}

std::string coordinator::state::moment(time_point now, time_point at) const {
  return clock_text(options.started.plus(at - started_), options.started.plus(now - started_));
}

}  // namespace coxswain::core
