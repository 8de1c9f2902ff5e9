#include "coxswain/http2/percent.hpp"

namespace coxswain::http2 {
namespace {

constexpr std::string_view hex_digits = "0123456789ABCDEF";
constexpr std::string_view cut_mark = "...";

constexpr bool is_plain(char c) noexcept { return c >= ' ' && c <= '~' && c != '%'; }

constexpr bool continues_character(char c) noexcept {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

constexpr std::size_t encoded_bytes(char c) noexcept { return is_plain(c) ? 1 : 3; }

// How much of the text fits. If it has to be cut, the mark fits behind it.
std::size_t fitting(std::string_view text, std::size_t bytes_max) {
  std::size_t used = 0;
  std::size_t cut = 0;  // where the mark would fit as well
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!continues_character(text[i]) && used + cut_mark.size() <= bytes_max) cut = i;
    used += encoded_bytes(text[i]);
    if (used > bytes_max) return cut;
  }
  return text.size();
}

// The value of a hexadecimal digit, or -1.
constexpr int hex_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

std::string percent_encoded(std::string_view text, std::size_t bytes_max) {
  auto const size = fitting(text, bytes_max);
  std::string encoded;
  encoded.reserve(size + cut_mark.size());
  for (char const c : text.substr(0, size)) {
    if (is_plain(c)) {
      encoded += c;
      continue;
    }
    auto const byte = static_cast<unsigned char>(c);
    encoded += '%';
    encoded += hex_digits[byte >> 4];
    encoded += hex_digits[byte & 15];
  }
  if (size < text.size()) encoded += cut_mark.substr(0, bytes_max - encoded.size());
  return encoded;
}

std::string percent_decoded(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      auto const high = hex_value(text[i + 1]);
      auto const low = hex_value(text[i + 2]);
      if (high >= 0 && low >= 0) {
        decoded += static_cast<char>(high << 4 | low);
        i += 2;
        continue;
      }
    }
    decoded += text[i];
  }
  return decoded;
}

}  // namespace coxswain::http2
