#include "coxswain/core/kernel/text.hpp"

#include "coxswain/base/little_endian.hpp"

#include <algorithm>

namespace coxswain::core {
namespace {

std::string with_unit(std::int64_t tenths, std::string_view unit) {
  std::string text = std::to_string(tenths / 10);
  if (tenths % 10 != 0) text.append(1, '.').append(std::to_string(tenths % 10));
  return text.append(1, ' ').append(unit);
}

// The length of the UTF-8 sequence that begins with `lead`, and the range of its second byte
// (Unicode standard, table 3-7); zero if none begins so.
struct sequence {
  std::size_t length{};
  unsigned char second_min{0x80};
  unsigned char second_max{0xbf};
};

sequence sequence_of(unsigned char lead) {
  if (lead < 0x80) return {1};
  if (lead < 0xc2) return {0};
  if (lead < 0xe0) return {2};
  if (lead == 0xe0) return {3, 0xa0};
  if (lead == 0xed) return {3, 0x80, 0x9f};
  if (lead < 0xf0) return {3};
  if (lead == 0xf0) return {4, 0x90};
  if (lead < 0xf4) return {4};
  if (lead == 0xf4) return {4, 0x80, 0x8f};
  return {0};
}

}  // namespace

std::string in_words(duration d) {
  if (d == without_limit) return "without limit";
  if (d < 0ns) d = 0ns;
  if (d < 1s) return with_unit(d / 1ms * 10, "ms");
  if (d < 2min) return with_unit(d / 100ms, "s");
  if (d < 2h) return with_unit(d / 6s, "min");
  return with_unit(d / 6min, "h");
}

std::string shortened(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string{text};
  constexpr std::string_view mark = "...";
  std::size_t end = bytes_max - std::min(bytes_max, mark.size());
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string{text.substr(0, end)}.append(mark);
}

std::string in_quotes(std::string_view name) {
  return std::string{"'"}.append(shortened(name, quoted_bytes_max)).append(1, '\'');
}

task_ranges ranges(std::vector<task_id> const& tasks, std::size_t bytes_max) {
  task_ranges out;
  for (std::size_t i = 0; i < tasks.size();) {
    std::size_t last = i;
    while (last + 1 < tasks.size() && tasks[last + 1].value == tasks[last].value + 1) ++last;
    std::string piece = out.text.empty() ? "" : ",";
    piece.append(std::to_string(tasks[i].value));
    if (last > i) piece.append(1, '-').append(std::to_string(tasks[last].value));
    if (out.text.size() + piece.size() > bytes_max) {
      out.cut = static_cast<std::uint32_t>(tasks.size() - i);
      break;
    }
    out.text.append(piece);
    i = last + 1;
  }
  return out;
}

std::string in_words(std::vector<task_id> const& tasks) {
  constexpr std::size_t longest = 256;
  task_ranges const all = ranges(tasks, longest);
  return (tasks.size() == 1 ? "task " : "tasks ") + all.text +
         (all.cut == 0 ? "" : " and " + std::to_string(all.cut) + " more");
}

bool equal_in_constant_time(std::string_view a, std::string_view b) noexcept {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    difference |= static_cast<unsigned>(a[i] ^ b[i]);
  }
  return difference == 0;
}

bool is_utf8(std::string_view text) noexcept {
  constexpr std::uint64_t not_ascii = 0x8080'8080'8080'8080;
  for (std::size_t i = 0; i < text.size();) {
    auto const next = text.substr(i, number_bytes);
    if (next.size() == number_bytes && (from_little_endian<std::uint64_t>(next) & not_ascii) == 0) {
      i += number_bytes;
      continue;
    }
    auto const byte = [&](std::size_t offset) {
      return static_cast<unsigned char>(text[i + offset]);
    };
    sequence const s = sequence_of(byte(0));
    if (s.length == 0 || i + s.length > text.size()) return false;
    if (s.length > 1 && (byte(1) < s.second_min || byte(1) > s.second_max)) return false;
    for (std::size_t k = 2; k < s.length; ++k) {
      if ((byte(k) & 0xc0) != 0x80) return false;
    }
    i += s.length;
  }
  return true;
}

std::string hexadecimal(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (char const c : bytes) {
    auto const byte = static_cast<unsigned char>(c);
    text.append(1, digits[byte / 16]).append(1, digits[byte % 16]);
  }
  return text;
}

std::string usage_text(memory_meter const& memory) {
  return std::to_string(memory.used()) + " bytes are in use and memory_bytes_max is " +
         std::to_string(memory.limit()) + ", a quarter of which is for messages in transit";
}

}  // namespace coxswain::core
