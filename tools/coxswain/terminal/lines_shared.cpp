#include "terminal/lines_shared.hpp"

#include <algorithm>
#include <numeric>

namespace coxswain::tools {

std::vector<std::size_t> lines_shared(std::vector<line_wish> const& wishes, std::size_t lines) {
  std::vector<std::size_t> order(wishes.size());
  std::iota(order.begin(), order.end(), std::size_t{});
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return wishes[a].rank < wishes[b].rank; });
  std::vector<std::size_t> given(wishes.size());
  for (auto const i : order) {
    if (wishes[i].least > lines) continue;
    given[i] = wishes[i].least;
    lines -= given[i];
  }
  for (auto const i : order) {
    // A section that does not get its minimum gets nothing.
    if (given[i] < wishes[i].least) continue;
    auto const more = std::min(wishes[i].wanted - given[i], lines);
    given[i] += more;
    lines -= more;
  }
  return given;
}

}  // namespace coxswain::tools
