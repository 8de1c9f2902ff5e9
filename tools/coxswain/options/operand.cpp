#include "options/operand.hpp"

#include <fmt/format.h>

#include <charconv>
#include <system_error>

namespace coxswain::tools {

std::optional<number> parse_operand(std::string_view text, bool real) {
  auto const* const end = text.data() + text.size();
  if (!real) {
    std::int64_t integer{};
    auto const [parsed, problem] = std::from_chars(text.data(), end, integer);
    if (parsed == end && problem == std::errc{}) return integer;
    if (parsed == end && problem == std::errc::result_out_of_range) return std::nullopt;
  }
  double floating{};
  auto const [parsed, problem] = std::from_chars(text.data(), end, floating);
  if (parsed != end || problem != std::errc{}) return std::nullopt;
  return floating;
}

std::string text_of(number of) {
  return std::visit([](auto n) { return fmt::format("{}", n); }, of);
}

}  // namespace coxswain::tools
