#pragma once
// How something grows with a number: y = factor * x ^ exponent, fitted to what was measured. Pure:
// no clock, no I/O.

#include "svg.hpp"

#include <vector>

namespace coxswain::bench {

class power_law {
 public:
  // Least squares of the logarithms. All values must be above zero; with fewer than three, or with
  // one x only, nothing is known of the exponent: it is then zero, and the interval without end.
  [[nodiscard]] static power_law fit(std::vector<point> const& measured);

  [[nodiscard]] double exponent() const noexcept { return exponent_; }
  // The exponent's interval of 95 %, if the logarithms scatter evenly and independently.
  [[nodiscard]] double low() const noexcept { return exponent_ - spread_; }
  [[nodiscard]] double high() const noexcept { return exponent_ + spread_; }

  [[nodiscard]] double at(double x) const;

 private:
  double log_factor_{};
  double exponent_{};
  double spread_{};
};

// What Student's t exceeds on either side with a probability of 2.5 %, with so many degrees of
// freedom; within half a percent.
[[nodiscard]] double student_t(std::size_t degrees);

}  // namespace coxswain::bench
