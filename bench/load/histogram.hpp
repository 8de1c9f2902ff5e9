#pragma once
// A histogram of times. Not here: its evaluation (driver/statistics.py).

#include <boost/json/object.hpp>

#include <cstdint>
#include <vector>

namespace coxswain::bench {

// Log-linear, 1,024 steps for each doubling, so that it takes little memory and has an error of at
// most 0.05 %. The longest time is kept exactly.
class histogram {
 public:
  // Negative times count as zero.
  void add(std::int64_t ns);

  // {"max": NS, "times": [NS, COUNT, NS, COUNT, ...]}
  [[nodiscard]] boost::json::object to_json() const;

 private:
  std::vector<std::uint64_t> counts_;  // by step; steps beyond the end are empty
  std::int64_t max_{};
};

}  // namespace coxswain::bench
