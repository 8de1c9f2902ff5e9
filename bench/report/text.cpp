#include "report/text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <utility>

namespace coxswain::bench {
namespace {

std::string three_figures(double value, char const* unit) {
  auto const size = std::abs(value);
  auto const decimals = size < 10 ? 2 : size < 100 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, decimals, unit);
}

}  // namespace

std::string time_text(double ns) {
  auto const [value, unit] = ns < 1e3   ? std::pair{ns, "ns"}
                             : ns < 1e6 ? std::pair{ns / 1e3, "us"}
                             : ns < 1e9 ? std::pair{ns / 1e6, "ms"}
                                        : std::pair{ns / 1e9, "s"};
  return three_figures(value, unit);
}

std::string bytes_text(double bytes) {
  constexpr double step = 1024;
  auto const size = std::abs(bytes);
  if (size < step) return fmt::format("{:.0f} B", bytes);
  if (size < step * step) return three_figures(bytes / step, "KiB");
  return three_figures(bytes / step / step, "MiB");
}

std::string rate_text(double per_second) {
  if (per_second < 100) return three_figures(per_second, "/s");
  return grouped(static_cast<std::uint64_t>(std::llround(per_second))) + " /s";
}

std::string counted(std::uint64_t n, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(n), noun, n == 1 ? "" : "s");
}

std::string grouped(std::uint64_t n) {
  auto text = std::to_string(n);
  for (auto i = static_cast<std::ptrdiff_t>(text.size()) - 3; i > 0; i -= 3) {
    text.insert(static_cast<std::size_t>(i), 1, ',');
  }
  return text;
}

}  // namespace coxswain::bench
