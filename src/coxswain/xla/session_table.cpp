#include "coxswain/xla/session_table.hpp"

#include "coxswain/base/invariant.hpp"

#include <algorithm>

namespace coxswain::xla {
namespace {

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

client& session_table::add_client(time_point now, connection_id on, std::string peer,
                                  core::session_secret const& secret) {
  auto made = std::make_unique<client>();
  made->core = on;
  made->peer = std::move(peer);
  made->secret = secret;
  made->heard = made->reported = now;
  carriers_.emplace(on.value, made.get());
  return *clients_.emplace(on, std::move(made)).first->second;
}

void session_table::remove_client(client const& which) {
  connection_id const on = which.core;
  carriers_.erase(on.value);
  clients_.erase(on);
}

client* session_table::find_client(connection_id on) const {
  auto const at = clients_.find(on);
  return at == clients_.end() ? nullptr : at->second.get();
}

task_session& session_table::add(client& on, task_id task, incarnation self) {
  auto made = std::make_unique<task_session>();
  task_session& s = *made;
  s.of_task = &s;
  s.task = task;
  s.self = self;
  sessions_.emplace(self, std::move(made));
  by_task_[task.value].push_back(&s);
  bind(s, on);
  return s;
}

void session_table::remove(task_session& s) {
  unbind(s);
  auto const of_task = by_task_.find(s.task.value);
  std::erase(of_task->second, &s);
  if (of_task->second.empty()) by_task_.erase(of_task);  // clients can name any number
  sessions_.erase(s.self);
}

task_session* session_table::find(incarnation self) const {
  auto const at = sessions_.find(self);
  return at == sessions_.end() ? nullptr : at->second.get();
}

task_session* session_table::find(request const& asked, client const& on) const {
  if (asked.self != incarnation{}) {
    task_session* const s = find(asked.self);
    return s && (!asked.task || s->task == task_id{asked.task->id}) ? s : nullptr;
  }
  if (asked.task) {
    auto const at = by_task_.find(task_id{asked.task->id}.value);
    if (at == by_task_.end()) return nullptr;
    auto const& all = at->second;
    // The newest of equals.
    return *std::max_element(all.begin(), all.end(), [&](auto const* session, auto const* other) {
      return rank(*session, on.core) <= rank(*other, on.core);
    });
  }
  task_session* only = nullptr;
  for (task_session* const s : on.tasks) {
    if (s->is != standing::joined) continue;
    if (only) return nullptr;
    only = s;
  }
  return only;
}

std::vector<task_session*> session_table::of_task(task_id task) const {
  auto const at = by_task_.find(task.value);
  return at == by_task_.end() ? std::vector<task_session*>{} : at->second;
}

void session_table::bind(task_session& s, client& to) {
  s.bound = to.core;
  to.tasks.push_back(&s);
}

void session_table::unbind(task_session& s) {
  if (client* const from = find_client(s.bound)) std::erase(from->tasks, &s);
  s.bound = {};
}

void session_table::attach(carrier& carrier, connection_id core) {
  carrier.core = core;
  carriers_.emplace(core.value, &carrier);
}

connection_id session_table::detach(carrier& carrier) {
  carriers_.erase(carrier.core.value);
  return std::exchange(carrier.core, {});
}

carrier* session_table::find_carrier(connection_id core) const {
  auto const at = carriers_.find(core.value);
  return at == carriers_.end() ? nullptr : at->second;
}

void session_table::note_detached(time_point now, task_session& s) {
  s.detached = now;
  detached_.emplace_back(now, s.self);
}

std::optional<time_point> session_table::next_due(duration limit) const {
  if (detached_.empty()) return std::nullopt;
  return deadline_after(detached_.front().first, limit);
}

task_session* session_table::take_due(time_point now, duration limit) {
  while (!detached_.empty() && deadline_after(detached_.front().first, limit) <= now) {
    auto const [since, self] = detached_.front();
    detached_.pop_front();
    task_session* const s = find(self);
    if (s && s->core == connection_id{} && s->detached == since) return s;
  }
  return nullptr;
}

task_session* session_table::take_surplus(std::size_t most) {
  while (idle_.size() > most) {
    task_session* const oldest = find(idle_.front());
    idle_.pop_front();
    bool const is_idle = oldest && (oldest->is == standing::left || oldest->is == standing::ended);
    if (is_idle) return oldest;
  }
  return nullptr;
}

void session_table::check_invariants(open_call_table const& calls) const {
  for (auto const& [_, all] : by_task_) invariant(!all.empty(), "a known task has sessions");
  for (auto const& [self, s] : sessions_) {
    invariant(s->self == self, "an incarnation is found");
    auto const& of_task = by_task_.at(s->task.value);
    invariant(std::count(of_task.begin(), of_task.end(), s.get()) == 1, "a task has its sessions");
    if (s->bound != connection_id{}) {
      auto const& tasks = clients_.at(s->bound)->tasks;
      invariant(std::count(tasks.begin(), tasks.end(), s.get()) == 1, "a connection has its tasks");
    }
    invariant(s->poll == request_id{} || calls.contains(s->poll), "a poll is an open call");
  }
}

}  // namespace coxswain::xla
