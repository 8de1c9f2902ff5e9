#include "terminal/styled_line.hpp"

#include "terminal/harmless_text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace coxswain::tools {
namespace {

constexpr std::string_view cut_mark{".."};

// East Asian letters and pictures take two columns.
bool is_wide(char32_t code) {
  constexpr std::array<std::pair<char32_t, char32_t>, 8> ranges{{{0x1100, 0x115f},
                                                                 {0x2e80, 0xa4cf},
                                                                 {0xac00, 0xd7a3},
                                                                 {0xf900, 0xfaff},
                                                                 {0xfe30, 0xfe6f},
                                                                 {0xff00, 0xff60},
                                                                 {0x1f300, 0x1faff},
                                                                 {0x20000, 0x3fffd}}};
  return std::any_of(ranges.begin(), ranges.end(), [code](auto const& range) {
    return code >= range.first && code <= range.second;
  });
}

// The bytes of the letters that fit.
std::size_t bytes_within(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  while (at < text.size()) {
    auto const one = first_letter(text.substr(at));
    std::size_t const width = is_wide(one.code) ? 2 : 1;
    if (width > columns) break;
    columns -= width;
    at += one.bytes;
  }
  return at;
}

std::string ascii(std::string_view text) {
  std::string all;
  for (std::size_t at = 0; at < text.size();) {
    auto const one = first_letter(text.substr(at));
    all += one.bytes == 1 ? text[at] : '?';
    at += one.bytes;
  }
  return all;
}

// SGR parameters. Without colours errors are still bold or reversed.
std::string_view parameters(style how, bool has_colours) {
  switch (how) {
    case style::plain: return "";
    case style::dim: return "2";
    case style::bold: return "1";
    case style::title: return has_colours ? "1;36" : "1";
    case style::busy: return has_colours ? "36" : "";
    case style::warning: return has_colours ? "1;33" : "1";
    case style::bad: return has_colours ? "1;31" : "1";
    case style::alarm: return has_colours ? "1;97;41" : "1;7";
  }
  return "";
}

}  // namespace

styled_line& styled_line::add(std::string_view text, style how) {
  auto shown = harmless_line(text);
  columns_ += columns_of(shown);
  if (!parts_.empty() && parts_.back().how == how) {
    parts_.back().text += shown;
  } else if (!shown.empty()) {
    parts_.push_back({std::move(shown), how});
  }
  return *this;
}

styled_line& styled_line::cut(std::size_t columns_max) {
  if (columns_ <= columns_max) return *this;
  auto left = columns_max - std::min(columns_max, cut_mark.size());
  std::size_t kept = 0;
  while (columns_of(parts_[kept].text) <= left) left -= columns_of(parts_[kept++].text);
  auto& last = parts_[kept];
  last.text.resize(bytes_within(last.text, left));
  last.text += cut_mark.substr(0, columns_max);
  parts_.resize(kept + 1);
  columns_ = 0;
  for (auto const& p : parts_) columns_ += columns_of(p.text);
  return *this;
}

std::string styled_line::plain() const {
  std::string all;
  for (auto const& p : parts_) all += p.text;
  all.resize(all.find_last_not_of(' ') + 1);
  return all;
}

std::string styled_line::ansi(palette const& with) const {
  std::string all;
  for (auto const& p : parts_) {
    auto const sgr = parameters(p.how, with.has_colours);
    if (!sgr.empty()) all.append("\033[").append(sgr).append("m");
    all += with.has_unicode ? p.text : ascii(p.text);
    if (!sgr.empty()) all += "\033[0m";
  }
  return all;
}

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    auto const one = first_letter(text);
    columns += is_wide(one.code) ? 2 : 1;
    text.remove_prefix(std::min(one.bytes, text.size()));
  }
  return columns;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t columns_max,
                                 std::size_t lines_max) {
  auto const shown = harmless_line(text);
  std::string_view left{shown};
  std::vector<std::string> lines;
  while (!left.empty() && columns_max > 0 && lines.size() < lines_max) {
    auto bytes = bytes_within(left, columns_max);
    bool const is_last = bytes == left.size() || lines.size() + 1 == lines_max;
    if (is_last) {
      lines.push_back(styled_line{left}.cut(columns_max).plain());
      break;
    }
    // The space itself may stand beyond the end.
    auto const space = left.substr(0, bytes + 1).find_last_of(' ');
    auto const comma = left.substr(0, bytes).find_last_of(',');
    auto const end = std::max(space == std::string_view::npos ? 0 : space,
                              comma == std::string_view::npos ? 0 : comma + 1);
    if (end > 0) bytes = end;
    if (bytes == 0) break;  // not even one wide letter fits
    lines.push_back(styled_line{left.substr(0, bytes)}.plain());
    left.remove_prefix(bytes);
    left.remove_prefix(std::min(left.find_first_not_of(' '), left.size()));
  }
  return lines;
}

}  // namespace coxswain::tools
