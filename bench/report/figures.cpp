#include "report/figures.hpp"

#include "load/tally.hpp"

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/students_t.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

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

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  auto const middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return (values[middle - 1] + values[middle]) / 2;
}

interval median_interval(std::vector<double> values, double confidence) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  auto const n = values.size();
  boost::math::binomial const below_median{static_cast<double>(n), 0.5};
  // Leaving out `cut` values at each end misses the median if no more than `cut` lie on one side.
  auto const coverage = [&](std::size_t cut) {
    return std::max(0.0, 1 - 2 * boost::math::cdf(below_median, static_cast<double>(cut)));
  };
  std::size_t cut = 0;
  while (2 * (cut + 1) < n && coverage(cut + 1) >= confidence) ++cut;
  return {values[cut], values[n - 1 - cut], coverage(cut)};
}

power_law power_law::fit(std::vector<point> const& measured) {
  constexpr auto endless = std::numeric_limits<double>::infinity();
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
  if (measured.size() < 3 || xx < 1e-12) return {0, -endless, endless};
  auto const exponent = xy / xx;
  auto const rest = std::max(0.0, yy - exponent * xy);
  auto const t = boost::math::quantile(boost::math::students_t{n - 2}, 0.975);
  auto const spread = t * std::sqrt(rest / (n - 2) / xx);
  return {exponent, exponent - spread, exponent + spread};
}

std::string tally::to_bytes() const {
  std::string out;
  append_raw(out, operations);
  append_raw(out, elapsed);
  append_raw(out, busy);
  append_raw(out, latencies.size());
  for (auto const& l : latencies) l.append_to(out);
  append_raw(out, parts.size());
  for (auto const& p : parts) append_raw(out, p);
  return out;
}

tally tally::from_bytes(std::string_view from) {
  tally t;
  t.operations = take_raw<std::uint64_t>(from);
  t.elapsed = take_raw<duration>(from);
  t.busy = take_raw<duration>(from);
  for (auto left = take_raw<std::size_t>(from); left > 0; --left) {
    t.latencies.push_back(histogram::take_from(from));
  }
  for (auto left = take_raw<std::size_t>(from); left > 0; --left) {
    t.parts.push_back(take_raw<part>(from));
  }
  return t;
}

}  // namespace coxswain::bench
