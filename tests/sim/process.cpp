#include "tests/sim/process.hpp"

#include <utility>

namespace coxswain::sim {

void pending_call::await_suspend(std::coroutine_handle<> waiting) {
  by_.waiting_[id_] = process::waiter{waiting, this};
}

core::answer pending_call::await_resume() { return std::move(what_); }

process::process(agent_options options, std::optional<task_id> id)
    : logic{std::move(options)}, task{id} {}

pending_call process::make(core::request what, duration timeout) {
  return ask(std::move(what), timeout);
}

pending_call process::join(incarnation self, duration timeout) {
  return make(core::join_args{self, timeout}, timeout);
}
pending_call process::leave(duration timeout) { return make(core::leave_args{timeout}, timeout); }
pending_call process::barrier(std::string name, duration timeout) {
  core::barrier_args args{.name = std::move(name)};
  return make(std::move(args), timeout);
}
pending_call process::all_gather(std::string name, std::string data, duration timeout) {
  core::barrier_args args{.name = std::move(name), .gather = true, .data = std::move(data)};
  return make(std::move(args), timeout);
}
pending_call process::put(std::string key, std::string value, bool overwrite) {
  return make(core::put_args{std::move(key), std::move(value), overwrite, false}, 300s);
}
pending_call process::get(std::string key, duration timeout) {
  return make(core::get_args{std::move(key), timeout}, timeout);
}
pending_call process::try_get(std::string key) {
  return make(core::try_get_args{std::move(key)}, 300s);
}
pending_call process::list(std::string directory) {
  return make(core::list_args{std::move(directory)}, 300s);
}
pending_call process::remove(std::string key) {
  return make(core::remove_args{std::move(key)}, 300s);
}
pending_call process::increment(std::string key, std::int64_t by) {
  return make(core::increment_args{std::move(key), by}, 300s);
}
pending_call process::count_barrier(std::string name, std::uint32_t count) {
  return make(core::count_barrier_args{std::move(name), count, 300s}, 300s);
}

pending_call process::ask(core::request what, duration timeout, std::optional<task_id> as) {
  return {*this, begin(std::move(what), timeout, as)};
}

request_id process::begin(core::request what, duration timeout, std::optional<task_id> as) {
  std::optional<core::request> seen;
  if (seen_by) seen = what;
  request_id const id = logic.call(now, std::move(what), timeout, as);
  waiting_.emplace(id, waiter{});
  if (seen) seen_by->called(*this, id, *seen, timeout, as);
  return id;
}

void process::cancel(request_id call) {
  if (waiting_.erase(call) == 0) return;
  taken_back_.insert(call);
  logic.cancel(now, call);
  if (seen_by) seen_by->cancelled(*this, call);
}

void process::see(agent_event const& e) {
  if (auto const* const failed = std::get_if<agent_events::job_failed>(&e)) {
    job_failure = failed->what;
  }
  if (auto const* const over = std::get_if<agent_events::ended>(&e)) ended = over->why;
  if (std::holds_alternative<agent_events::reconnected>(e)) ++reconnected;
  if (seen_by) seen_by->on_event(*this, e);
}

void process::complete(agent_completion& c) {
  auto const at_call = waiting_.find(c.call);
  if (at_call == waiting_.end()) {
    if (!taken_back_.contains(c.call)) ++completed_twice;
    return;
  }
  waiter const w = at_call->second;
  waiting_.erase(at_call);
  if (seen_by) seen_by->answered(*this, c.call, c.what);
  if (!w.call) return;
  w.call->what_ = std::move(c.what);
  w.resume.resume();
}

void process::settle(time_point at) {
  now = at;
  for (;;) {
    logic.take_events(events_);
    for (agent_event const& e : std::vector{events_}) see(e);
    std::vector<agent_completion> batch;
    logic.take_completions(batch);
    if (batch.empty()) break;
    for (agent_completion& c : batch) complete(c);
  }
  taken_back_.clear();
}

}  // namespace coxswain::sim
