#pragma once
// 64-bit numbers as bytes, the lowest first, on every machine.

#include <boost/endian/conversion.hpp>

#include <cassert>
#include <cstddef>
#include <string>
#include <string_view>

namespace coxswain {

inline constexpr std::size_t number_bytes = 8;

template <class Number>
[[nodiscard]] std::string to_little_endian(Number number) {
  unsigned char text[number_bytes];
  boost::endian::endian_store<Number, number_bytes, boost::endian::order::little>(text, number);
  return {text, text + number_bytes};
}

// `from` has `number_bytes`.
template <class Number>
[[nodiscard]] Number from_little_endian(std::string_view from) {
  assert(from.size() == number_bytes);
  return boost::endian::endian_load<Number, number_bytes, boost::endian::order::little>(
      reinterpret_cast<unsigned char const*>(from.data()));
}

}  // namespace coxswain
