#include "histogram.hpp"

#include "raw.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>

namespace coxswain::bench {
namespace {

constexpr unsigned step_bits = 10;  // 1,024 steps for each doubling

unsigned shift_of(std::uint64_t ns) {
  auto const width = static_cast<unsigned>(std::bit_width(ns));
  return width > step_bits + 1 ? width - step_bits - 1 : 0;
}

std::size_t step_of(std::uint64_t ns) {
  auto const shift = shift_of(ns);
  return (std::size_t{shift} << step_bits) + (ns >> shift);
}

// The middle of the times that belong to the step.
double time_of(std::size_t step) {
  auto const shift = step < (std::size_t{2} << step_bits) ? 0 : (step >> step_bits) - 1;
  auto const first = static_cast<double>(step - (shift << step_bits));
  return std::ldexp(first, static_cast<int>(shift)) +
         (std::ldexp(1.0, static_cast<int>(shift)) - 1) / 2;
}

}  // namespace

void histogram::add(std::int64_t ns, std::uint64_t times) {
  auto const step = step_of(static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0)));
  if (counts_.size() <= step) counts_.resize(step + 1);
  counts_[step] += times;
  count_ += times;
  max_ = std::max(max_, ns);
}

void histogram::add(histogram const& other) {
  counts_.resize(std::max(counts_.size(), other.counts_.size()));
  for (std::size_t i = 0; i < other.counts_.size(); ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  max_ = std::max(max_, other.max_);
}

double histogram::percentile(double share) const {
  if (count_ == 0) return 0;
  auto const last = static_cast<double>(count_);
  auto const rank = std::clamp(std::ceil(share * last - 1e-9), 1.0, last);
  std::uint64_t passed = 0;
  for (std::size_t step = 0; step < counts_.size(); ++step) {
    passed += counts_[step];
    if (static_cast<double>(passed) >= rank) {
      return std::min(time_of(step), static_cast<double>(max_));
    }
  }
  return static_cast<double>(max_);
}

summary histogram::summarise() const {
  return {count_, percentile(0.5), percentile(0.99), percentile(0.999), static_cast<double>(max_)};
}

std::vector<histogram::bar> histogram::bars() const {
  std::vector<bar> all;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] > 0) all.push_back({time_of(i), counts_[i]});
  }
  if (!all.empty()) all.back().ns = static_cast<double>(max_);
  return all;
}

void histogram::append_to(std::string& out) const {
  append_raw(out, max_);
  append_raw(out, static_cast<std::uint64_t>(
                      std::count_if(counts_.begin(), counts_.end(), [](auto n) { return n > 0; })));
  for (std::size_t step = 0; step < counts_.size(); ++step) {
    if (counts_[step] == 0) continue;
    append_raw(out, step);
    append_raw(out, counts_[step]);
  }
}

histogram histogram::take_from(std::string_view& from) {
  histogram taken;
  taken.max_ = take_raw<std::int64_t>(from);
  for (auto steps = take_raw<std::uint64_t>(from); steps > 0; --steps) {
    auto const step = take_raw<std::size_t>(from);
    auto const times = take_raw<std::uint64_t>(from);
    if (taken.counts_.size() <= step) taken.counts_.resize(step + 1);
    taken.counts_[step] += times;
    taken.count_ += times;
  }
  return taken;
}

}  // namespace coxswain::bench
