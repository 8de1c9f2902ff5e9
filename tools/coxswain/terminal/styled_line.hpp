#pragma once
// A line of a terminal: texts, each with a meaning that becomes a colour; made harmless
// (harmless_text). Not here: layout (top_frame), and the terminal.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::tools {

enum class style : std::uint8_t { plain, dim, bold, title, busy, warning, bad, alarm };

// The capabilities of a terminal.
struct palette {
  bool has_colours{};
  bool has_unicode{};
};

class styled_line {
 public:
  styled_line() = default;
  explicit styled_line(std::string_view text, style how = style::plain) { add(text, how); }

  styled_line& add(std::string_view text, style how = style::plain);

  [[nodiscard]] std::size_t columns() const noexcept { return columns_; }

  // At most this many columns; a cut text ends in "..".
  styled_line& cut(std::size_t columns_max);

  [[nodiscard]] std::string plain() const;
  // With escapes. What the terminal has no letters for becomes '?'.
  [[nodiscard]] std::string ansi(palette const& with) const;

 private:
  struct part {
    std::string text;
    style how;
  };
  std::vector<part> parts_;
  std::size_t columns_{};
};

// How many columns a terminal needs for a text without control characters.
[[nodiscard]] std::size_t columns_of(std::string_view text);

// The text in lines of at most this many columns, broken after spaces and commas where there are
// any; the last of at most `lines_max` lines is cut.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, std::size_t columns_max,
                                               std::size_t lines_max);

}  // namespace coxswain::tools
