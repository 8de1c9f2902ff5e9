#pragma once
// The workload `barrier`: all tasks arrive, all are released, again and again.

#include "floor.hpp"
#include "report.hpp"

#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

namespace coxswain::bench {

struct barrier_options {
  std::uint32_t tasks{};
  std::optional<std::uint32_t> rounds;  // in all; with the floor: in each sample
  std::uint32_t pairs{15};              // of samples, with the floor
  bool floor{};
  bool unix_sockets{};
  std::string address;  // of a coordinator that runs already; empty: start one
  std::optional<pid_t> server_pid;
  bool calibrate{};  // compare the floor with itself
  trigger floor_trigger{trigger::edge};
};

// Throws bench_error.
[[nodiscard]] barrier_report measure_barrier(barrier_options const& options);

}  // namespace coxswain::bench
