#pragma once
// What disturbed a measurement, as the operating system tells it.

#include "machine.hpp"

#include "coxswain/base/time.hpp"

#include <string>

namespace coxswain::bench {

// Shares of the machine's or the processes' time (0 to 1).
struct disturbance {
  double others{};   // CPU used by processes that are not ours
  double stolen{};   // CPU taken by the hypervisor
  double waiting{};  // our processes ready, but without a CPU

  [[nodiscard]] bool is_too_much() const;
  // What to think of the figures then.
  [[nodiscard]] std::string warning() const;
};

// What the benchmark's processes have used, and how long they were ready but had no CPU.
struct usage {
  duration used{};
  duration waited{};
};

// Between two moments.
[[nodiscard]] disturbance disturbance_between(machine_time const& before, usage const& ours_before,
                                              machine_time const& after, usage const& ours_after);

}  // namespace coxswain::bench
