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

  // From the number of tasks: of each sample, the median latency of a barrier, and the server's CPU
  // time for one; in nanoseconds. The second is empty if that is not known.
  [[nodiscard]] std::vector<point> latencies() const;
  [[nodiscard]] std::vector<point> server_cpus() const;
};

struct growth_report {
  vocabulary words;  // of the barriers
  std::vector<growth_step> steps;
  circumstances seen;

  [[nodiscard]] findings told() const;
};

}  // namespace coxswain::bench
