#pragma once
// 64-bit numbers as bytes, the lowest first, on every machine.

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace coxswain {

inline constexpr std::size_t number_bytes = 8;

template <class Number>
[[nodiscard]] std::string to_little_endian(Number number) {
  auto const bits = std::bit_cast<std::uint64_t>(number);
  std::string text(number_bytes, '\0');
  for (std::size_t i = 0; i < number_bytes; ++i) text[i] = static_cast<char>(bits >> (8 * i));
  return text;
}

// `from` has `number_bytes`.
template <class Number>
[[nodiscard]] Number from_little_endian(std::string_view from) {
  assert(from.size() == number_bytes);
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < number_bytes; ++i) {
    bits |= std::uint64_t{static_cast<unsigned char>(from[i])} << (8 * i);
  }
  return std::bit_cast<Number>(bits);
}

}  // namespace coxswain
