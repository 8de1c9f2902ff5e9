#pragma once
// Walks over the fields of an encoded Protobuf message, without knowing its schema. Private to wire
// and xla.

#include <cstdint>
#include <optional>
#include <string_view>

namespace coxswain::wire {

// Takes a varint from the beginning of `from`; none if it is incomplete.
[[nodiscard]] inline std::optional<std::uint64_t> take_varint(std::string_view& from) noexcept {
  if (!from.empty() && static_cast<unsigned char>(from.front()) < 0x80) {  // as most are
    auto const value = static_cast<unsigned char>(from.front());
    from.remove_prefix(1);
    return value;
  }
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < from.size() && i < 10; ++i) {
    auto const byte = static_cast<unsigned char>(from[i]);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << 7 * i;
    if (byte < 0x80) {
      from.remove_prefix(i + 1);
      return value;
    }
  }
  return std::nullopt;
}

struct field {
  std::uint64_t number{};
  std::string_view content;  // of a string, a message, a list or a fixed number; else empty
  std::uint64_t value{};     // of a number of variable size
};

// Takes a field from the beginning of `from`; none if it is incomplete, as at the end. Groups,
// which our protocol does not use, are left to Protobuf: here their tags are fields without
// content.
[[nodiscard]] inline std::optional<field> take_field(std::string_view& from) noexcept {
  auto const tag = take_varint(from);
  if (!tag) return std::nullopt;
  std::uint64_t size = 0;
  std::uint64_t value = 0;
  switch (*tag & 7) {
    case 0: {
      auto const taken = take_varint(from);
      if (!taken) return std::nullopt;
      value = *taken;
      break;
    }
    case 1: size = 8; break;
    case 2: {
      auto const length = take_varint(from);
      if (!length) return std::nullopt;
      size = *length;
      break;
    }
    case 5: size = 4; break;
    default: break;
  }
  if (size > from.size()) return std::nullopt;
  field const taken{*tag >> 3, from.substr(0, size), value};
  from.remove_prefix(size);
  return taken;
}

}  // namespace coxswain::wire
