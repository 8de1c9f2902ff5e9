#pragma once
// Values on the command line, on standard input and on standard output.

#include <optional>
#include <string>
#include <string_view>

namespace coxswain::tools {

// The value of a VALUE argument: - means all of standard input.
[[nodiscard]] std::string value_of_argument(std::string given);

// Writes the value as it is stored, so that it can be piped on. Only a terminal gets its line
// ended. Throws program_error.
void print_value(std::string_view value);

// After output that is read while we go on. Throws program_error: it could not be written.
void flush_output();

// For a line of text: bytes that are not printable are escaped as in C, and a long value is cut.
[[nodiscard]] std::string shown_value(std::string_view value);

// The bytes that hexadecimal digits, two for each and in any case, stand for. None: they are no
// such digits.
[[nodiscard]] std::optional<std::string> from_hexadecimal(std::string_view digits);

}  // namespace coxswain::tools
