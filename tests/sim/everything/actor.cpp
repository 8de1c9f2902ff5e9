#include "tests/sim/everything/actor.hpp"

#include "tests/sim/everything/job.hpp"
#include "tests/sim/everything/scripts.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::sim {

actor::actor(job& of, process& its_body, process_record about) : in{of}, body{its_body} {
  body.seen_by = this;
  in.seen.processes.push_back(std::move(about));
  in_trouble(std::nullopt, false, true);
}

process_record& actor::record() { return in.seen.processes[body.number]; }
process_record const& actor::record() const { return in.seen.processes[body.number]; }

void actor::start() {
  auto const& tasks = record().tasks;
  bool const is_guest_of_member = is_guest() && in.decided.options.elastic;
  if (!record().member.empty() || is_guest_of_member) return start_script(be_member(*this));
  if (record().is_spare) return start_script(be_spare(*this));
  for (task_id const task : tasks) start_script(do_everything(*this, task));
  if (tasks.empty()) start_script(run_side_script(*this, std::nullopt));
}

void actor::start_script(script s) {
  body.work.push_back(std::move(s));
  body.work.back().start();
}

void actor::begin_restart(bool returning) {
  restarts_ = true;
  if (!record().member.empty()) return start_script(leave_alone(*this));
  start_script(restart(*this, returning));
}

void actor::joined(task_id task) {
  if (!joined_.insert(task).second) return;
  if (hosts(task)) return start_script(host_programs(*this, task));
  for (std::uint32_t i = 0; i < in.decided.side_scripts; ++i)
    start_script(run_side_script(*this, task));
  start_script(is_guest() ? walk_as_guest(*this, task) : walk(*this, task));
  if (task.value % 4 == 0) start_script(follow(*this));
}

bool actor::hosts(task_id task) { return in.decided.hosted[task.value] && !is_guest(); }

std::string actor::unique_text() {
  return std::to_string(body.number) + "." + std::to_string(++texts_);
}

time_point actor::wakes_at(duration after) const {
  return std::max(in.w.now + after, body.paused_until);
}

void actor::wake(std::coroutine_handle<> waiting, time_point at) {
  in.w.at(at, [this, waiting] {
    if (!body.alive) return;
    if (body.paused_until > in.w.now) return wake(waiting, body.paused_until);
    body.now = in.w.now;
    waiting.resume();
  });
}

void actor::in_trouble(std::optional<time_point> until, bool is_of_relay, bool is_no_fault) {
  record().troubles.push_back(
      {{in.w.now, until.value_or(time_point::max())}, is_of_relay, is_no_fault});
  troubled_links_.push_back(link_now());
}

// A fault that began while this connection was being opened continues.
void actor::calm_down() {
  auto& troubles = record().troubles;
  for (std::size_t i = 0; i < troubles.size(); ++i) {
    troubles[i].connected = std::min(troubles[i].connected, in.w.now);
    if (troubled_links_[i] != link_now()) troubles[i].to = std::min(troubles[i].to, in.w.now);
  }
}

task_id actor::rank() const {
  auto const& epoch = body.logic.epoch();
  // A guest does not know its epoch yet.
  if (epoch.number == 0 && !record().tasks.empty()) return record().tasks.front();
  return epoch.rank;
}

void actor::entered_job() {
  if (record().is_hosting) return start_script(host_guest(*this));
  if (is_guest()) return start_script(walk_as_guest(*this, rank()));
  for (std::uint32_t i = 0; i < in.decided.side_scripts; ++i)
    start_script(run_side_script(*this, rank()));
  if (rank().value % 4 == 0) start_script(follow(*this));
  start_script(walk_as_member(*this));
}

sync_points& actor::points(task_id task) {
  if (!in.decided.options.elastic) return points_[task];
  std::uint64_t const epoch = body.logic.epoch().number;
  if (std::exchange(epoch_of_points_, epoch) != epoch) points_[{}].end_epoch();
  return points_[{}];
}

void actor::called(process const& by, request_id id, core::request const& what, duration timeout,
                   std::optional<task_id> as) {
  calls_[id] = in.seen.calls.size();
  call_record& c = in.seen.calls.emplace_back();
  c.process = body.number;
  c.task = as;
  c.epoch = by.logic.epoch().number;
  c.asked = what;
  c.timeout = timeout;
  c.made = in.w.now;
}

void actor::answered(process const&, request_id id, core::answer const& what) {
  call_record& c = in.seen.calls[calls_.at(id)];
  c.answered = in.w.now;
  c.got = what;
  if (auto const* const joined = c.gave<core::join_answer>(); joined && joined->task) {
    c.task = joined->task;
  }
}

void actor::cancelled(process const&, request_id id) {
  in.seen.calls[calls_.at(id)].cancelled = in.w.now;
}

void actor::on_event(process&, agent_event const& what) {
  if (std::holds_alternative<agent_events::opened>(what) ||
      std::holds_alternative<agent_events::reconnected>(what)) {
    calm_down();
  }
  if (std::holds_alternative<agent_events::opened>(what)) record().opened = in.w.now;
  if (std::holds_alternative<agent_events::reconnected>(what)) {
    record().resumed.push_back(in.w.now);
  }
  if (std::holds_alternative<agent_events::disconnected>(what)) {
    in_trouble(std::nullopt, body.logic.address().starts_with("unix:"), true);
  }
  if (auto const* const bye = std::get_if<agent_events::goodbye_received>(&what)) {
    record().why_ended = bye->what.why;
    in_trouble(std::nullopt, false, true);
  }
  if (auto const* const failed = std::get_if<agent_events::job_failed>(&what)) {
    if (!record().notified_of_failure) record().notified_of_failure = in.w.now;
    record().failure = failed->what;
  }
  if (auto const* const begins = std::get_if<agent_events::freeze>(&what)) {
    // After earlier replies, such as that of the last agreement.
    in.w.at(in.w.now, [this, agreement = begins->agreement] {
      body.now = in.w.now;
      if (!is_over()) freeze(agreement);
    });
  }
  if (auto const* const over = std::get_if<agent_events::ended>(&what)) {
    record().ended = in.w.now;
    if (record().why_ended.ok()) record().why_ended = over->why;
    in.is_gone(*this);
  }
}

void actor::freeze(std::uint64_t agreement) {
  auto tasks = joined_;
  if (body.logic.epoch().number > 0) tasks = {rank()};
  for (task_id const task : tasks) {
    auto const step = points(task).freeze(agreement);
    if (step) start_script(agree(*this, task, agreement, *step));
  }
}

}  // namespace coxswain::sim
