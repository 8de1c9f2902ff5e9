#pragma once
// How often what took how long. Not here: what is made of it (driver/figures.py).

#include <boost/json/object.hpp>

#include <cstdint>
#include <vector>

namespace coxswain::bench {

// Log-linear, 1,024 steps for each doubling, so that it takes little memory and what it says of a
// time is at most 0.05 % off. The longest time is kept exactly.
class histogram {
 public:
  // Negative times count as zero.
  void add(std::int64_t ns);
  void add(histogram const& other);

  // {"max": NS, "times": [NS, HOW OFTEN, NS, HOW OFTEN, ...]}
  [[nodiscard]] boost::json::object to_json() const;

 private:
  std::vector<std::uint64_t> counts_;  // by step; steps beyond the end are empty
  std::int64_t max_{};
};

}  // namespace coxswain::bench
