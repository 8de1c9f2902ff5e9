#pragma once
// Where the fields of a Protobuf message are written, one after the other: into an array, to the
// end of a string, or nowhere. Their numbers are below 2048. Private to wire.

#include "coxswain/base/little_endian.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace coxswain::wire {

inline constexpr std::size_t varint_bytes_max = 10;
inline constexpr std::size_t tag_bytes_max = 2;
inline constexpr std::size_t number_field_bytes_max = tag_bytes_max + varint_bytes_max;

[[nodiscard, gnu::always_inline]] constexpr std::size_t varint_bytes(std::uint64_t value) noexcept {
  return (static_cast<std::size_t>(std::bit_width(value | 1)) * 9 + 64) / 64;
}

// How many bytes a field takes whose number is below 16; none if it is zero or empty.
[[nodiscard]] constexpr std::size_t number_field_bytes(std::uint64_t value) noexcept {
  return value == 0 ? 0 : 1 + varint_bytes(value);
}
[[nodiscard]] constexpr std::size_t content_field_bytes(std::size_t content_bytes) noexcept {
  return content_bytes == 0 ? 0 : 1 + varint_bytes(content_bytes) + content_bytes;
}

// Into an array, which must have room for all fields.
class field_writer {
 public:
  explicit field_writer(char* to) noexcept : begin_{to}, at_{to} {}

  // Zero is left out, as proto3 does.
  [[gnu::always_inline]] void put_number(int field, std::uint64_t value) noexcept {
    if (value != 0) put_present_number(field, value);
  }
  // The same for an `optional` field that is set, even if it is zero.
  [[gnu::always_inline]] void put_present_number(int field, std::uint64_t value) noexcept {
    put_tag(field, 0);
    put_varint(value);
  }
  [[gnu::always_inline]] void put_fixed64(int field, std::uint64_t value) noexcept {
    put_tag(field, 1);
    put(to_little_endian(value));
  }
  [[gnu::always_inline]] void put_fixed32(int field, std::uint32_t value) noexcept {
    put_tag(field, 5);
    put(to_little_endian(std::uint64_t{value}).substr(0, sizeof value));
  }

  // An element of a list of numbers.
  [[gnu::always_inline]] void put_bare_number(std::uint64_t value) noexcept { put_varint(value); }

  // The tag and length of a `bytes` or message field.
  [[gnu::always_inline]] void put_head(int field, std::size_t content_bytes) noexcept {
    put_tag(field, 2);
    put_varint(content_bytes);
  }

  [[gnu::always_inline]] void put(std::string_view content) noexcept {
    at_ = std::copy(content.begin(), content.end(), at_);
  }

  [[nodiscard]] char* begin() const noexcept { return begin_; }
  [[nodiscard]] std::string_view written() const noexcept {
    return {begin_, static_cast<std::size_t>(at_ - begin_)};
  }

 private:
  [[gnu::always_inline]] void put_tag(int field, unsigned type) noexcept {
    auto const tag = static_cast<unsigned>(field) << 3 | type;
    if (tag >= 0x80) *at_++ = static_cast<char>(tag | 0x80);
    *at_++ = static_cast<char>(tag < 0x80 ? tag : tag >> 7);
  }
  [[gnu::always_inline]] void put_varint(std::uint64_t value) noexcept {
    if (value < 0x80) {
      *at_++ = static_cast<char>(value);
    } else {
      at_ = write_varint(at_, value);
    }
  }
  // Static, so that a writer's members can stay in registers.
  static char* write_varint(char* at, std::uint64_t value) noexcept;

  char* begin_;
  char* at_;
};

[[gnu::noinline]] inline char* field_writer::write_varint(char* at, std::uint64_t value) noexcept {
  for (; value >= 0x80; value >>= 7) *at++ = static_cast<char>(value | 0x80);
  *at++ = static_cast<char>(value);
  return at;
}

// Counts their bytes.
class field_counter {
 public:
  [[gnu::always_inline]] void put_present_number(int field, std::uint64_t value) noexcept {
    put_tag(field);
    put_bare_number(value);
  }
  [[gnu::always_inline]] void put_bare_number(std::uint64_t value) noexcept {
    bytes_ += varint_bytes(value);
  }
  [[gnu::always_inline]] void put_fixed64(int field, std::uint64_t) noexcept {
    put_tag(field), bytes_ += 8;
  }
  [[gnu::always_inline]] void put_fixed32(int field, std::uint32_t) noexcept {
    put_tag(field), bytes_ += 4;
  }
  [[gnu::always_inline]] void put_head(int field, std::size_t content_bytes) noexcept {
    put_present_number(field, content_bytes);
  }
  [[gnu::always_inline]] void put(std::string_view content) noexcept { bytes_ += content.size(); }

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  [[gnu::always_inline]] void put_tag(int field) noexcept { bytes_ += field < 16 ? 1 : 2; }

  std::size_t bytes_{};
};

// To the end of a string, which grows by exactly so many bytes: as many fields at once as fit into
// a small array.
class field_appender {
 public:
  field_appender(std::string& to, std::size_t bytes) : to_{to} { to.reserve(to.size() + bytes); }
  field_appender(field_appender const&) = delete;
  field_appender& operator=(field_appender const&) = delete;

  void put_present_number(int field, std::uint64_t value) {
    put_number_by([&](field_writer& to) { to.put_present_number(field, value); });
  }
  void put_bare_number(std::uint64_t value) {
    put_number_by([&](field_writer& to) { to.put_bare_number(value); });
  }
  void put_fixed64(int field, std::uint64_t value) {
    put_number_by([&](field_writer& to) { to.put_fixed64(field, value); });
  }
  void put_fixed32(int field, std::uint32_t value) {
    put_number_by([&](field_writer& to) { to.put_fixed32(field, value); });
  }
  void put_head(int field, std::size_t content_bytes) {
    put_number_by([&](field_writer& to) { to.put_head(field, content_bytes); });
  }
  void put(std::string_view content) {
    if (content.size() > room()) {
      finish();
      if (content.size() > room()) {
        to_.append(content);
        return;
      }
    }
    at_ = std::copy(content.begin(), content.end(), at_);
  }

  // Must be the last call.
  void finish() {
    to_.append(first_.data(), static_cast<std::size_t>(at_ - first_.data()));
    at_ = first_.data();
  }

 private:
  template <class Write>
  void put_number_by(Write write) {
    if (room() < number_field_bytes_max) finish();
    field_writer to{at_};
    write(to);
    at_ += to.written().size();
  }
  [[nodiscard]] std::size_t room() const noexcept {
    return static_cast<std::size_t>(first_.data() + first_.size() - at_);
  }

  std::string& to_;
  std::array<char, 256> first_;
  char* at_ = first_.data();
};

}  // namespace coxswain::wire
