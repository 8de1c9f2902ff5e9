#include "tests/sim/process.hpp"

#include <utility>

namespace coxswain::sim {

void pending_call::await_suspend(std::coroutine_handle<> waiting) {
  by_.waiting_.emplace(id_, process::waiter{waiting, this});
}

core::answer pending_call::await_resume() { return std::move(what_); }

process::process(agent_options options, std::optional<task_id> id)
    : brain{std::move(options)}, task{id} {}

pending_call process::make(core::request what, duration timeout) {
  return {*this, brain.call(now, std::move(what), timeout)};
}

pending_call process::join(incarnation self, duration timeout) {
  return make(core::join_args{self, timeout}, timeout);
}
pending_call process::leave(duration timeout) { return make(core::leave_args{timeout}, timeout); }
pending_call process::barrier(std::string name, duration timeout) {
  core::barrier_args args;
  args.name = std::move(name);
  return make(std::move(args), timeout);
}
pending_call process::all_gather(std::string name, std::string data, duration timeout) {
  core::barrier_args args;
  args.name = std::move(name);
  args.gather = true;
  args.data = std::move(data);
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
  return make(core::remove_args{std::move(key), false}, 300s);
}
pending_call process::increment(std::string key, std::int64_t by) {
  return make(core::increment_args{std::move(key), by}, 300s);
}
pending_call process::count_barrier(std::string name, std::uint32_t count) {
  return make(core::count_barrier_args{std::move(name), count, 300s}, 300s);
}

pending_call process::ask(core::request what, duration timeout) {
  return make(std::move(what), timeout);
}

void process::settle(time_point at) {
  now = at;
  brain.take_events(events_);
  for (agent_event& e : events_) {
    if (auto* const failed = std::get_if<agent_events::job_failed>(&e)) job_failure = failed->what;
    if (auto* const over = std::get_if<agent_events::ended>(&e)) ended = over->why;
    if (std::holds_alternative<agent_events::reconnected>(e)) ++reconnected;
  }
  for (;;) {
    std::vector<agent_completion> batch;
    brain.take_completions(batch);
    if (batch.empty()) return;
    for (agent_completion& c : batch) {
      auto const at_call = waiting_.find(c.call);
      if (at_call == waiting_.end()) {
        ++completed_twice;
        continue;
      }
      waiter const w = at_call->second;
      waiting_.erase(at_call);
      w.call->what_ = std::move(c.what);
      w.resume.resume();
    }
  }
}

}  // namespace coxswain::sim
