#include "load/histogram.hpp"

#include "load/tally.hpp"

#include <boost/json/array.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <utility>

namespace coxswain::bench {
namespace {

constexpr unsigned step_bits = 10;  // 1,024 steps for each doubling

std::size_t step_of(std::uint64_t ns) {
  auto const width = static_cast<unsigned>(std::bit_width(ns));
  auto const shift = width > step_bits + 1 ? width - step_bits - 1 : 0;
  return (std::size_t{shift} << step_bits) + (ns >> shift);
}

// The middle of the step's times.
double time_of(std::size_t step) {
  auto const shift = step < (std::size_t{2} << step_bits) ? 0 : (step >> step_bits) - 1;
  auto const first = static_cast<double>(step - (shift << step_bits));
  return std::ldexp(first, static_cast<int>(shift)) +
         (std::ldexp(1.0, static_cast<int>(shift)) - 1) / 2;
}

}  // namespace

void histogram::add(std::int64_t ns) {
  auto const step = step_of(static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0)));
  if (counts_.size() <= step) counts_.resize(step + 1);
  ++counts_[step];
  max_ = std::max(max_, ns);
}

boost::json::object histogram::to_json() const {
  boost::json::array times;
  for (std::size_t step = 0; step < counts_.size(); ++step) {
    if (counts_[step] == 0) continue;
    times.push_back(time_of(step));
    times.push_back(counts_[step]);
  }
  return {{"max", max_}, {"times", std::move(times)}};
}

boost::json::object tally::to_json() const {
  boost::json::array all_latencies;
  for (auto const& latency : latencies) all_latencies.push_back(latency.to_json());
  return {{"operations", operations},
          {"elapsed", elapsed.count()},
          {"busy", busy.count()},
          {"latencies", std::move(all_latencies)}};
}

}  // namespace coxswain::bench
