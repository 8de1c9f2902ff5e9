#include "power_law.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

namespace coxswain::bench {

power_law power_law::fit(std::vector<point> const& measured) {
  power_law law;
  law.spread_ = std::numeric_limits<double>::infinity();
  if (measured.empty()) return law;
  auto const n = static_cast<double>(measured.size());
  point mean;
  for (auto const& p : measured) {
    mean.x += std::log(p.x) / n;
    mean.y += std::log(p.y) / n;
  }
  double xx = 0;
  double xy = 0;
  double yy = 0;
  for (auto const& p : measured) {
    auto const x = std::log(p.x) - mean.x;
    auto const y = std::log(p.y) - mean.y;
    xx += x * x;
    xy += x * y;
    yy += y * y;
  }
  law.log_factor_ = mean.y;
  if (measured.size() < 3 || xx < 1e-12) return law;
  law.exponent_ = xy / xx;
  law.log_factor_ = mean.y - law.exponent_ * mean.x;
  auto const rest = std::fmax(0, yy - law.exponent_ * xy);
  law.spread_ = student_t(measured.size() - 2) * std::sqrt(rest / (n - 2) / xx);
  return law;
}

double power_law::at(double x) const { return std::exp(log_factor_ + exponent_ * std::log(x)); }

// For few degrees as tables have it, else the expansion around the normal distribution.
double student_t(std::size_t degrees) {
  constexpr std::array few{12.706, 4.303, 3.182, 2.776};
  if (degrees == 0) return std::numeric_limits<double>::infinity();
  if (degrees <= few.size()) return few.at(degrees - 1);
  constexpr double z = 1.959964;
  auto const v = static_cast<double>(degrees);
  auto const first = (std::pow(z, 3) + z) / 4;
  auto const second = (5 * std::pow(z, 5) + 16 * std::pow(z, 3) + 3 * z) / 96;
  auto const third =
      (3 * std::pow(z, 7) + 19 * std::pow(z, 5) + 17 * std::pow(z, 3) - 15 * z) / 384;
  return z + first / v + second / (v * v) + third / (v * v * v);
}

}  // namespace coxswain::bench
