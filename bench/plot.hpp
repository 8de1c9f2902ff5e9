#pragma once
// A report as a picture: how the times of its first latency are distributed.

#include <string>

namespace coxswain::bench {

struct report;

[[nodiscard]] std::string to_svg(report const& r);

}  // namespace coxswain::bench
