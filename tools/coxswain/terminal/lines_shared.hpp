#pragma once
// How the sections of a screen share its lines.

#include <cstddef>
#include <vector>

namespace coxswain::tools {

struct line_wish {
  int rank{};            // the lowest is served first
  std::size_t least{};   // with fewer it is omitted
  std::size_t wanted{};  // not below `least`
};

// Distributes lines: first the minimum of each section, by rank, then the rest, by rank.
[[nodiscard]] std::vector<std::size_t> lines_shared(std::vector<line_wish> const& wishes,
                                                    std::size_t lines);

}  // namespace coxswain::tools
