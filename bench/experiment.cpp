#include "experiment.hpp"

#include "address.hpp"
#include "interrupts.hpp"
#include "machine.hpp"
#include "progress.hpp"
#include "rival.hpp"
#include "side.hpp"
#include "statistics.hpp"
#include "temporary_directory.hpp"

#include "tests/certificates/authority.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include <unistd.h>

namespace coxswain::bench {
namespace {

// Besides its connections, what a process has open; and what the server keeps for itself.
constexpr std::size_t descriptors_besides = 128;

constexpr std::uint64_t samples_without_floor = 10;

// A process's memory varies by some pages from one start to the next.
constexpr int smaller_samples = 5;

double seconds(duration d) { return std::chrono::duration<double>{d}.count(); }

class experiment {
 public:
  experiment(workload const& work, experiment_options const& options)
      : work_{work},
        options_{options},
        ours_{options.calibrate ? side_kind::second_floor : side_kind::coxswain} {
    if (!options.tls) return;
    authority_.emplace("coxswain-bench");
    certificates_ = authority_->issue({});
  }

  report run();

 private:
  // Of one kind of server.
  struct place {
    side_kind kind;
    std::unique_ptr<side> running{};  // none yet, or between two samples that need new servers
    std::uint64_t started{};          // how many were
    std::optional<double> bytes_per_task{};
  };

  [[nodiscard]] bool is_unix() const {
    return options_.address.empty() ? options_.unix_sockets : address{options_.address}.is_unix();
  }
  [[nodiscard]] bool is_unix(side_kind kind) const {
    return is_unix() && !(options_.floor_on_tcp && kind == side_kind::floor);
  }
  side_plan plan_for(place& at, workload const& work) const;
  void start(place& at, workload const& work);
  sample measure(place& at, std::uint64_t steps);
  sample measure_new(place& at, workload const& work, std::uint64_t steps);
  void warm_up();
  void measure_pairs(report& r);
  void measure_alone(report& r);
  void measure_memory(report& r);
  void conclude(report& r);
  void compare_requests(report& r);
  [[nodiscard]] usage used_by_us() const;

  workload const& work_;
  experiment_options const& options_;
  interrupts const signals_;
  std::optional<certificates::authority> authority_;
  std::optional<tls_options> certificates_;  // if TLS is spoken
  std::optional<temporary_directory> sockets_;
  progress const live_;
  place ours_;
  std::optional<place> floor_;
  std::uint64_t steps_{};  // in a sample
  duration waited_{};      // of sides that are no more
};

side_plan experiment::plan_for(place& at, workload const& work) const {
  side_plan plan;
  plan.work = &work;
  plan.kind = at.kind;
  plan.cpus = plan_cpus();
  if (sockets_) plan.directory = sockets_->path();
  if (at.kind == side_kind::floor) plan.floor_trigger = options_.floor_trigger;
  plan.at = is_unix(at.kind)
                ? fmt::format("unix:{}/{}-{}", sockets_->path(), name(at.kind), ++at.started)
                : "127.0.0.1:0";
  if (at.kind == side_kind::coxswain) plan.tls = certificates_;
  if (at.kind == side_kind::coxswain && !options_.address.empty()) {
    plan.at = options_.address;
    plan.is_running = true;
    plan.running_as = options_.server_pid;
  }
  return plan;
}

void experiment::start(place& at, workload const& work) {
  at.running = std::make_unique<side>(plan_for(at, work), signals_);
  at.running->connect([&](std::uint64_t n) {
    live_.show(
        fmt::format("{}: {} of {} connections", name(at.kind), n, work.connections(at.kind)));
  });
  auto const tasks = work.tasks(at.kind);
  auto const bytes = at.running->bytes_connected();
  if (bytes && tasks > 0) at.bytes_per_task = *bytes / tasks;
}

sample experiment::measure(place& at, std::uint64_t steps) {
  return work_.uses_up_servers() ? measure_new(at, work_, steps) : at.running->measure(steps);
}

sample experiment::measure_new(place& at, workload const& work, std::uint64_t steps) {
  start(at, work);
  auto found = at.running->measure(steps);
  at.running->finish();
  waited_ += at.running->wait_time();
  at.running.reset();
  return found;
}

// With a duration instead of a number of steps, it shows how many take so long.
void experiment::warm_up() {
  live_.show("warming up");
  auto const steps = options_.warm_up.value_or(steps_);
  if (steps == 0) return;
  std::vector<double> took;
  for (auto* at : {&ours_, floor_ ? &*floor_ : nullptr}) {
    if (at != nullptr) took.push_back(seconds(measure(*at, steps).found.elapsed));
  }
  if (!options_.seconds) return;
  auto const samples = options_.floor ? 2.0 * options_.pairs : double{samples_without_floor};
  auto const of_a_step = *std::max_element(took.begin(), took.end()) / static_cast<double>(steps);
  steps_ = static_cast<std::uint64_t>(
      std::max(1.0, std::round(*options_.seconds / samples / std::max(of_a_step, 1e-9))));
}

// Floor, ours, ours, floor, floor, ... so that what drifts meets both alike.
void experiment::measure_pairs(report& r) {
  for (std::uint32_t pair = 0; pair < options_.pairs; ++pair) {
    live_.show(fmt::format("pair {} of {}{}", pair + 1, options_.pairs,
                           pair == 0 ? std::string{} : r.in_short()));
    bool const floor_first = pair % 2 == 0;
    auto first = measure(floor_first ? *floor_ : ours_, steps_);
    auto second = measure(floor_first ? ours_ : *floor_, steps_);
    auto& of_floor = floor_first ? first : second;
    auto& of_ours = floor_first ? second : first;
    r.pairs.add(of_ours, of_floor);
    r.floor->samples.push_back(std::move(of_floor));
    r.ours.samples.push_back(std::move(of_ours));
  }
}

void experiment::measure_alone(report& r) {
  auto const all = options_.seconds ? samples_without_floor * steps_
                                    : options_.steps.value_or(samples_without_floor * steps_);
  for (std::uint64_t done = 0; done < all;) {
    live_.show(fmt::format("{} of {} {}", done, all, r.words.steps));
    auto const next = std::min(steps_, all - done);
    r.ours.samples.push_back(measure(ours_, next));
    done += next;
  }
}

// The same once more with fewer tasks: what a process needs for itself is in both.
void experiment::measure_memory(report& r) {
  auto const fewer = work_.smaller();
  if (!fewer || !options_.address.empty()) return;
  live_.show("memory of fewer tasks");
  for (int i = 0; i < smaller_samples; ++i) {
    r.ours.smaller.push_back(measure_new(ours_, *fewer, 1));
    if (floor_) r.floor->smaller.push_back(measure_new(*floor_, *fewer, 1));
  }
}

void experiment::conclude(report& r) {
  if (!ours_.running || ours_.kind != side_kind::coxswain) return;
  r.shown = work_.conclude(ours_.running->conclude());
}

void experiment::compare_requests(report& r) {
  if (!work_.record_bytes_max()) return;
  live_.show("comparing what the coordinators were told");
  floor_->running->finish();
  auto const ours = ours_.running->recording();
  r.shown = work_.compare(ours, floor_->running->recording());
}

usage experiment::used_by_us() const {
  usage u{cpu_time_of(::getpid()) + cpu_time_of_ended_children(), waited_};
  auto const add = [&u](place const& at) {
    if (!at.running) return;
    u.used += at.running->cpu_time();
    u.waited += at.running->wait_time();
  };
  add(ours_);
  if (floor_) add(*floor_);
  return u;
}

report experiment::run() {
  auto const connections = std::max(work_.connections(ours_.kind),
                                    options_.floor ? work_.connections(options_.beside) : 0);
  need_descriptors(connections + descriptors_besides);
  bool const is_beside_rival = options_.floor && is_rival(options_.beside);
  if (is_beside_rival) need_rival(options_.beside, is_unix());
  if (is_beside_rival)
    sockets_.emplace(files_parent_of(options_.beside));
  else if (is_unix())
    sockets_.emplace();
  report r;
  r.words = work_.words();
  r.parameters = work_.parameters();
  r.measured = r.words.measured.empty() ? name(ours_.kind) : r.words.measured;
  r.beside = name(options_.beside);
  r.transport = is_unix() ? "unix" : options_.tls ? "tls" : "tcp";
  if (options_.floor) r.floor_transport = is_unix(options_.beside) ? "unix" : "tcp";
  r.cpus = plan_cpus();
  r.measured_on = here();
  steps_ = work_.steps_by_default();
  if (options_.steps && !work_.uses_up_servers()) {
    steps_ = options_.floor ? *options_.steps
                            : (*options_.steps + samples_without_floor - 1) / samples_without_floor;
  }
  if (options_.floor) {
    floor_.emplace(place{options_.beside});
    r.floor.emplace();
  }
  if (!work_.uses_up_servers()) {
    if (floor_) start(*floor_, work_);
    start(ours_, work_);
  }
  // All are connected: nothing is left behind even if we are killed.
  if (!work_.connects_in_samples() && !is_beside_rival) sockets_.reset();

  warm_up();
  r.steps_per_sample = steps_;
  auto const machine_before = read_machine_time();
  auto const ours_before = used_by_us();
  if (floor_)
    measure_pairs(r);
  else
    measure_alone(r);
  r.disturbed = disturbance_between(machine_before, ours_before, read_machine_time(), used_by_us());
  r.ours.connected_bytes_per_task = ours_.bytes_per_task;
  if (floor_) r.floor->connected_bytes_per_task = floor_->bytes_per_task;
  measure_memory(r);
  conclude(r);
  if (ours_.running) ours_.running->finish();
  compare_requests(r);
  return r;
}

}  // namespace

report run_experiment(workload const& work, experiment_options const& options) {
  return experiment{work, options}.run();
}

}  // namespace coxswain::bench
