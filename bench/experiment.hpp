#pragma once
// Takes samples of a workload: of the coordinator alone, or of it and the floor in turn.

#include "floor.hpp"
#include "report.hpp"
#include "workload.hpp"

#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

namespace coxswain::bench {

struct experiment_options {
  std::optional<std::uint64_t> steps;    // in all; with the floor: in each sample
  std::optional<std::uint64_t> warm_up;  // steps before the first sample; as many as in one
  std::optional<double> seconds;         // instead of `steps`: of all samples together
  std::uint32_t pairs{15};               // of samples, with the floor
  bool floor{};                          // is there, or what stands in its place:
  side_kind beside{side_kind::floor};
  bool unix_sockets{};
  bool floor_on_tcp{};  // though the coordinator is not
  bool tls{};           // to the coordinator; the floor never speaks it
  std::string address;  // of a coordinator that runs already; empty: start one
  std::optional<pid_t> server_pid;
  bool calibrate{};  // compare the floor with itself
  trigger floor_trigger{trigger::edge};
};

// Throws bench_error.
[[nodiscard]] report run_experiment(workload const& work, experiment_options const& options);

}  // namespace coxswain::bench
