#include "terminal/sparkline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

namespace coxswain::tools {
namespace {

using levels = std::array<std::string_view, 8>;
constexpr levels blocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr levels letters{"_", ".", ":", "-", "=", "+", "*", "#"};

// Shorter ones differ by chance.
constexpr duration shortest = 1us;

std::vector<bar> merged(std::vector<bar> const& bars, std::size_t columns) {
  std::vector<bar> all(columns);
  for (std::size_t i = 0; i < columns; ++i) {
    for (auto at = i * bars.size() / columns; at < (i + 1) * bars.size() / columns; ++at) {
      all[i].height = std::max(all[i].height, bars[at].height);
      all[i].failed = all[i].failed || bars[at].failed;
    }
  }
  return all;
}

double exponent(duration d) { return std::log(static_cast<double>(std::max(d, shortest).count())); }

}  // namespace

styled_line sparkline(std::vector<bar> const& bars, std::size_t columns_max, bool has_unicode) {
  auto const shown = merged(bars, std::min(bars.size(), columns_max));
  auto least = std::numeric_limits<double>::max();
  auto greatest = std::numeric_limits<double>::lowest();
  for (auto const& b : shown) {
    least = std::min(least, exponent(b.height));
    greatest = std::max(greatest, exponent(b.height));
  }
  styled_line line;
  for (auto const& b : shown) {
    if (b.failed) {
      line.add("x", style::bad);
      continue;
    }
    auto const share = greatest > least ? (exponent(b.height) - least) / (greatest - least) : 0.0;
    auto const level = static_cast<std::size_t>(std::lround(share * (blocks.size() - 1)));
    line.add((has_unicode ? blocks : letters)[level], style::busy);
  }
  return line;
}

}  // namespace coxswain::tools
