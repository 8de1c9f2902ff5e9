#pragma once
// Takes samples: of the coordinator alone, or of it and the floor in turn; or answers a question
// that one workload and its ratio to the floor do not.

#include "report/report.hpp"
#include "servers/floor.hpp"
#include "workloads/workload.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <sys/types.h>

namespace coxswain::bench {

struct experiment_options {
  std::optional<std::uint64_t> steps{};    // in all; with the floor: in each sample
  std::optional<std::uint64_t> warm_up{};  // steps before the first sample; as many as in one
  std::optional<double> seconds{};         // instead of `steps`: of all samples together
  std::uint32_t pairs{15};                 // of samples, with the floor
  std::optional<side_kind> beside{};       // the floor, or what stands in its place
  std::string transport{"tcp"};            // or "unix", or "tls", which the floor never speaks
  bool floor_on_tcp{};                     // though the coordinator is not
  std::string address{};                   // of a coordinator that runs already; empty: start one
  std::optional<pid_t> server_pid{};
  bool calibrate{};  // compare the floor with itself
  trigger floor_trigger{trigger::edge};
};

// Throws bench_error.
[[nodiscard]] findings run_experiment(plan const& work, experiment_options const& options);

// A question that is asked of several coordinators beside each other, or of one at several times.
struct study {
  std::string name;
  std::string help;
  std::function<void(CLI::App&)> add_options{};
  std::function<findings(std::string const& transport)> run{};  // throws bench_error
};

// The `growth` and the `history` of a coordinator.
[[nodiscard]] study make_growth();
[[nodiscard]] study make_history();

}  // namespace coxswain::bench
