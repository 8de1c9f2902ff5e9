#pragma once
// How many tasks a workload has, and over how many connections: options of several workloads.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace coxswain::bench {

struct parameter;
enum class side_kind;

class population {
 public:
  population() = default;
  // The floor has as many connections, with as many tasks each.
  population(std::uint32_t tasks, std::uint32_t sessions)
      : tasks_{tasks}, sessions_{sessions}, floor_sessions_{sessions} {}

  void add_to(CLI::App& command);
  // The same of a workload that has no floor.
  void add_without_floor_to(CLI::App& command);
  // Throws bench_error (usage).
  void check() const;

  [[nodiscard]] std::uint32_t tasks() const noexcept { return tasks_; }
  [[nodiscard]] std::uint32_t sessions() const noexcept {
    return sessions_ > 0 ? sessions_ : tasks_;
  }
  [[nodiscard]] std::uint32_t floor_tasks() const noexcept {
    return floor_tasks_ > 0 ? floor_tasks_ : tasks_;
  }
  // Unless both were given, the floor has a connection for each task.
  [[nodiscard]] std::uint32_t tasks(side_kind kind) const noexcept;
  [[nodiscard]] std::size_t connections(side_kind kind) const noexcept;

  // A fifth of it.
  [[nodiscard]] population smaller() const;

  // "1,024 tasks", "10,000 tasks in 100 sessions (the floor: 1,024)".
  [[nodiscard]] std::string text() const;
  void add_to(std::vector<parameter>& parameters) const;

 private:
  std::uint32_t tasks_{};
  std::uint32_t sessions_{};        // zero: one for each task
  std::uint32_t floor_tasks_{};     // zero: as many
  std::uint32_t floor_sessions_{};  // zero: one for each task
};

}  // namespace coxswain::bench
