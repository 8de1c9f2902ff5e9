#include "coxswain/http2/grpc_timeout.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>

namespace coxswain::http2 {
namespace {

constexpr std::size_t digits_max = 8;
constexpr std::int64_t count_max = 99'999'999;

struct unit {
  char letter;
  duration length;
};

constexpr std::array<unit, 6> units{
    {{'n', 1ns}, {'u', 1us}, {'m', 1ms}, {'S', 1s}, {'M', 1min}, {'H', 1h}}};

}  // namespace

std::optional<duration> parse_grpc_timeout(std::string_view text) noexcept {
  if (text.size() < 2 || text.size() > digits_max + 1) return std::nullopt;
  auto const* const end = text.data() + text.size() - 1;
  std::uint32_t count = 0;
  auto const [stopped, failure] = std::from_chars(text.data(), end, count);
  if (failure != std::errc{} || stopped != end) return std::nullopt;
  for (auto const& unit : units) {
    if (unit.letter != *end) continue;
    return count > without_limit / unit.length ? without_limit : unit.length * count;
  }
  return std::nullopt;
}

std::string format_grpc_timeout(duration timeout) {
  auto const wanted = std::max(timeout, duration::zero());
  for (auto const& unit : units) {
    auto const count = wanted / unit.length + (wanted % unit.length > 0ns ? 1 : 0);
    if (count <= count_max) return std::to_string(count) + unit.letter;
  }
  return std::to_string(count_max) + 'H';
}

}  // namespace coxswain::http2
