#pragma once
// Durations as a row of bars, on a logarithmic scale from the least to the greatest.

#include "terminal/styled_line.hpp"

#include "coxswain/base/time.hpp"

#include <cstddef>
#include <vector>

namespace coxswain::tools {

struct bar {
  duration height{};
  bool failed{};  // shown as an x
};

// At most `columns_max` bars, oldest first; when there are more, each shows the longest of several
// that follow each other, or that one of them failed.
[[nodiscard]] styled_line sparkline(std::vector<bar> const& bars, std::size_t columns_max,
                                    bool has_unicode);

}  // namespace coxswain::tools
