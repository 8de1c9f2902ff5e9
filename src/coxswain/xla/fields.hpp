#pragma once
// Appends single fields of a Protobuf message to a text. Zero and empty ones are left out unless
// the name says otherwise, as proto3 does. Private to xla, and used by the benchmark.

#include "coxswain/base/little_endian.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace coxswain::xla {

inline void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

inline void append_number(std::string& out, unsigned field, std::uint64_t value) {
  if (value == 0) return;
  append_varint(out, field << 3);
  append_varint(out, value);
}

// Of the types int32 and int64: a negative one takes ten bytes.
inline void append_integer(std::string& out, unsigned field, std::int64_t value) {
  append_number(out, field, static_cast<std::uint64_t>(value));
}

inline void append_fixed64(std::string& out, unsigned field, std::uint64_t value) {
  if (value == 0) return;
  append_varint(out, field << 3 | 1);
  out += to_little_endian(value);
}

// The tag and length of a text or message; its content must follow.
inline void append_head(std::string& out, unsigned field, std::size_t content_bytes) {
  append_varint(out, field << 3 | 2);
  append_varint(out, content_bytes);
}

// How long they are, if the field's number is below 16.
[[nodiscard]] constexpr std::size_t head_bytes(std::size_t content_bytes) noexcept {
  return 1 + (static_cast<std::size_t>(std::bit_width(content_bytes | 1)) + 6) / 7;
}

// Even if it is empty.
inline void append_content(std::string& out, unsigned field, std::string_view content) {
  append_head(out, field, content.size());
  out += content;
}

inline void append_text(std::string& out, unsigned field, std::string_view text) {
  if (!text.empty()) append_content(out, field, text);
}

}  // namespace coxswain::xla
