// The study `growth`: what a barrier costs over more and more tasks, and by which power of their
// number it grows.

#include "bench_error.hpp"
#include "growth_report.hpp"
#include "population.hpp"
#include "text.hpp"
#include "workloads.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace coxswain::bench {
namespace {

class growth final : public study {
 public:
  CLI::App* add_to(CLI::App& program) override {
    auto& cmd = *program.add_subcommand(
        "growth",
        "What a barrier costs over more and more tasks: latency and server CPU, and by which power "
        "of the number of tasks they grow (1 is linear)");
    CLI::Range const any{1U, 1'000'000U};
    cmd.add_option("--tasks-from", from_, "The least number of tasks")
        ->check(any)
        ->capture_default_str();
    cmd.add_option("--tasks-to", to_, "The greatest")->check(any)->capture_default_str();
    cmd.add_option("--steps", steps_, "How many numbers, each greater by the same factor")
        ->check(CLI::Range(2U, 100U))
        ->capture_default_str();
    cmd.add_option("--tasks-per-session", per_session_,
                   "So many tasks share a connection; 1: each has its own, as far as the limit of "
                   "open files goes")
        ->check(any)
        ->capture_default_str();
    cmd.add_flag("--floor", has_floor_,
                 "Also with a plain epoll server that moves the same bytes over as many "
                 "connections, in interleaved samples: how the machine itself grows");
    cmd.add_option("--samples", samples_, "Of each number, after one for warming up")
        ->check(CLI::Range(1U, 10'000U))
        ->capture_default_str();
    return &cmd;
  }

  void check() const override {
    if (from_ < to_) return;
    throw bench_error{fmt::format("--tasks-from {} is not below --tasks-to {}", from_, to_),
                      exit_code::usage};
  }

  findings run(bool unix_sockets) const override;

 private:
  // One of the numbers of tasks, as it is measured.
  struct place {
    std::unique_ptr<workload> work;
    side* at{};
    side* floor{};  // if there is one
    growth_step step;
  };

  [[nodiscard]] std::vector<std::uint32_t> numbers() const;
  [[nodiscard]] std::vector<place> places(stage& all) const;
  static void measure(place& p, bool floor_first);

  std::uint32_t from_{1'000};
  std::uint32_t to_{100'000};
  std::uint32_t steps_{9};
  std::uint32_t per_session_{100};
  std::uint32_t samples_{7};
  bool has_floor_{};
};

std::vector<std::uint32_t> growth::numbers() const {
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < steps_; ++i) {
    auto const part = static_cast<double>(i) / (steps_ - 1);
    auto const n = from_ * std::pow(static_cast<double>(to_) / from_, part);
    all.push_back(static_cast<std::uint32_t>(std::lround(n)));
  }
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::optional<double> bytes_per_task(side const& at, std::uint32_t tasks) {
  auto const bytes = at.bytes_connected();
  if (!bytes) return std::nullopt;
  return *bytes / tasks;
}

std::vector<growth::place> growth::places(stage& all) const {
  std::vector<place> made;
  for (auto const tasks : numbers()) {
    auto const sessions = (tasks + per_session_ - 1) / per_session_;
    place p;
    p.work = make_barrier(population{tasks, sessions});
    p.at = &all.add(*p.work, counted(tasks, "task"));
    p.step.tasks = tasks;
    p.step.sessions = sessions;
    p.step.found.connected_bytes_per_task = bytes_per_task(*p.at, tasks);
    if (has_floor_) {
      p.floor = &all.add(*p.work, counted(tasks, "task") + " of the floor", side_kind::floor);
      p.step.floor.emplace().connected_bytes_per_task = bytes_per_task(*p.floor, tasks);
    }
    made.push_back(std::move(p));
  }
  return made;
}

void growth::measure(place& p, bool floor_first) {
  auto const steps = p.work->steps_by_default();
  if (!p.floor) return p.step.found.samples.push_back(p.at->measure(steps));
  auto first = (floor_first ? p.floor : p.at)->measure(steps);
  auto second = (floor_first ? p.at : p.floor)->measure(steps);
  auto& of_floor = floor_first ? first : second;
  auto& of_ours = floor_first ? second : first;
  p.step.pairs.add(of_ours, of_floor);
  p.step.floor->samples.push_back(std::move(of_floor));
  p.step.found.samples.push_back(std::move(of_ours));
}

// All numbers in turn, upwards and downwards, so that what drifts meets all alike.
findings growth::run(bool unix_sockets) const {
  std::vector<place> all;
  stage side_by_side{unix_sockets};
  all = places(side_by_side);
  for (auto const& p : all) {
    side_by_side.show(fmt::format("warming up: {}", counted(p.step.tasks, "task")));
    (void)p.at->measure(p.work->steps_by_default());
    if (p.floor) (void)p.floor->measure(p.work->steps_by_default());
  }
  side_by_side.watch();
  for (std::uint32_t i = 0; i < samples_; ++i) {
    for (auto& p : all) {
      side_by_side.show(
          fmt::format("sample {} of {}: {}", i + 1, samples_, counted(p.step.tasks, "task")));
      measure(p, i % 2 == 0);
    }
    std::reverse(all.begin(), all.end());
  }
  growth_report r;
  r.words = all.front().work->words();
  r.seen = side_by_side.seen();
  for (auto& p : all) r.steps.push_back(std::move(p.step));
  std::sort(r.steps.begin(), r.steps.end(),
            [](auto const& a, auto const& b) { return a.tasks < b.tasks; });
  return r.told();
}

}  // namespace

std::unique_ptr<study> make_growth() { return std::make_unique<growth>(); }

}  // namespace coxswain::bench
