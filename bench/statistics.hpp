#pragma once
// Percentiles, and how sure one can be of a median. Pure functions: no clock, no I/O.

#include <cstddef>
#include <span>
#include <vector>

namespace coxswain::bench {

struct summary {
  std::size_t count{};
  double p50{};
  double p99{};
  double p999{};
  double max{};
};

// The smallest value that at least `share` (0 to 1) of the values do not exceed (nearest rank).
// `sorted` must be rising; zero if it is empty.
[[nodiscard]] double percentile(std::span<double const> sorted, double share);

// The middle value, or the mean of the two in the middle; zero if there is none.
[[nodiscard]] double median(std::vector<double> values);

[[nodiscard]] summary summarise(std::vector<double> values);

// An interval that contains the true median with the probability `coverage`, whatever the
// distribution is: between two order statistics, by the binomial distribution of ranks.
struct interval {
  double low{};
  double high{};
  double coverage{};
};

// The narrowest such symmetrical interval with a coverage of at least `confidence`. Fewer than six
// values cannot give 95 %: then it is all of their range, and `coverage` says what that is worth.
[[nodiscard]] interval median_interval(std::vector<double> values, double confidence);

}  // namespace coxswain::bench
