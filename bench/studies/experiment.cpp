#include "studies/experiment.hpp"

#include "servers/servers.hpp"
#include "servers/stage.hpp"

#include "tests/certificates/authority.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace coxswain::bench {
namespace {

constexpr std::uint64_t samples_without_floor = 10;

// A process's memory varies by some pages from one start to the next.
constexpr int smaller_samples = 5;

class experiment {
 public:
  experiment(plan const& work, experiment_options const& options);

  report run();

 private:
  // Of one kind of server.
  struct place {
    side_kind kind;
    side* running{};  // none yet, or between two samples that need new servers
    std::optional<double> bytes_per_task{};
  };

  [[nodiscard]] bool is_unix() const { return transport_ == "unix"; }
  [[nodiscard]] bool is_unix(side_kind kind) const {
    return is_unix() && !(options_.floor_on_tcp && kind == side_kind::floor);
  }
  void start(place& at, plan const& work);
  sample measure(place& at, std::uint64_t steps) {
    return work_.uses_up_servers ? measure_new(at, work_, steps) : at.running->measure(steps);
  }
  sample measure_new(place& at, plan const& work, std::uint64_t steps);
  void warm_up();
  void measure_pairs(report& r);
  void measure_alone(report& r);
  void measure_memory(report& r);

  plan const& work_;
  experiment_options const& options_;
  std::string transport_;
  stage stage_;
  std::optional<certificates::authority> authority_;
  std::optional<tls_options> certificates_;  // if TLS is spoken
  place ours_;
  std::optional<place> floor_;
  std::uint64_t steps_{};  // in a sample
};

std::string transport_of(experiment_options const& o) {
  if (!o.address.empty()) return address{o.address}.is_unix() ? "unix" : "tcp";
  return o.transport;
}

experiment::experiment(plan const& work, experiment_options const& options)
    : work_{work},
      options_{options},
      transport_{transport_of(options)},
      stage_{transport_},
      ours_{options.calibrate ? side_kind::second_floor : side_kind::coxswain} {
  if (options.beside) floor_.emplace(place{*options.beside});
  if (transport_ != "tls") return;
  authority_.emplace("coxswain-bench");
  certificates_ = authority_->issue({});
}

void experiment::start(place& at, plan const& work) {
  side_plan what;
  what.work = &work;
  what.kind = at.kind;
  if (at.kind == side_kind::floor) what.floor_trigger = options_.floor_trigger;
  if (at.kind == side_kind::coxswain) what.tls = certificates_;
  if (at.kind == side_kind::coxswain && !options_.address.empty()) {
    what.at = options_.address;
    what.is_running = true;
    what.running_as = options_.server_pid;
  }
  at.running = &stage_.add(std::move(what), is_unix(at.kind), name(at.kind));
  auto const tasks = work.joins_first ? work.of(at.kind).tasks : 0;
  auto const bytes = at.running->bytes_connected();
  if (bytes && tasks > 0) at.bytes_per_task = *bytes / tasks;
}

sample experiment::measure_new(place& at, plan const& work, std::uint64_t steps) {
  start(at, work);
  auto found = at.running->measure(steps);
  at.running->finish();
  stage_.remove(*std::exchange(at.running, nullptr));
  return found;
}

// With a duration instead of a number of steps, it shows how many take so long.
void experiment::warm_up() {
  stage_.show("warming up");
  auto const steps = options_.warm_up.value_or(steps_);
  if (steps == 0) return;
  auto took = measure(ours_, steps).found.elapsed;
  if (floor_) took = std::max(took, measure(*floor_, steps).found.elapsed);
  if (!options_.seconds) return;
  auto const samples = floor_ ? 2.0 * options_.pairs : double{samples_without_floor};
  auto const of_a_step = std::chrono::duration<double>{took}.count() / static_cast<double>(steps);
  steps_ = static_cast<std::uint64_t>(
      std::max(1.0, std::round(*options_.seconds / samples / std::max(of_a_step, 1e-9))));
}

// Floor, ours, ours, floor, floor, ... so that what drifts meets both alike.
void experiment::measure_pairs(report& r) {
  for (std::uint32_t pair = 0; pair < options_.pairs; ++pair) {
    stage_.show(fmt::format("pair {} of {}{}", pair + 1, options_.pairs,
                            pair == 0 ? std::string{} : r.in_short()));
    measure_pair(pair, r.ours, *r.floor, r.pairs,
                 [this](bool is_ours) { return measure(is_ours ? ours_ : *floor_, steps_); });
  }
}

void experiment::measure_alone(report& r) {
  auto const all = options_.seconds ? samples_without_floor * steps_
                                    : options_.steps.value_or(samples_without_floor * steps_);
  for (std::uint64_t done = 0; done < all;) {
    stage_.show(fmt::format("{} of {} {}", done, all, r.words.steps));
    auto const next = std::min(steps_, all - done);
    r.ours.samples.push_back(measure(ours_, next));
    done += next;
  }
}

// The same once more with fewer tasks: what a process needs for itself is in both.
void experiment::measure_memory(report& r) {
  if (!work_.smaller || !options_.address.empty()) return;
  auto const fewer = work_.smaller();
  stage_.show("memory of fewer tasks");
  for (int i = 0; i < smaller_samples; ++i) {
    r.ours.smaller.push_back(measure_new(ours_, fewer, 1));
    if (floor_) r.floor->smaller.push_back(measure_new(*floor_, fewer, 1));
  }
}

report experiment::run() {
  bool const is_beside_rival = floor_ && is_rival(floor_->kind);
  if (is_beside_rival) need_rival(floor_->kind, is_unix());
  if (is_beside_rival)
    stage_.make_directory(files_parent_of(floor_->kind));
  else if (is_unix())
    stage_.make_directory();
  report r;
  r.words = work_.words;
  r.parameters = work_.parameters;
  r.measured = r.words.measured.empty() ? name(ours_.kind) : r.words.measured;
  steps_ = work_.steps;
  if (options_.steps && !work_.uses_up_servers) {
    steps_ = floor_ ? *options_.steps
                    : (*options_.steps + samples_without_floor - 1) / samples_without_floor;
  }
  if (floor_) {
    r.floor.emplace();
    r.beside = name(floor_->kind);
    r.floor_transport = is_unix(floor_->kind) ? "unix" : "tcp";
  }
  if (!work_.uses_up_servers) {
    if (floor_) start(*floor_, work_);
    start(ours_, work_);
  }
  // All are connected: nothing is left behind even if we are killed.
  bool const connects_later = work_.connects_in_samples || work_.uses_up_servers;
  if (!connects_later && !is_beside_rival) stage_.remove_directory();

  warm_up();
  r.steps_per_sample = steps_;
  stage_.watch();
  if (floor_)
    measure_pairs(r);
  else
    measure_alone(r);
  r.seen = stage_.seen();
  r.ours.connected_bytes_per_task = ours_.bytes_per_task;
  if (floor_) r.floor->connected_bytes_per_task = floor_->bytes_per_task;
  measure_memory(r);
  if (work_.conclude && ours_.running) r.shown = work_.conclude(ours_.running->conclude());
  if (ours_.running) ours_.running->finish();
  if (work_.compare) {
    stage_.show("comparing what the coordinators were told");
    floor_->running->finish();
    auto const told = ours_.running->recording();
    r.shown = work_.compare(told, floor_->running->recording());
  }
  return r;
}

}  // namespace

findings run_experiment(plan const& work, experiment_options const& options) {
  return experiment{work, options}.run().told();
}

}  // namespace coxswain::bench
