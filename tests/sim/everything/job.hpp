#pragma once
// A simulated job with all operations and all faults, from one seed.
// Not here: decisions made in advance (plan), its processes (scripts), and the checks (rules).

#include "tests/sim/everything/actor.hpp"
#include "tests/sim/everything/history.hpp"
#include "tests/sim/everything/injected_bugs.hpp"
#include "tests/sim/everything/plan.hpp"
#include "tests/sim/world.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::sim {

class job {
 public:
  // `wrong` is a bug to inject, which the rules should find. `record` gets the recording.
  // `checks_snapshots`: in each step the coordinator must be the same after it was saved and
  // loaded.
  explicit job(std::uint64_t seed, injected_bug const* wrong = nullptr,
               std::function<void(std::string_view)> record = {}, bool checks_snapshots = false,
               job_kind kind = job_kind::fixed, bool has_relays = false);

  // Runs the job, and returns the violations. Call once.
  [[nodiscard]] violations run();

  // For the scripts: where a task continues, where it is, and whether it fails now on purpose.
  [[nodiscard]] std::size_t begin_at(task_id task) const { return progress_[task.value]; }
  void reached(task_id task, std::size_t gathering) { progress_[task.value] = gathering; }
  [[nodiscard]] bool should_fail(task_id task);
  // Starts guests of a task of `host`.
  void start_guests(actor& host, task_id task, std::string const& secret);
  // Whether one of these guests runs or will start.
  [[nodiscard]] bool has_guests(std::string const& secret) const;
  // Whether the faults are over, and the members of an elastic job leave.
  [[nodiscard]] bool is_late() const { return w.now > seen.begun + decided.horizon; }
  // A session or a process has ended.
  void is_gone(actor& who);
  // All its tasks have left.
  void has_left(actor& who);

  plan const decided;
  world w;
  history seen;

 private:
  actor& add(std::vector<task_id> tasks, std::optional<duration> fence_after = std::nullopt);
  void add_spare();
  void add_member(std::string name);
  [[nodiscard]] std::string any_machine(actor const& one);
  [[nodiscard]] std::string new_member() { return "m" + std::to_string(++members_); }
  void add_guest(std::size_t host, task_id task, std::string secret, bool is_brief);
  [[nodiscard]] std::vector<std::string> any_addresses();
  [[nodiscard]] actor& any();
  [[nodiscard]] time_point soon();
  void begin();
  void plan_faults();
  void plan_deaths();
  void plan_restarts();
  void plan_crashes();
  void plan_resizes();
  void plan_drain();
  void plan_preemptions();
  void plan_relay_faults();
  void disturb();
  void disturb_connection(actor& who);
  void disturb_relay(relay_process& relay);
  void relay_in_trouble(relay_process const& relay, std::optional<time_point> until = std::nullopt);
  void restart_relay_later(relay_process& relay, duration downtime);
  void kill(actor& who, bool silently);
  void replace_later(actor& who);
  void watch_memory();
  void watch_drain();
  [[nodiscard]] bool is_done() const;
  void end();
  void check_end();
  void judge();

  violations found_;
  std::unique_ptr<bug_injector> bug_injector_;
  std::vector<std::unique_ptr<actor>> actors_;  // the first is the auditor
  std::vector<std::size_t> progress_;
  std::map<std::string, std::size_t> guests_to_come_;  // by secret
  std::optional<std::set<incarnation>> draining_;      // those that are still in the job
  bool checks_snapshots_;
  std::uint64_t incarnations_{};
  std::uint64_t members_{};
  bool ends_{};
};

}  // namespace coxswain::sim
