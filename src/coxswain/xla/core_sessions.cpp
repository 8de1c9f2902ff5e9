#include "coxswain/xla/core_sessions.hpp"

#include "coxswain/xla/client_label.hpp"

#include <algorithm>

namespace coxswain::xla {
namespace {

// How many incarnations that have left or ended are remembered, in addition to one per task.
constexpr std::size_t idle_max = 1'024;

}  // namespace

core_sessions::core_sessions(xla_service_options const& options, incarnation self, core_port& core,
                             session_table& sessions, open_call_table& calls,
                             reply_writer const& replies)
    : options_{options},
      self_{self},
      core_{core},
      sessions_{sessions},
      calls_{calls},
      replies_{replies} {}

void core_sessions::open(time_point now, client& c) {
  say_hello(now, c, "jax, " + client_place(c.peer, options_.host));
}

task_session& core_sessions::open(arrived_call const& a) {
  task_session& s = sessions_.add(a.by, task_id{a.asked.task->id}, a.asked.self);
  s.of = a.of.of;
  s.secret = a.by.secret;
  auto number = ++a.by.sessions_made;
  for (auto& byte : s.secret) {
    byte = static_cast<std::uint8_t>(byte ^ (number & 0xff));
    number >>= 8;
  }
  sessions_.attach(s, core_.connected(a.now, a.by.peer, s.secret));
  say_hello(
      a.now, s,
      client_label(a.what.user_agent, a.of.of) + ", " + client_place(a.by.peer, options_.host));
  return s;
}

task_session* core_sessions::caller(arrived_call const& a) {
  task_session* const s = sessions_.find(a.asked, a.by);
  bool const is_barrier = a.of.what == method::barrier || a.of.what == method::cancel_barrier;
  auto const refuse_with = [&](status const& why) {
    a.refuse(is_barrier ? of_barrier(why, a.asked.name, a.asked.counter) : by_service(why));
    return nullptr;
  };
  if (!s) {
    std::string const task = "task " + std::to_string(a.asked.task->id);
    auto const all = sessions_.of_task(task_id{a.asked.task->id});
    bool const is_held = std::any_of(all.begin(), all.end(), [](task_session const* session) {
      return session->is == standing::joined;
    });
    if (is_held && a.asked.self != incarnation{}) {
      return refuse_with({errc::aborted, task + " is held by another incarnation"});
    }
    errc const code =
        a.of.what == method::heartbeat ? errc::invalid_argument : errc::failed_precondition;
    return refuse_with({code, task + " is not registered: RegisterTask comes first"});
  }
  if (s->is == standing::ended) {
    bool const polls = a.of.what == method::poll_for_error;
    return refuse_with({polls ? errc::failed_precondition : errc::aborted, s->why_ended.message()});
  }
  if (s->is == standing::joined && s->core == connection_id{}) bind(a.now, *s, a.by);
  return s;
}

carrier& core_sessions::key_carrier(arrived_call const& a) {
  task_session* const s = sessions_.find(a.asked, a.by);
  if (!s || s->is != standing::joined) return a.by;
  if (s->core == connection_id{}) bind(a.now, *s, a.by);
  return *s;
}

void core_sessions::bind(time_point now, task_session& s, client& to) {
  if (s.is == standing::left || s.is == standing::ended) return;
  if (s.bound != to.core) {
    sessions_.unbind(s);
    session_table::bind(s, to);
  }
  if (s.core == connection_id{}) resume(now, s, to);
}

void core_sessions::resume(time_point now, task_session& s, client const& by) {
  sessions_.attach(s, core_.connected(now, by.peer, s.secret));
  s.resumes = true;
  core::resume_args again;
  again.session = s.id;
  again.secret = s.secret;
  again.coordinator = self_;
  again.open = s.open;
  std::sort(again.open.begin(), again.open.end());
  send(now, s, {}, std::nullopt, std::move(again));
}

void core_sessions::detach(time_point now, task_session& s, core::loss how) {
  if (s.core == connection_id{}) return;
  core_.session_lost(now, sessions_.detach(s), how);
  s.resumes = false;
  sessions_.note_detached(now, s);
}

void core_sessions::drop_detached(time_point now) {
  while (task_session* const s = sessions_.take_due(now, options_.session_time)) drop(now, *s);
}

void core_sessions::end(time_point now, task_session& s, standing as, status const& why) {
  s.is = as;
  s.why_ended = why;
  s.resumes = false;
  s.join = {};
  s.done = {};
  for (request_id const id : std::exchange(s.heartbeats, {})) fail_call(id, why);
  for (request_id const id : std::exchange(s.open, {})) {
    if (calls_.contains(id)) fail_call(id, why);
  }
  if (as == standing::ended) answer_poll(s, by_service(why));
  if (s.core != connection_id{}) core_.session_lost(now, sessions_.detach(s), core::loss::closed);
  sessions_.note_idle(s);
  while (task_session* const oldest = sessions_.take_surplus(idle_max + options_.num_tasks)) {
    drop(now, *oldest);
  }
}

void core_sessions::drop(time_point now, task_session& s) {
  for (request_id const id : std::exchange(s.heartbeats, {})) calls_.forget(id);
  for (request_id const id : std::exchange(s.open, {})) {
    if (calls_.contains(id)) calls_.forget(id);
  }
  if (s.poll != request_id{}) calls_.forget(std::exchange(s.poll, {}));
  if (s.core != connection_id{}) {
    send(now, s, {}, std::nullopt, core::bye_args{});
    core_.session_lost(now, sessions_.detach(s), core::loss::closed);
  }
  sessions_.remove(s);
}

void core_sessions::answer_poll(task_session& s, outcome how) {
  if (s.poll == request_id{}) return;
  calls_.finish(std::exchange(s.poll, {}), std::move(how));
}

void core_sessions::fail_call(request_id id, status const& why) {
  status const given = why.ok() ? status{errc::unavailable, "the session has ended"} : why;
  calls_.finish(id, replies_.failed(calls_.at(id), given));
}

void core_sessions::submit(time_point now, open_call call, std::optional<task_id> task,
                           core::request&& what) {
  carrier& by = *call.by;
  request_id const id = calls_.add(std::move(call));
  by.open.push_back(id);
  send(now, by, id, task, std::move(what));
}

void core_sessions::send(time_point now, carrier& by, request_id id, std::optional<task_id> task,
                         core::request&& what) {
  core::client_message message;
  message.id = id;
  message.answered_through = by.received;
  message.task = task;
  message.what = std::move(what);
  core_.received(now, by.core, std::move(message));
}

void core_sessions::say_hello(time_point now, carrier& by, std::string label) {
  core::hello_args hello;
  hello.job = options_.job;
  hello.token = options_.token;
  hello.label = std::move(label);
  send(now, by, {}, std::nullopt, std::move(hello));
}

}  // namespace coxswain::xla
