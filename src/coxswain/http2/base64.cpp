#include "coxswain/http2/base64.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace coxswain::http2 {
namespace {

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::uint8_t no_digit = 64;

constexpr auto digits = [] {
  std::array<std::uint8_t, 256> made{};
  made.fill(no_digit);
  for (std::size_t i = 0; i < alphabet.size(); ++i) {
    made[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return made;
}();

}  // namespace

std::string to_base64(std::string_view content) {
  std::string text;
  text.reserve((content.size() * 4 + 2) / 3);
  std::uint32_t bits = 0;
  int count = 0;  // of the lowest bits of `bits` that are not written
  for (char const c : content) {
    bits = bits << 8 | static_cast<unsigned char>(c);
    for (count += 8; count >= 6; count -= 6) text += alphabet[bits >> (count - 6) & 63];
  }
  if (count > 0) text += alphabet[bits << (6 - count) & 63];
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  for (int padding = 0; padding < 2 && text.ends_with('='); ++padding) text.remove_suffix(1);
  if (text.size() % 4 == 1) return std::nullopt;
  std::string content;
  content.reserve(text.size() * 3 / 4);
  std::uint32_t bits = 0;
  int count = 0;
  for (char const c : text) {
    auto const digit = digits[static_cast<unsigned char>(c)];
    if (digit == no_digit) return std::nullopt;
    bits = bits << 6 | digit;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    content += static_cast<char>(bits >> count & 0xff);
  }
  return content;
}

}  // namespace coxswain::http2
