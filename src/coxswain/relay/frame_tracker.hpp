#pragma once
// Where frames begin in bytes that are cut anywhere. Not here: their content.

#include "coxswain/wire/codec.hpp"
#include "coxswain/wire/frame.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace coxswain::relay {

class frame_tracker {
 public:
  void pass(std::string_view bytes) noexcept {
    while (!bytes.empty() && !is_opaque_) {
      if (left_ == 0) {
        length_ = length_ << 8 | static_cast<unsigned char>(bytes.front());
        bytes.remove_prefix(1);
        if (++length_bytes_ < wire::length_bytes) continue;
        left_ = length_;
        is_opaque_ = left_ > wire::message_bytes_max;  // as in HTTP
        length_ = 0;
        length_bytes_ = 0;
      } else {
        auto const some = std::min<std::size_t>(left_, bytes.size());
        left_ -= static_cast<std::uint32_t>(some);
        bytes.remove_prefix(some);
      }
    }
  }

  // The next byte begins a frame.
  [[nodiscard]] bool is_between_frames() const noexcept {
    return left_ == 0 && length_bytes_ == 0 && !is_opaque_;
  }

 private:
  std::uint32_t left_{};    // of the frame
  std::uint32_t length_{};  // its first bytes
  std::uint8_t length_bytes_{};
  bool is_opaque_{};  // these are no frames
};

}  // namespace coxswain::relay
