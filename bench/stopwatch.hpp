#pragma once
// Measures what passes between its making and `stop`: time, and CPU time of this process.

#include "tally.hpp"

#include "coxswain/base/time.hpp"

#include <chrono>

#include <time.h>

namespace coxswain::bench {

class stopwatch {
 public:
  void stop(tally& into) const {
    into.elapsed += std::chrono::steady_clock::now() - begun_;
    into.busy += cpu_time() - cpu_begun_;
  }

 private:
  static duration cpu_time() {
    timespec used{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return std::chrono::seconds{used.tv_sec} + std::chrono::nanoseconds{used.tv_nsec};
  }

  duration cpu_begun_{cpu_time()};
  time_point begun_{std::chrono::steady_clock::now()};
};

}  // namespace coxswain::bench
