#include "barrier.hpp"

#include "address.hpp"
#include "interrupts.hpp"
#include "machine.hpp"
#include "progress.hpp"
#include "side.hpp"
#include "statistics.hpp"
#include "temporary_directory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include <unistd.h>

namespace coxswain::bench {
namespace {

// Besides its connections, what a process has open; and what the server keeps for itself.
constexpr std::size_t descriptors_besides = 128;

// So that a sample lasts about half a second to two seconds, whatever the number of tasks.
std::uint64_t rounds_by_default(std::uint32_t tasks) {
  return std::clamp<std::uint64_t>(20'480 / std::max(tasks, 1U), 5, 50);
}

constexpr std::uint64_t samples_without_floor = 10;

// What the machine and our processes have used from one moment to another.
class usage {
 public:
  explicit usage(std::vector<side*> sides)
      : sides_{std::move(sides)},
        machine_{read_machine_time()},
        ours_{cpu_time()},
        waited_{wait_time()} {}

  [[nodiscard]] disturbance so_far() const {
    auto const now = read_machine_time();
    auto const share = [](duration part, duration whole) {
      auto const d = [](duration t) { return static_cast<double>(t.count()); };
      return whole > 0ns ? std::clamp(d(part) / d(whole), 0.0, 1.0) : 0.0;
    };
    auto const total = now.total - machine_.total;
    auto const ours = cpu_time() - ours_;
    auto const waited = wait_time() - waited_;
    return {share(now.busy - machine_.busy - ours, total),
            share(now.stolen - machine_.stolen, total), share(waited, ours + waited)};
  }

 private:
  [[nodiscard]] duration cpu_time() const {
    auto sum = cpu_time_of(::getpid());
    for (auto const* s : sides_) sum += s->cpu_time();
    return sum;
  }
  [[nodiscard]] duration wait_time() const {
    duration sum{};
    for (auto const* s : sides_) sum += s->wait_time();
    return sum;
  }

  std::vector<side*> sides_;
  machine_time machine_;
  duration ours_;
  duration waited_;
};

// `directory` is where the sockets of a Unix transport go; empty: TCP.
side_plan plan_for(side_kind kind, barrier_options const& options, std::string const& directory) {
  side_plan plan;
  plan.kind = kind;
  plan.tasks = options.tasks;
  plan.cpus = plan_cpus();
  if (kind == side_kind::floor) plan.floor_trigger = options.floor_trigger;
  plan.at = directory.empty() ? "127.0.0.1:0" : fmt::format("unix:{}/{}", directory, name(kind));
  if (kind == side_kind::coxswain && !options.address.empty()) {
    plan.at = options.address;
    plan.is_running = true;
    plan.running_as = options.server_pid;
  }
  return plan;
}

void connect(side& which, side_kind kind, std::uint32_t tasks, progress const& live) {
  auto const show = [&](std::uint64_t n) {
    live.show(fmt::format("{}: {} of {} tasks connected", name(kind), n, tasks));
  };
  show(0);
  which.connect(show);
}

double p50_of(sample const& s) {
  std::vector<double> times;
  for (auto const& r : s.rounds) times.push_back(static_cast<double>(r.release_ns));
  return median(std::move(times));
}

// Floor, ours, ours, floor, floor, ... so that what drifts meets both alike.
void measure_pairs(barrier_options const& options, barrier_report& report, side& ours, side& floor,
                   progress const& live) {
  for (std::uint32_t pair = 0; pair < options.pairs; ++pair) {
    live.show(fmt::format(
        "pair {} of {}{}", pair + 1, options.pairs,
        pair == 0 ? std::string{}
                  : fmt::format(": latency {:.3f} x floor, server CPU {:.3f} x",
                                median(report.pairs.p50), median(report.pairs.server_cpu))));
    bool const floor_first = pair % 2 == 0;
    auto first = (floor_first ? floor : ours).measure(report.rounds_per_sample);
    auto second = (floor_first ? ours : floor).measure(report.rounds_per_sample);
    auto& of_floor = floor_first ? first : second;
    auto& of_ours = floor_first ? second : first;
    report.pairs.p50.push_back(p50_of(of_ours) / p50_of(of_floor));
    if (of_ours.server_cpu) {
      report.pairs.server_cpu.push_back(static_cast<double>(of_ours.server_cpu->count()) /
                                        static_cast<double>(of_floor.server_cpu->count()));
    }
    report.floor->samples.push_back(std::move(of_floor));
    report.coxswain.samples.push_back(std::move(of_ours));
  }
}

void measure_alone(std::uint64_t rounds, barrier_report& report, side& ours, progress const& live) {
  for (std::uint64_t done = 0; done < rounds;) {
    live.show(fmt::format("round {} of {}", done, rounds));
    auto const next = std::min(report.rounds_per_sample, rounds - done);
    report.coxswain.samples.push_back(ours.measure(next));
    done += next;
  }
}

}  // namespace

barrier_report measure_barrier(barrier_options const& options) {
  need_descriptors(options.tasks + descriptors_besides);
  interrupts const signals;
  bool const is_unix =
      options.address.empty() ? options.unix_sockets : address{options.address}.is_unix();
  std::optional<temporary_directory> sockets;
  if (is_unix) sockets.emplace();
  auto const directory = sockets ? sockets->path() : std::string{};
  progress const live;

  auto const kind = options.calibrate ? side_kind::second_floor : side_kind::coxswain;
  auto const ours_plan = plan_for(kind, options, directory);
  auto const all_rounds =
      options.rounds.value_or(samples_without_floor * rounds_by_default(options.tasks));
  barrier_report report;
  report.measured = name(kind);
  report.tasks = options.tasks;
  report.transport = is_unix ? "unix" : "tcp";
  report.cpus = ours_plan.cpus;
  report.rounds_per_sample = options.floor
                                 ? options.rounds.value_or(rounds_by_default(options.tasks))
                                 : (all_rounds + samples_without_floor - 1) / samples_without_floor;

  side ours{ours_plan, signals};
  std::optional<side> floor;
  std::vector<side*> sides{&ours};
  if (options.floor) {
    floor.emplace(plan_for(side_kind::floor, options, directory), signals);
    sides.push_back(&*floor);
    connect(*floor, side_kind::floor, options.tasks, live);
  }
  connect(ours, kind, options.tasks, live);

  sockets.reset();  // all are connected: nothing is left behind even if we are killed

  live.show("warming up");
  for (auto* s : sides) (void)s->measure(report.rounds_per_sample);

  usage const used{sides};
  if (floor) {
    report.floor.emplace();
    measure_pairs(options, report, ours, *floor, live);
  } else {
    measure_alone(all_rounds, report, ours, live);
  }
  report.disturbed = used.so_far();
  ours.finish();
  return report;
}

}  // namespace coxswain::bench
