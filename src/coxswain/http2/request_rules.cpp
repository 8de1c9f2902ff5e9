#include "coxswain/http2/request_rules.hpp"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace coxswain::http2 {
namespace {

constexpr std::array<std::string_view, 4> pseudo_headers{":method", ":scheme", ":path",
                                                         ":authority"};
constexpr std::uint8_t bit_of_path = 1 << 2;
constexpr std::uint8_t bit_of_authority = 1 << 3;
constexpr std::uint8_t required_bits = 0b0111;

// They belong to one connection of HTTP/1.
constexpr std::array<std::string_view, 5> forbidden{"connection", "upgrade", "keep-alive",
                                                    "proxy-connection", "transfer-encoding"};

std::uint8_t const* bytes_of(std::string_view text) noexcept {
  return reinterpret_cast<std::uint8_t const*>(text.data());
}

constexpr bool is_space(char c) noexcept { return c == ' ' || c == '\t'; }

constexpr bool is_control(char c) noexcept {
  auto const byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && byte != '\t') || byte == 0x7f;
}

// False: none of these eight bytes is a control character.
bool may_have_control(char const* eight) noexcept {
  constexpr std::uint64_t ones = 0x0101'0101'0101'0101;
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, eight, sizeof(bytes));
  auto const below_space = (bytes - ones * 0x20) & ~bytes;
  auto const other = bytes ^ ones * 0x7f;
  auto const is_delete = (other - ones) & ~other;
  return ((below_space | is_delete) & ones * 0x80) != 0;
}

// No control characters, and no space at the ends.
bool is_plain(std::string_view value) noexcept {
  if (value.empty()) return true;
  if (is_space(value.front()) || is_space(value.back())) return false;
  while (value.size() >= sizeof(std::uint64_t) && !may_have_control(value.data())) {
    value.remove_prefix(sizeof(std::uint64_t));
  }
  return std::none_of(value.begin(), value.end(), is_control);
}

}  // namespace

bool request_rules::allow(std::string_view name, std::string_view value) noexcept {
  if (name.empty() || !is_plain(value)) return false;
  if (name.front() == ':') return allow_pseudo(name, value);
  has_regular_ = true;
  // In lower case.
  if (nghttp2_check_header_name(bytes_of(name), name.size()) == 0) return false;
  for (auto const one : forbidden) {
    if (name == one) return false;
  }
  if (name == "te") return value == "trailers";
  if (name == "host") has_host_ = true;
  if (name == "content-length" && !is_trailers_) {
    std::uint64_t length = 0;
    auto const* const end = value.data() + value.size();
    auto const [stopped, failure] = std::from_chars(value.data(), end, length);
    if (content_length_ || failure != std::errc{} || stopped != end) return false;
    content_length_ = length;
  }
  return true;
}

bool request_rules::allow_pseudo(std::string_view name, std::string_view value) noexcept {
  if (is_trailers_ || has_regular_) return false;
  for (std::size_t i = 0; i < pseudo_headers.size(); ++i) {
    if (name != pseudo_headers[i]) continue;
    auto const bit = static_cast<std::uint8_t>(1 << i);
    if ((seen_ & bit) != 0) return false;
    seen_ |= bit;
    if (bit == bit_of_path) return value.starts_with('/') || value == "*";
    return bit == bit_of_authority || !value.empty();
  }
  return false;
}

bool request_rules::are_complete() const noexcept {
  if (is_trailers_) return true;
  bool const has_authority = (seen_ & bit_of_authority) != 0 || has_host_;
  return (seen_ & required_bits) == required_bits && has_authority;
}

}  // namespace coxswain::http2
