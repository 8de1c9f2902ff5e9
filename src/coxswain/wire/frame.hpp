#pragma once
// Frames: four bytes, big-endian, that give a payload's length, then the payload. An incremental
// decoder for one direction of one connection. Not here: what a payload means (wire/codec), and
// reading and writing (net).

#include "coxswain/base/bytes.hpp"
#include "coxswain/base/status.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain::wire {

inline constexpr std::size_t length_bytes = 4;

// The length prefix of a payload, which must be below 4 GiB.
[[nodiscard]] std::array<char, length_bytes> length_prefix(std::size_t payload_bytes) noexcept;
void append_length(std::string& out, std::size_t payload_bytes);

// Finds the frames in a stream of bytes. A frame that is complete in the input is returned in
// place; an incomplete one is copied into a buffer, which is freed after the frame. It grows with
// the bytes received, never with the announced length, unless the caller allows it. Between frames
// the decoder holds no heap memory.
class frame_decoder {
 public:
  // Payloads may have up to `frame_bytes_max` bytes. A payload longer than `unasked_max` that is
  // not complete in the input waits for `allow`. `meter` counts the decoder's memory as in transit.
  explicit frame_decoder(std::size_t frame_bytes_max, std::size_t unasked_max = SIZE_MAX,
                         memory_meter* meter = nullptr) noexcept
      : limit_{frame_bytes_max}, unasked_max_{unasked_max}, counted_{meter} {}

  // Replaces the limit, beginning with the next frame that next() looks for.
  void limit(std::size_t frame_bytes_max) noexcept {
    if (!failed_) limit_ = frame_bytes_max;
  }

  // The length of the payload that waits for `allow`; else zero.
  [[nodiscard]] std::size_t asks_for() const noexcept { return asks_ ? length_ : 0; }

  // Reserves memory for that payload. False if there is none.
  [[nodiscard]] bool allow() noexcept;

  // Adds received bytes, which must stay valid until next() has returned none or an error, or
  // keep() was called, or the decoder is no longer used. All earlier input must have been taken.
  void feed(std::string_view input) noexcept;

  // Copies input that was not taken, so that it can be taken later. Invalidates the last payload.
  void keep();

  // The payload of the next complete frame, valid until the following next() or feed(); none if
  // more input is needed. INVALID_ARGUMENT: a frame announces more bytes than the limit allows;
  // every later call returns the same.
  [[nodiscard]] result<std::optional<std::string_view>> next();

  // next() has failed because the peer speaks HTTP.
  [[nodiscard]] bool meets_http() const noexcept;

  // next() has failed because the peer speaks HTTP/2; and the input after the first four bytes of
  // that, which is then no longer fed.
  [[nodiscard]] bool meets_http2() const noexcept;
  // Likewise with `first`, the first four bytes of another protocol.
  [[nodiscard]] bool meets(std::string_view first) const noexcept;
  [[nodiscard]] std::string_view take_rest() noexcept { return std::exchange(input_, {}); }

  // Whether there is input that was not taken: a part of a frame, or more.
  [[nodiscard]] bool has_input() const noexcept { return !input_.empty(); }

  // A payload longer than `unasked_max` is arriving, or was the last one.
  [[nodiscard]] bool is_large() const noexcept { return partial_.capacity() > unasked_max_; }

  // How many bytes of heap memory the decoder holds.
  [[nodiscard]] std::size_t buffer_bytes() const noexcept {
    return partial_.capacity() + kept_.capacity();
  }

 private:
  void forget_payload() noexcept {
    if (lent_) free_payload();
  }
  void forget_kept() noexcept {
    if (!kept_.empty()) free_kept();
  }
  void free_payload() noexcept;
  void free_kept() noexcept;
  void count() noexcept { counted_.count(buffer_bytes()); }
  bool take_prefix() noexcept;
  result<std::optional<std::string_view>> take_payload();
  std::string_view take(std::size_t bytes_max) noexcept;
  void store(std::string_view more);

  std::size_t limit_;
  std::size_t unasked_max_;
  transit_bytes counted_;
  std::string_view input_;     // fed and not yet taken
  std::vector<char> partial_;  // the beginning of a payload that no single input holds
  std::vector<char> kept_;     // holds `input_` if it is not empty
  std::size_t length_{};       // of the payload being read; known once the prefix is complete
  std::array<char, length_bytes> prefix_{};
  std::uint8_t prefix_bytes_{};  // how much of `prefix_` has arrived
  bool asks_{};                  // the payload being read waits for `allow`
  bool lent_{};                  // `partial_` is a complete payload in use by the caller
  bool failed_{};
};

}  // namespace coxswain::wire
