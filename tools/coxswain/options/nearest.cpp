#include "options/nearest.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace coxswain::tools {
namespace {

// How many letters must be added, dropped or replaced (Levenshtein).
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    auto diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < to.size(); ++j) {
      auto const above = row[j + 1];
      auto const replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      row[j + 1] = std::min({above + 1, row[j] + 1, replaced});
      diagonal = above;
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view given, std::set<std::string> const& names) {
  std::string best;
  // At most a third of the letters: a larger distance is another word.
  auto least = std::max<std::size_t>(given.size() / 3, 1);
  for (auto const& one : names) {
    auto const changes = distance(given, one);
    if (changes > least || (changes == least && !best.empty())) continue;
    least = changes;
    best = one;
  }
  return best;
}

}  // namespace coxswain::tools
