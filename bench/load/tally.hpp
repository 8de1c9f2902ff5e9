#pragma once
// The results of a load in one sample, and its stopwatch. Not here: the operating system's figures
// (driver/experiment.py).

#include "load/histogram.hpp"

#include "coxswain/base/time.hpp"

#include <boost/json/object.hpp>

#include <chrono>
#include <cstdint>
#include <vector>

#include <time.h>

namespace coxswain::bench {

[[nodiscard]] inline time_point now() { return std::chrono::steady_clock::now(); }

[[nodiscard]] inline duration of_timespec(timespec const& t) {
  return std::chrono::seconds{t.tv_sec} + std::chrono::nanoseconds{t.tv_nsec};
}

struct tally {
  std::vector<histogram> latencies;  // as many as the workload names, in its order
  std::uint64_t operations{};        // what CPU time is divided by
  duration elapsed{};                // while the clock ran
  duration busy{};                   // the load's own CPU time in it

  // Times in nanoseconds.
  [[nodiscard]] boost::json::object to_json() const;
};

// Measures time, and CPU time of this process, from its construction to `stop`.
class stopwatch {
 public:
  void stop(tally& into) const {
    into.elapsed += now() - begun_;
    into.busy += cpu_time() - cpu_begun_;
  }

 private:
  static duration cpu_time() {
    timespec used{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return of_timespec(used);
  }

  duration cpu_begun_{cpu_time()};
  time_point begun_{now()};
};

}  // namespace coxswain::bench
