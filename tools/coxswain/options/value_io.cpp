#include "options/value_io.hpp"

#include "options/exit_code.hpp"

#include "coxswain/core/kernel/text.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <system_error>

namespace coxswain::tools {

std::string value_of_argument(std::string given) {
  if (given == "-") given.assign(std::istreambuf_iterator<char>{std::cin}, {});
  return given;
}

void print_value(std::string_view value) {
  bool const ends_line = value.ends_with('\n') || ::isatty(STDOUT_FILENO) == 0;
  if (std::fwrite(value.data(), 1, value.size(), stdout) != value.size() ||
      (!ends_line && std::fputc('\n', stdout) == EOF) || std::fflush(stdout) != 0) {
    throw program_error{exit_code::failed, "the value could not be written to standard output"};
  }
}

void flush_output() {
  if (std::fflush(stdout) == 0) return;
  throw program_error{exit_code::failed, "standard output could not be written"};
}

std::string shown_value(std::string_view value) {
  constexpr std::size_t shown_max = 200;
  bool const is_text = core::is_utf8(value);
  auto const shown =
      is_text ? core::shortened(value, shown_max) : std::string{value.substr(0, shown_max)};
  std::string line;
  for (char const c : shown) {
    auto const byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      line += "\\n";
    } else if (c == '\\') {
      line += "\\\\";
    } else if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !is_text)) {
      line += fmt::format("\\x{:02x}", byte);
    } else {
      line += c;
    }
  }
  if (value.size() > shown_max) line += fmt::format(" ({} bytes)", value.size());
  return line;
}

std::optional<std::string> from_hexadecimal(std::string_view digits) {
  if (digits.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    std::uint8_t byte{};
    auto const* const end = digits.data() + i + 2;
    auto const [parsed, problem] = std::from_chars(digits.data() + i, end, byte, 16);
    if (problem != std::errc{} || parsed != end) return std::nullopt;
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

}  // namespace coxswain::tools
