#pragma once
// Names and texts from others (jobs, barriers, processes, errors) cannot control a terminal or
// begin a line of a log: control characters become '?'.

#include <cstddef>
#include <string>
#include <string_view>

namespace coxswain::tools {

struct letter {
  char32_t code{};
  std::size_t bytes{1};
};

// Of a text that is UTF-8 and not empty.
[[nodiscard]] letter first_letter(std::string_view text);

// The text on one line: ends of lines and tabs become spaces; if it is no UTF-8, all bytes that are
// not ASCII become '?'.
[[nodiscard]] std::string harmless_line(std::string_view text);

// The same, but its lines stay lines.
[[nodiscard]] std::string harmless_lines(std::string_view text);

}  // namespace coxswain::tools
