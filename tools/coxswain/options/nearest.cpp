#include "options/nearest.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace coxswain::tools {
namespace {

// How many letters must be added, dropped, replaced or swapped with the next one (the restricted
// Damerau-Levenshtein distance).
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);  // from the first i letters to the first j
  std::iota(row.begin(), row.end(), std::size_t{0});
  auto above = row;
  auto two_above = row;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    two_above = std::exchange(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      auto const replaced = above[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      bool const are_swapped =
          i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (are_swapped) row[j] = std::min(row[j], two_above[j - 2] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view given, std::set<std::string> const& names) {
  std::string best;
  // At most one, or a third of the letters: a larger distance is another word.
  auto least = std::max<std::size_t>(given.size() / 3, 1);
  for (auto const& name : names) {
    auto const changes = distance(given, name);
    if (changes > least || (changes == least && !best.empty())) continue;
    least = changes;
    best = name;
  }
  return best;
}

}  // namespace coxswain::tools
