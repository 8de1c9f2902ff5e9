#pragma once
// Writes single fields of a Protobuf message into a small array, so that they can be appended with
// one call. Their numbers are below 2048. Private to wire.

#include "coxswain/base/little_endian.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace coxswain::wire {

inline constexpr std::size_t varint_bytes_max = 10;
inline constexpr std::size_t tag_bytes_max = 2;
inline constexpr std::size_t number_field_bytes_max = tag_bytes_max + varint_bytes_max;

[[nodiscard]] constexpr std::size_t varint_bytes(std::uint64_t value) noexcept {
  return (static_cast<std::size_t>(std::bit_width(value | 1)) + 6) / 7;
}

// How many bytes a field takes whose number is below 16; none if it is zero or empty.
[[nodiscard]] constexpr std::size_t number_field_bytes(std::uint64_t value) noexcept {
  return value == 0 ? 0 : 1 + varint_bytes(value);
}
[[nodiscard]] constexpr std::size_t content_field_bytes(std::size_t content_bytes) noexcept {
  return content_bytes == 0 ? 0 : 1 + varint_bytes(content_bytes) + content_bytes;
}

class field_writer {
 public:
  // The array must have room for all fields.
  explicit field_writer(char* to) noexcept : begin_{to}, at_{to} {}

  // Zero is left out, as proto3 does.
  void put_number(int field, std::uint64_t value) noexcept {
    if (value != 0) put_present_number(field, value);
  }

  // A number of the type sint64.
  void put_signed(int field, std::int64_t value) noexcept {
    if (value != 0) put_present_signed(field, value);
  }

  // The same for an `optional` field that is set, even if it is zero.
  void put_present_number(int field, std::uint64_t value) noexcept {
    put_varint(static_cast<std::uint64_t>(field) << 3);
    put_varint(value);
  }
  void put_present_signed(int field, std::int64_t value) noexcept {
    auto const bits = static_cast<std::uint64_t>(value);
    put_varint(static_cast<std::uint64_t>(field) << 3);
    put_varint(bits << 1 ^ (value < 0 ? ~std::uint64_t{} : 0));
  }

  // Zero is left out.
  void put_fixed64(int field, std::uint64_t value) noexcept {
    if (value != 0) put_present_fixed64(field, value);
  }
  void put_present_fixed64(int field, std::uint64_t value) noexcept {
    put_varint(static_cast<std::uint64_t>(field) << 3 | 1);
    put(to_little_endian(value));
  }
  void put_present_fixed32(int field, std::uint32_t value) noexcept {
    put_varint(static_cast<std::uint64_t>(field) << 3 | 5);
    put(to_little_endian(std::uint64_t{value}).substr(0, sizeof value));
  }

  // An element of a list of numbers.
  void put_bare_number(std::uint64_t value) noexcept { put_varint(value); }

  // The tag and length of a `bytes` or message field.
  void put_head(int field, std::size_t content_bytes) noexcept {
    put_varint(static_cast<std::uint64_t>(field) << 3 | 2);
    put_varint(content_bytes);
  }

  void put(std::string_view content) noexcept {
    at_ = std::copy(content.begin(), content.end(), at_);
  }

  [[nodiscard]] std::string_view written() const noexcept {
    return {begin_, static_cast<std::size_t>(at_ - begin_)};
  }

 private:
  void put_varint(std::uint64_t value) noexcept {
    for (; value >= 0x80; value >>= 7) *at_++ = static_cast<char>(value | 0x80);
    *at_++ = static_cast<char>(value);
  }

  char* begin_;
  char* at_;
};

}  // namespace coxswain::wire
