#include "coxswain/base/text_numbers.hpp"

#include <charconv>
#include <cstddef>

namespace coxswain {
namespace {

// In the words: here comes a number; and: the next character is one of the text.
constexpr char number_mark = '\0';
constexpr char plain_mark = '\1';

// So many fit into 64 bits, whatever they are.
constexpr std::size_t digits_max = 19;

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_mark(char c) noexcept { return c == number_mark || c == plain_mark; }

}  // namespace

void append_number(std::string& to, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) to += static_cast<char>(number | 0x80);
  to += static_cast<char>(number);
}

std::optional<std::uint64_t> take_number(std::string_view& from) noexcept {
  std::uint64_t number = 0;
  for (unsigned shift = 0; shift < 64 && !from.empty(); shift += 7) {
    auto const byte = static_cast<unsigned char>(from.front());
    from.remove_prefix(1);
    number |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return number;
  }
  return std::nullopt;
}

void take_numbers_out(std::string_view text, std::string& words, std::string& numbers) {
  words.clear();
  words.reserve(text.size());
  while (!text.empty()) {
    std::size_t plain = 0;
    while (plain < text.size() && !is_digit(text[plain]) && !is_mark(text[plain])) ++plain;
    words += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    bool const is_leading_zero = text[0] == '0' && text.size() > 1 && is_digit(text[1]);
    if (is_leading_zero || is_mark(text[0])) {
      if (is_mark(text[0])) words += plain_mark;
      words += text[0];
      text.remove_prefix(1);
      continue;
    }
    std::uint64_t number = 0;
    auto const most = text.substr(0, digits_max);
    auto const rest = std::from_chars(most.data(), most.data() + most.size(), number).ptr;
    append_number(numbers, number);
    words += number_mark;
    text.remove_prefix(static_cast<std::size_t>(rest - most.data()));
  }
}

std::optional<std::string> put_numbers_in(std::string_view words, std::string_view& numbers) {
  std::string text;
  while (!words.empty()) {
    if (words[0] == number_mark) {
      auto const number = take_number(numbers);
      if (!number) return std::nullopt;
      text += std::to_string(*number);
    } else {
      if (words[0] == plain_mark) words.remove_prefix(1);
      text += words[0];
    }
    words.remove_prefix(1);
  }
  return text;
}

}  // namespace coxswain
