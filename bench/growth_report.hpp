#pragma once
// What the study `growth` found, and how it is told.

#include "power_law.hpp"
#include "report.hpp"
#include "stage.hpp"
#include "study.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace coxswain::bench {

// Barriers over one number of tasks.
struct growth_step {
  std::uint32_t tasks{};
  std::uint32_t sessions{};
  side_result found;
  std::optional<side_result> floor;  // in as many samples, if it was measured
  comparison pairs;

  // From the number of tasks: of each sample of a side, the median latency of a barrier, and the
  // server's CPU time for one; in nanoseconds. The second is empty if that is not known.
  [[nodiscard]] std::vector<point> latencies(side_result const& of) const;
  [[nodiscard]] std::vector<point> server_cpus(side_result const& of) const;
  // Of each pair, ours by the floor's.
  [[nodiscard]] std::vector<point> latency_ratios() const;
  [[nodiscard]] std::vector<point> server_cpu_ratios() const;
};

struct growth_report {
  vocabulary words;  // of the barriers
  std::vector<growth_step> steps;
  circumstances seen;

  [[nodiscard]] findings told() const;
};

}  // namespace coxswain::bench
