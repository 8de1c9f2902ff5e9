// Sessions of tasks: finding the caller, binding to connections, and their end.

#include "coxswain/xla/client_label.hpp"
#include "coxswain/xla/codec.hpp"
#include "coxswain/xla/door.hpp"

#include <algorithm>

namespace coxswain::xla {
namespace {

// How many incarnations that have left or ended are remembered, in addition to one per task.
constexpr std::size_t idle_max = 1'024;

// The session with the highest rank is meant by a call that names only a task.
int rank(task_session const& s, connection_id on) {
  int const at_home = s.bound == on ? 1 : 0;
  switch (s.is) {
    case standing::joined: return 6 + at_home;
    case standing::joining: return 4 + at_home;
    default: return at_home;
  }
}

}  // namespace

task_session* door::find_self(incarnation self) const {
  auto const at = sessions_.find(self);
  return at == sessions_.end() ? nullptr : at->second.get();
}

// By the incarnation, if the call has one; else by the task; else the only one of the connection.
task_session* door::find(request const& asked, connection_id on) const {
  if (asked.self != incarnation{}) {
    task_session* const s = find_self(asked.self);
    return s && (!asked.task || s->task == task_id{asked.task->id}) ? s : nullptr;
  }
  if (asked.task) {
    auto const at = by_task_.find(task_id{asked.task->id}.value);
    if (at == by_task_.end()) return nullptr;
    auto const& all = at->second;
    // The newest of equals.
    return *std::max_element(all.begin(), all.end(), [&](auto const* one, auto const* other) {
      return rank(*one, on) <= rank(*other, on);
    });
  }
  task_session* only = nullptr;
  for (task_session* const s : clients_.at(on)->tasks) {
    if (s->is != standing::joined) continue;
    if (only) return nullptr;
    only = s;
  }
  return only;
}

// Null: the call is refused.
task_session* door::caller(arrived_call const& a) {
  task_session* const s = find(a.asked, a.what.id.on);
  bool const is_barrier = a.of.what == method::barrier || a.of.what == method::cancel_barrier;
  auto const refuse_with = [&](status const& why) {
    a.refuse(is_barrier ? of_barrier(why, a.asked.name, a.asked.counter) : by_service(why));
    return nullptr;
  };
  std::string const task = "task " + std::to_string(a.asked.task->id);
  if (!s) {
    auto const of_task = by_task_.find(task_id{a.asked.task->id}.value);
    bool const is_held =
        of_task != by_task_.end() &&
        std::any_of(of_task->second.begin(), of_task->second.end(),
                    [](task_session const* one) { return one->is == standing::joined; });
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

carrier& door::key_carrier(arrived_call const& a) {
  task_session* const s = find(a.asked, a.what.id.on);
  if (!s || s->is != standing::joined) return a.by;
  if (s->core == connection_id{}) bind(a.now, *s, a.by);
  return *s;
}

task_session& door::open_session(arrived_call const& a) {
  auto made = std::make_unique<task_session>();
  task_session& s = *made;
  s.of_task = &s;
  s.task = task_id{a.asked.task->id};
  s.self = a.asked.self;
  s.of = a.of.of;
  s.secret = a.by.secret;
  auto number = ++a.by.sessions_made;
  for (auto& byte : s.secret) {
    byte = static_cast<std::uint8_t>(byte ^ (number & 0xff));
    number >>= 8;
  }
  sessions_.emplace(s.self, std::move(made));
  by_task_[s.task.value].push_back(&s);
  a.by.tasks.push_back(&s);
  s.bound = a.what.id.on;
  s.core = core_.connected(a.now, a.by.peer, s.secret);
  carriers_.emplace(s.core.value, &s);
  core::hello_args hello;
  hello.job = options_.job;
  hello.token = options_.token;
  hello.label = client_label(a.what.user_agent, a.of.of);
  send(a.now, s, {}, std::nullopt, std::move(hello));
  return s;
}

void door::unbind(task_session& s) {
  auto const at = clients_.find(s.bound);
  if (at != clients_.end()) std::erase(at->second->tasks, &s);
  s.bound = {};
}

// Binds the task to this connection; resumes its session if its connection was lost.
void door::bind(time_point now, task_session& s, client& to) {
  if (s.is == standing::left || s.is == standing::ended) return;
  auto const at = clients_.find(s.bound);
  if (at == clients_.end() || at->second.get() != &to) {
    unbind(s);
    s.bound = to.core;
    to.tasks.push_back(&s);
  }
  if (s.core == connection_id{}) resume(now, s, to);
}

void door::resume(time_point now, task_session& s, client const& by) {
  s.core = core_.connected(now, by.peer, s.secret);
  carriers_.emplace(s.core.value, &s);
  s.resumes = true;
  core::resume_args again;
  again.session = s.id;
  again.secret = s.secret;
  again.coordinator = self_;
  again.open = s.open;
  std::sort(again.open.begin(), again.open.end());
  send(now, s, {}, std::nullopt, std::move(again));
}

// Reports a lost connection to the core: a joined task becomes suspect.
void door::detach(time_point now, task_session& s, core::loss how) {
  if (s.core == connection_id{}) return;
  carriers_.erase(s.core.value);
  core_.session_lost(now, std::exchange(s.core, {}), how);
  s.resumes = false;
  s.detached = now;
  detached_.emplace_back(now, s.self);
}

// Forgets the sessions that were not resumed in time.
void door::drop_detached(time_point now) {
  while (!detached_.empty() &&
         deadline_after(detached_.front().first, options_.session_time) <= now) {
    auto const [since, self] = detached_.front();
    detached_.pop_front();
    task_session* const s = find_self(self);
    if (s && s->core == connection_id{} && s->detached == since) drop(now, *s);
  }
}

void door::note_idle(time_point now, task_session& s) {
  idle_.push_back(s.self);
  while (idle_.size() > idle_max + options_.num_tasks) {
    task_session* const oldest = find_self(idle_.front());
    idle_.pop_front();
    bool const is_idle = oldest && (oldest->is == standing::left || oldest->is == standing::ended);
    if (is_idle) drop(now, *oldest);
  }
}

// The session has ended, or ends now. Its open calls are answered.
void door::end_session(time_point now, task_session& s, standing as, status const& why) {
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
  if (s.core != connection_id{}) {
    carriers_.erase(s.core.value);
    core_.session_lost(now, std::exchange(s.core, {}), core::loss::closed);
  }
  note_idle(now, s);
}

// Forgets the session, and ends it in the core.
void door::drop(time_point now, task_session& s) {
  for (request_id const id : std::exchange(s.heartbeats, {})) calls_.forget(id);
  for (request_id const id : std::exchange(s.open, {})) {
    if (calls_.contains(id)) calls_.forget(id);
  }
  if (s.poll != request_id{}) calls_.forget(std::exchange(s.poll, {}));
  if (s.core != connection_id{}) {
    send(now, s, {}, std::nullopt, core::bye_args{});
    carriers_.erase(s.core.value);
    core_.session_lost(now, std::exchange(s.core, {}), core::loss::closed);
  }
  unbind(s);
  auto const of_task = by_task_.find(s.task.value);
  std::erase(of_task->second, &s);
  if (of_task->second.empty()) by_task_.erase(of_task);  // clients can name any number
  sessions_.erase(s.self);
}

void door::answer_poll(task_session& s, outcome how) {
  if (s.poll == request_id{}) return;
  calls_.finish(std::exchange(s.poll, {}), std::move(how));
}

}  // namespace coxswain::xla
