#include "statistics.hpp"

#include <algorithm>
#include <cmath>

namespace coxswain::bench {
namespace {

// The probability that exactly `k` of `n` values lie below the true median.
double share_with_rank(std::size_t n, std::size_t k) {
  auto const log_factorial = [](std::size_t i) { return std::lgamma(static_cast<double>(i) + 1); };
  auto const log_ways = log_factorial(n) - log_factorial(k) - log_factorial(n - k);
  return std::exp(log_ways - static_cast<double>(n) * std::log(2.0));
}

}  // namespace

double percentile(std::span<double const> sorted, double share) {
  if (sorted.empty()) return 0;
  // Less a trifle, so that 0.99 of 100 values is the 99th whatever the rounding of the product.
  auto const rank = std::ceil(share * static_cast<double>(sorted.size()) - 1e-9);
  auto const last = static_cast<double>(sorted.size());
  return sorted[static_cast<std::size_t>(std::clamp(rank, 1.0, last)) - 1];
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  auto const middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return (values[middle - 1] + values[middle]) / 2;
}

summary summarise(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return {values.size(), percentile(values, 0.5), percentile(values, 0.99),
          percentile(values, 0.999), values.back()};
}

interval median_interval(std::vector<double> values, double confidence) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  auto const n = values.size();

  // Leaving out `cut` values at each end misses the median if no more than `cut` lie on one side.
  std::size_t cut = 0;
  double missed_on_a_side = share_with_rank(n, 0);
  while (2 * (cut + 1) < n) {
    auto const more = missed_on_a_side + share_with_rank(n, cut + 1);
    if (1 - 2 * more < confidence) break;
    missed_on_a_side = more;
    ++cut;
  }
  return {values[cut], values[n - 1 - cut], std::max(0.0, 1 - 2 * missed_on_a_side)};
}

}  // namespace coxswain::bench
