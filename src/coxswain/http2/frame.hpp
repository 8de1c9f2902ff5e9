#pragma once
// Frames of HTTP/2 (RFC 9113, section 4), found in received bytes and written.
// Not here: what they mean (server_connection).

#include "coxswain/http2/stream_id.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace coxswain::http2 {

enum class frame_kind : std::uint8_t {
  data = 0,
  headers = 1,
  priority = 2,
  reset = 3,
  settings = 4,
  push_promise = 5,
  ping = 6,
  go_away = 7,
  window_update = 8,
  continuation = 9,
};

namespace frame_flag {
inline constexpr std::uint8_t end_stream = 0x1;
inline constexpr std::uint8_t acknowledgement = 0x1;
inline constexpr std::uint8_t end_headers = 0x4;
inline constexpr std::uint8_t padded = 0x8;
inline constexpr std::uint8_t priority = 0x20;
}  // namespace frame_flag

inline constexpr std::size_t frame_head_bytes = 9;

// Of a payload, unless the other side has allowed more.
inline constexpr std::size_t frame_bytes_max = 16'384;

struct received_frame {
  std::size_t length{};  // of the payload
  frame_kind kind{};
  std::uint8_t flags{};
  stream_id stream{};
  std::string_view payload;  // empty if it is too long

  [[nodiscard]] bool has(std::uint8_t flag) const noexcept { return (flags & flag) != 0; }
  [[nodiscard]] bool is_too_long() const noexcept { return length > frame_bytes_max; }
};

// Finds frames in bytes that come in pieces of any size.
class frame_splitter {
 public:
  // Takes the next frame from the beginning of `input`. Nothing: all of it was taken, and more is
  // needed. The payload is valid until `release`, which must come before the next call. One that is
  // too long is returned as soon as its length is known; nothing can be found behind it.
  [[nodiscard]] std::optional<received_frame> next(std::string_view& input);

  // The frame that was found is no longer used.
  void release() noexcept {
    if (is_whole_) std::string{}.swap(partial_);  // which gives back its memory
    is_whole_ = false;
  }

  // The memory of a frame that has not arrived completely.
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return partial_.capacity(); }

 private:
  std::string partial_;
  bool is_whole_{};  // so it was returned
};

// Appends the head of a frame, whose payload has to follow.
void append_frame_head(std::string& out, std::size_t length, frame_kind kind, std::uint8_t flags,
                       stream_id stream);

// Corrects the length of the last frame, whose head was appended at `head`.
void fit_frame_head(std::string& out, std::size_t head) noexcept;

// Big-endian.
void append_u16(std::string& out, std::uint16_t value);
void append_u32(std::string& out, std::uint32_t value);
[[nodiscard]] std::uint16_t read_u16(std::string_view two) noexcept;
[[nodiscard]] std::uint32_t read_u32(std::string_view four) noexcept;

}  // namespace coxswain::http2
