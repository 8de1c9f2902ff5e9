#include "distribution.hpp"

#include <algorithm>
#include <array>

namespace coxswain::bench {
namespace {

constexpr std::array marked{0.5, 0.99, 0.999};

}  // namespace

double share_of(std::uint64_t rank, std::uint64_t count) {
  return (static_cast<double>(rank) - 0.5) / static_cast<double>(count);
}

double share_min(std::uint64_t count) { return std::clamp(share_of(1, count), 0.01, 0.1); }

curve distribution(histogram const& times) {
  curve c;
  auto const begin = share_min(times.count());
  std::uint64_t passed = 0;
  for (auto const& s : times.bars()) {
    auto const first = share_of(passed + 1, times.count());
    passed += s.times;
    auto const last = share_of(passed, times.count());
    if (last < begin) continue;
    c.line.push_back({s.ns, std::max(first, begin)});
    if (last > first) c.line.push_back({s.ns, last});
  }
  for (auto const share : marked) {
    if (share <= share_of(times.count(), times.count())) {
      c.dots.push_back({times.percentile(share), share});
    }
  }
  return c;
}

}  // namespace coxswain::bench
