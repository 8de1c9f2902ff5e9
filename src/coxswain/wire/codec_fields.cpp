#include "coxswain/wire/codec_fields.hpp"

#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/field_walk.hpp"
#include "coxswain/wire/field_writer.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>

namespace coxswain::wire {
namespace {

// Enough for a barrier, its reply and most others.
struct thread_memory {
  alignas(std::max_align_t) std::array<char, 4096> block;
  google::protobuf::Arena arena{block.data(), block.size()};
};

google::protobuf::Arena& thread_arena() {
  thread_local thread_memory memory;
  return memory.arena;
}

// How many bytes the character at the beginning of `from` has; zero if it is not well formed
// (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF).
std::size_t character_bytes(std::string_view from) noexcept {
  auto const byte = [from](std::size_t i) { return static_cast<unsigned char>(from[i]); };
  auto const first = byte(0);
  if (first < 0x80) return 1;
  std::size_t const count = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (count == 0 || first > 0xf4 || from.size() < count) return 0;
  for (std::size_t i = 1; i < count; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  bool const overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  bool const surrogate = first == 0xed && byte(1) >= 0xa0;
  bool const too_high = first == 0xf4 && byte(1) >= 0x90;
  return overlong || surrogate || too_high ? 0 : count;
}

template <class Unit>
std::uint64_t to_units(duration time) {
  if (time == without_limit) return std::numeric_limits<std::uint64_t>::max();
  auto const count = std::chrono::floor<Unit>(time).count();
  return count < 0 ? 0 : static_cast<std::uint64_t>(count);
}

template <class Unit>
duration from_units(std::uint64_t count) {
  constexpr auto count_max = std::chrono::floor<Unit>(duration::max()).count();
  if (count > static_cast<std::uint64_t>(count_max)) return without_limit;
  return Unit{static_cast<typename Unit::rep>(count)};
}

}  // namespace

scratch::scratch() : arena_{thread_arena()} {}
scratch::~scratch() { arena_.Reset(); }

bool lengths_are_true(std::string_view message) noexcept {
  while (!message.empty()) {
    if (!take_field(message)) return false;
  }
  return true;
}

bool parse(std::string_view payload, google::protobuf::MessageLite& message) {
  return payload.size() <= message_bytes_max && lengths_are_true(payload) &&
         message.ParseFromArray(payload.data(), static_cast<int>(payload.size()));
}

void append_message(std::string& out, google::protobuf::MessageLite const& message) {
  auto const size = message.ByteSizeLong();
  assert(size <= message_bytes_max);
  auto const begin = out.size();
  out.resize(begin + size);
  message.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(out.data() + begin));
}

void append_field_head(std::string& out, int field, std::size_t content_bytes) {
  std::array<char, number_field_bytes_max> room;
  field_writer to{room.data()};
  to.put_head(field, content_bytes);
  out += to.written();
}

std::string text(std::string_view from) {
  std::string to{from};
  for (std::size_t at = 0; at < from.size();) {
    auto const count = character_bytes(from.substr(at));
    if (count == 0) to[at] = '?';
    at += std::max<std::size_t>(count, 1);
  }
  return to;
}

std::int64_t timeout_to_wire(duration timeout) {
  if (timeout == without_limit) return -1;
  return std::max<std::int64_t>(0, std::chrono::ceil<std::chrono::milliseconds>(timeout).count());
}

duration timeout_from_wire(std::int64_t milliseconds) {
  if (milliseconds < 0) return without_limit;
  return from_milliseconds(static_cast<std::uint64_t>(milliseconds));
}

std::uint64_t to_milliseconds(duration time) { return to_units<std::chrono::milliseconds>(time); }

duration from_milliseconds(std::uint64_t count) {
  return from_units<std::chrono::milliseconds>(count);
}

std::uint64_t to_microseconds(duration time) { return to_units<std::chrono::microseconds>(time); }

duration from_microseconds(std::uint64_t count) {
  return from_units<std::chrono::microseconds>(count);
}

std::optional<core::session_secret> secret_of(std::string_view from) {
  core::session_secret secret{};
  if (from.size() != secret.size()) return std::nullopt;
  std::copy(from.begin(), from.end(), secret.begin());
  return secret;
}

std::string to_wire(core::session_secret const& secret) { return {secret.begin(), secret.end()}; }

status wrong_secret_size(std::string_view message, std::size_t bytes) {
  return {errc::invalid_argument, std::string{message} + " with a secret of " +
                                      std::to_string(bytes) + " bytes; it must have " +
                                      std::to_string(core::session_secret{}.size()) + "."};
}

}  // namespace coxswain::wire
