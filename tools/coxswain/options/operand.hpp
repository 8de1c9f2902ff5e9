#pragma once
// The operand of a reduction on the command line, and its result.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace coxswain::tools {

using number = std::variant<std::int64_t, double>;

// "12" is an integer, unless `real`; "12.5", "1e3", "inf" and "nan" are doubles. None if it is no
// number, or an integer of more than 64 bits.
[[nodiscard]] std::optional<number> parse_operand(std::string_view text, bool real);

// With enough digits to be read as the same number.
[[nodiscard]] std::string text_of(number of);

}  // namespace coxswain::tools
