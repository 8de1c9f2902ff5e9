#include "population.hpp"

#include "bench_error.hpp"
#include "text.hpp"
#include "workload.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>

namespace coxswain::bench {

void population::add_to(CLI::App& command) {
  add_without_floor_to(command);
  command
      .add_option("--floor-tasks", floor_tasks_,
                  "Tasks, and connections, of the floor's load (default: as many as --tasks)")
      ->check(CLI::Range{1U, 1'000'000U});
}

void population::add_without_floor_to(CLI::App& command) {
  CLI::Range const any{1U, 1'000'000U};
  command.add_option("--tasks", tasks_, "Simulated tasks")->required()->check(any);
  command
      .add_option("--sessions", sessions_,
                  "Connections of the coordinator's load, each with as many of the tasks (default: "
                  "one for each task)")
      ->check(any);
}

void population::check() const {
  if (sessions_ <= tasks_) return;
  throw bench_error{
      fmt::format("{} --sessions are more than {} --tasks: each needs a task", sessions_, tasks_),
      exit_code::usage};
}

std::uint32_t population::tasks(side_kind kind) const noexcept {
  return kind == side_kind::coxswain ? tasks() : floor_tasks();
}

std::size_t population::connections(side_kind kind) const noexcept {
  if (kind == side_kind::coxswain) return sessions();
  return floor_sessions_ > 0 ? floor_sessions_ : floor_tasks();
}

population population::smaller() const {
  constexpr std::uint32_t part = 5;
  auto const part_of = [](std::uint32_t n) { return n == 0 ? 0 : std::max(1U, n / part); };
  population less;
  less.tasks_ = part_of(tasks_);
  less.sessions_ = part_of(sessions_);
  less.floor_tasks_ = part_of(floor_tasks_);
  less.floor_sessions_ = part_of(floor_sessions_);
  return less;
}

std::string population::text() const {
  auto words = counted(tasks(), "task");
  if (sessions() != tasks()) words += " in " + counted(sessions(), "session");
  if (floor_tasks() != tasks()) words += fmt::format(" (the floor: {})", grouped(floor_tasks()));
  return words;
}

void population::add_to(std::vector<parameter>& parameters) const {
  parameters.push_back({"tasks", tasks()});
  parameters.push_back({"sessions", sessions()});
  parameters.push_back({"floor_tasks", floor_tasks()});
}

}  // namespace coxswain::bench
