#include "axis.hpp"

#include "text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

namespace coxswain::bench {
namespace {

// A range of less than this factor has ticks at even distances in value; more than so many decades
// have a label only at each of them.
constexpr double factor_of_even_ticks = 6;
constexpr double decades_of_full_labels = 3.2;

constexpr double even_ticks_max = 7;
constexpr double room = 0.04;  // of the whole, at an end

double itself(double value) { return value; }
double logarithm(double value) { return std::log10(value); }
double odds(double share) { return std::log10(share / (1 - share)); }

// The least of 1, 2 and 5 times a power of ten that divides the range into few enough parts.
double even_step(double range) {
  auto const least = range / even_ticks_max;
  auto const power = std::pow(10.0, std::floor(std::log10(least)));
  for (auto const times : {1.0, 2.0, 5.0}) {
    if (times * power >= least * (1 - 1e-9)) return times * power;
  }
  return 10 * power;
}

std::string in_unit(double value, char const* unit) {
  return fmt::format("{:.6g} {}", value, unit);
}

std::string short_time(double ns) {
  if (ns < 999.5) return in_unit(ns, "ns");
  if (ns < 999.5e3) return in_unit(ns / 1e3, "us");
  if (ns < 999.5e6) return in_unit(ns / 1e6, "ms");
  return in_unit(ns / 1e9, "s");
}

std::string short_count(double n) { return grouped(static_cast<std::uint64_t>(std::llround(n))); }

std::string short_mib(double bytes) { return in_unit(bytes / 1024 / 1024, "MiB"); }

std::string percent(double share) { return fmt::format("{:.10g} %", 100 * share); }

}  // namespace

axis axis::times(double low, double high) { return logarithmic(low, high, short_time); }

axis axis::counts(double low, double high) { return logarithmic(low, high, short_count); }

axis axis::logarithmic(double low, double high, wording say) {
  low = std::max(low, 1.0);
  high = std::max(high, low);
  // Something to look at even if all values are the same.
  auto const wide = std::max(high / low, 1.05);
  auto const more = std::pow(wide, room);
  auto const middle = std::sqrt(low * high);
  axis a{middle / std::sqrt(wide) / more, middle * std::sqrt(wide) * more, logarithm};
  if (a.high_ / a.low_ < factor_of_even_ticks)
    a.add_even(even_step(a.high_ - a.low_), say);
  else
    a.add_by_decades(say);
  return a;
}

axis axis::counts_up_to(double high) {
  axis a{0, std::max(high, 1.0) * (1 + room), itself};
  a.add_even(std::max(1.0, even_step(a.high_)), short_count);
  return a;
}

axis axis::bytes_up_to(double high) {
  constexpr double mib = 1024.0 * 1024.0;
  axis a{0, std::max(high, mib / 16) * (1 + room), itself};
  a.add_even(even_step(a.high_ / mib) * mib, short_mib);
  return a;
}

axis axis::shares(double low, double high) {
  axis a{low, high, odds};
  constexpr std::array named{0.01, 0.1, 0.25, 0.5, 0.75, 0.9};
  for (auto const share : named) a.add(share, percent(share));
  for (double rest = 0.01; rest > 0.9e-9; rest /= 10) a.add(1 - rest, percent(1 - rest));
  return a;
}

double axis::place(double value) const {
  auto const inside = std::clamp(value, low_, high_);
  return (scale_(inside) - scale_(low_)) / (scale_(high_) - scale_(low_));
}

// Unless it is beyond an end, but for a rounding.
void axis::add(double value, std::string label) {
  auto const trifle = 1e-9 * (scale_(high_) - scale_(low_));
  if (scale_(value) < scale_(low_) - trifle || scale_(value) > scale_(high_) + trifle) return;
  ticks_.push_back({value, std::move(label)});
}

void axis::add_even(double step, wording say) {
  auto const first = std::ceil(low_ / step - 1e-9) + 0.0;  // and not minus zero
  for (auto n = first; n * step <= high_ * (1 + 1e-12); ++n) add(n * step, say(n * step));
}

void axis::add_by_decades(wording say) {
  bool const is_short = std::log10(high_ / low_) < decades_of_full_labels;
  for (auto power = std::floor(std::log10(low_)); power <= std::log10(high_); ++power) {
    for (int times = 1; times < 10; ++times) {
      auto const value = times * std::pow(10.0, power);
      bool const is_named = times == 1 || (is_short && (times == 2 || times == 5));
      add(value, is_named ? say(value) : std::string{});
    }
  }
}

}  // namespace coxswain::bench
