#pragma once
// Percentiles, how sure one can be of a median, and how something grows. Pure: no clock, no I/O.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::bench {

struct summary {
  std::size_t count{};
  double p50{};
  double p99{};
  double p999{};
  double max{};
};

// How many of many times were how long, in little memory: log-linear, 1,024 steps for each
// doubling, so that what it says of a time is at most 0.05 % off. The longest is kept exactly.
class histogram {
 public:
  // Negative times count as zero.
  void add(std::int64_t ns, std::uint64_t times = 1);
  void add(histogram const& other);

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

  // The smallest time that at least `share` (0 to 1) of all do not exceed (nearest rank); zero if
  // there is none.
  [[nodiscard]] double percentile(double share) const;
  [[nodiscard]] summary summarise() const;

  // For another process of the same program.
  void append_to(std::string& out) const;
  // Takes it off the front of `from`.
  [[nodiscard]] static histogram take_from(std::string_view& from);

 private:
  std::vector<std::uint64_t> counts_;  // by step; steps beyond the end are empty
  std::uint64_t count_{};
  std::int64_t max_{};
};

// The middle value, or the mean of the two in the middle; zero if there is none.
[[nodiscard]] double median(std::vector<double> values);

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

struct point {
  double x{};
  double y{};
};

// y = factor * x ^ exponent, as it was fitted, with the exponent's interval of 95 %, if the
// logarithms scatter evenly and independently.
struct power_law {
  double exponent{};
  double low{};
  double high{};

  // Least squares of the logarithms. All values must be above zero; with fewer than three, or with
  // one x only, nothing is known of the exponent: it is then zero, and the interval without end.
  [[nodiscard]] static power_law fit(std::vector<point> const& measured);
};

}  // namespace coxswain::bench
