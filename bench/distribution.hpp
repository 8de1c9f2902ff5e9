#pragma once
// How times are distributed, as a curve: which part of them is not longer than each. Pure.

#include "chart.hpp"
#include "histogram.hpp"

#include <cstdint>

namespace coxswain::bench {

// The middle of the place that the `rank`th of `count` values takes among the parts of the whole:
// never 0 and never 1, which no stretched axis has.
[[nodiscard]] double share_of(std::uint64_t rank, std::uint64_t count);

// The least share that is worth drawing of so many values.
[[nodiscard]] double share_min(std::uint64_t count);

// The curve's line begins at `share_min`; its dots are p50, p99 and p99.9, as far as it goes.
[[nodiscard]] curve distribution(histogram const& times);

}  // namespace coxswain::bench
