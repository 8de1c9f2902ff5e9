#pragma once
// A report as a picture: how the times of its first latency are distributed.

#include <string>

namespace coxswain::bench {

class histogram;
struct curve;
struct report;

[[nodiscard]] std::string to_svg(report const& r);

// Which part of the times is not longer than each, of those that at least `share_min` are not.
[[nodiscard]] curve distribution(histogram const& times, double share_min);

}  // namespace coxswain::bench
