#pragma once
// The load of real clients: a process for each task, this program again, which uses the public
// client and nothing of the benchmark's own wires. What `check` compares simulated tasks with.

#include "process.hpp"
#include "workload.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

namespace coxswain::bench {

class real_clients final : public load {
 public:
  real_clients(std::string server, std::uint32_t tasks)
      : server_{std::move(server)}, tasks_{tasks} {}

  void connect(std::function<void(std::uint64_t)> const& progress) override;
  // Rounds of a barrier; the latencies are those of `rounds_load`.
  tally measure(std::uint64_t steps) override;
  void finish() override;

  [[nodiscard]] std::vector<pid_t> processes() const override;

 private:
  [[nodiscard]] duration cpu_time() const;

  std::string server_;
  std::uint32_t tasks_;
  std::vector<std::unique_ptr<child_process>> all_;
};

// One of these processes: a subcommand that the help does not show.
class client_process {
 public:
  CLI::App* add_to(CLI::App& program);
  // Joins, and does rounds as it is told over the channel, until it is told to leave.
  void run() const;

 private:
  std::string server_;
  std::uint32_t task_{};
};

}  // namespace coxswain::bench
