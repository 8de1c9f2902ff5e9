#pragma once
// Reads the fields of an encoded Protobuf message one after the other, each as a type known to the
// caller. It accepts what Protobuf does, except groups. Private to wire.

#include "coxswain/base/little_endian.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace coxswain::wire {

enum class wire_type : std::uint32_t { varint = 0, fixed64 = 1, content = 2, fixed32 = 5 };

// The tag and type of a field.
[[nodiscard]] constexpr std::uint32_t tag_of(int number, wire_type type) noexcept {
  return static_cast<std::uint32_t>(number) << 3 | static_cast<std::uint32_t>(type);
}

class field_reader {
 public:
  explicit field_reader(std::string_view message) noexcept
      : at_{message.data()}, end_{message.data() + message.size()} {}

  // The tag of the next field, whose content must be taken next; zero at the end or after a
  // failure.
  [[nodiscard, gnu::always_inline]] std::uint32_t next_tag() noexcept {
    if (at_ == end_) return 0;
    auto const tag = static_cast<std::uint32_t>(take_varint(tag_bytes_max));
    if (tag >> 3 == 0) fail();
    return failed_ ? 0 : tag;
  }

  [[nodiscard, gnu::always_inline]] std::uint64_t take_number() noexcept {
    return take_varint(number_bytes_max);
  }

  [[nodiscard]] std::uint32_t take_number32() noexcept {
    return static_cast<std::uint32_t>(take_number());
  }

  // A number of the type sint64.
  [[nodiscard]] std::int64_t take_signed() noexcept {
    auto const number = take_number();
    return static_cast<std::int64_t>(number >> 1 ^ (~(number & 1) + 1));
  }

  [[nodiscard]] bool take_flag() noexcept { return take_number() != 0; }

  [[nodiscard]] std::uint64_t take_fixed64() noexcept {
    if (static_cast<std::size_t>(end_ - at_) < number_bytes) return fail();
    auto const number = from_little_endian<std::uint64_t>({at_, number_bytes});
    at_ += number_bytes;
    return number;
  }

  [[nodiscard]] std::uint32_t take_fixed32() noexcept {
    if (static_cast<std::size_t>(end_ - at_) < sizeof(std::uint32_t)) {
      fail();
      return 0;
    }
    std::uint32_t number = 0;
    for (int shift = 0; shift < 32; shift += 8) {
      number |= std::uint32_t{static_cast<unsigned char>(*at_++)} << shift;
    }
    return number;
  }

  // Of a string, a message or a list. Valid as long as the message that is read.
  [[nodiscard, gnu::always_inline]] std::string_view take_content() noexcept {
    auto const size = take_varint(length_bytes_max);
    if (size > static_cast<std::uint64_t>(end_ - at_)) fail();
    if (failed_) return {};
    std::string_view const content{at_, static_cast<std::size_t>(size)};
    at_ += size;
    return content;
  }

  // The content of a field of any type; empty for a number.
  [[nodiscard]] std::string_view take_any(std::uint32_t tag) noexcept {
    switch (static_cast<wire_type>(tag & 7)) {
      case wire_type::content: return take_content();
      case wire_type::varint: static_cast<void>(take_number()); break;
      case wire_type::fixed64: static_cast<void>(take_fixed64()); break;
      case wire_type::fixed32: static_cast<void>(take_fixed32()); break;
      default: fail();
    }
    return {};
  }

  // The first byte that was not taken.
  [[nodiscard]] char const* position() const noexcept { return at_; }

  // Marks the input as invalid. Returns zero.
  std::uint64_t fail() noexcept {
    failed_ = true;
    at_ = end_;
    return 0;
  }

  // At the end, or after a failure.
  [[nodiscard]] bool is_empty() const noexcept { return at_ == end_; }

  // Everything taken so far is valid: at the end, the whole message.
  [[nodiscard]] bool succeeded() const noexcept { return !failed_; }

 private:
  static constexpr int tag_bytes_max = 5;
  static constexpr int length_bytes_max = 5;
  static constexpr int number_bytes_max = 10;

  [[gnu::always_inline]] std::uint64_t take_varint(int bytes_max) noexcept {
    if (at_ == end_) return fail();
    if (auto const first = static_cast<unsigned char>(*at_); first < 0x80) {  // as most are
      ++at_;
      return first;
    }
    auto const [value, end] = read_varint(at_, end_, bytes_max);
    if (end == nullptr) return fail();
    at_ = end;
    return value;
  }

  struct varint {
    std::uint64_t value;
    char const* end;  // null: it is malformed
  };
  // Static, so that a reader's members can stay in registers.
  [[nodiscard]] static varint read_varint(char const* at, char const* end, int bytes_max) noexcept;

  char const* at_;
  char const* end_;
  bool failed_{};
};

[[gnu::noinline]] inline field_reader::varint field_reader::read_varint(char const* at,
                                                                        char const* end,
                                                                        int bytes_max) noexcept {
  constexpr std::uint64_t last_marks = 0x8080'8080'8080'8080;
  if (static_cast<std::size_t>(end - at) >= number_bytes) {
    auto value = from_little_endian<std::uint64_t>({at, number_bytes});
    if (auto const last = ~value & last_marks; last != 0) {
      auto const bytes = std::countr_zero(last) / 8 + 1;
      if (bytes > bytes_max) return {0, nullptr};
      value &= (last ^ (last - 1)) & ~last_marks;
      value = (value & 0x007f'007f'007f'007f) | (value & 0x7f00'7f00'7f00'7f00) >> 1;
      value = (value & 0x0000'3fff'0000'3fff) | (value & 0x3fff'0000'3fff'0000) >> 2;
      value = (value & 0x0000'0000'0fff'ffff) | (value & 0x0fff'ffff'0000'0000) >> 4;
      return {value, at + bytes};
    }
  }
  std::uint64_t value = 0;
  for (int shift = 0; shift < 7 * bytes_max && at != end; shift += 7) {
    auto const byte = static_cast<unsigned char>(*at++);
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return {value, at};
  }
  return {0, nullptr};
}

}  // namespace coxswain::wire
