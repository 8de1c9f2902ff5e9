#pragma once
// Finds the messages in the body of a gRPC call: a byte for compression, four bytes of length,
// big-endian, and the message. Its memory grows with the bytes received, never with the
// announced length, unless the caller allows it. Not here: flow control (server_session).

#include "coxswain/base/status.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace coxswain::http2 {

inline constexpr std::size_t message_prefix_bytes = 5;

// The values of grpc-encoding.
enum class encoding : std::uint8_t { none, gzip, unknown };

[[nodiscard]] encoding encoding_of(std::string_view name) noexcept;

class message_decoder {
 public:
  // Messages may have up to `bytes_max` bytes, also after decompression.
  explicit message_decoder(std::size_t bytes_max) noexcept : bytes_max_{bytes_max} {}

  // Takes the beginning of `input`, up to the end of a message. RESOURCE_EXHAUSTED: the message is
  // too long. INTERNAL: its first byte is neither 0 nor 1. Not to be called after an error.
  [[nodiscard]] status feed(std::string_view& input);

  // A message is complete: call `take`.
  [[nodiscard]] bool is_whole() const noexcept {
    return prefix_bytes_ == message_prefix_bytes && content_.size() == length_;
  }

  // No part of a message has been received since the last one.
  [[nodiscard]] bool is_between_messages() const noexcept { return prefix_bytes_ == 0; }

  // The announced length of the message that is arriving; zero until it is known.
  [[nodiscard]] std::size_t length() const noexcept { return length_; }

  // How many of its bytes were received.
  [[nodiscard]] std::size_t buffered_bytes() const noexcept { return content_.size(); }

  // Reserves memory for the announced length. Throws std::bad_alloc.
  void reserve() { content_.reserve(length_); }

  // Of a complete message: it is compressed, and must be decompressed by its taker.
  [[nodiscard]] bool is_compressed() const noexcept { return prefix_[0] != 0; }
  // Whether it can be. INTERNAL, UNIMPLEMENTED: as `take`.
  [[nodiscard]] status check(encoding by) const;
  // The complete message as it was received.
  [[nodiscard]] std::string take_received();

  // The complete message. RESOURCE_EXHAUSTED: it decompresses to more than `bytes_max`.
  // UNIMPLEMENTED: its encoding is unknown. INTERNAL: it is compressed although the encoding is
  // `none`, or is damaged.
  [[nodiscard]] result<std::string> take(encoding by);

 private:
  std::size_t bytes_max_;
  std::size_t length_{};
  std::string content_;
  std::array<char, message_prefix_bytes> prefix_{};
  std::uint8_t prefix_bytes_{};
};

}  // namespace coxswain::http2
