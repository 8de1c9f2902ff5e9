#pragma once
// The unsent messages of one stream, each with its prefix.
// Not here: when (session).

#include "coxswain/base/bytes.hpp"
#include "coxswain/http2/message_decoder.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace coxswain::http2 {

class outgoing {
 public:
  outgoing() = default;

  // A message of `text` followed by `value`, which is shared and not copied.
  outgoing(std::string text, bytes value, bool is_compressed);

  // Adds a message.
  void add(std::string_view message, bool is_compressed);

  // The number of unsent bytes.
  [[nodiscard]] std::size_t left() const noexcept {
    return prefix_bytes_ + text_.size() + value_.size() - sent_;
  }

  // The memory of its own, without shared values.
  [[nodiscard]] std::size_t own_bytes() const noexcept { return text_.size(); }

  // Appends the next `count` unsent bytes to `out`. There must be that many.
  void take(std::size_t count, std::string& out);

 private:
  std::array<char, message_prefix_bytes> prefix_{};
  std::size_t prefix_bytes_{};  // none, or all
  std::string text_;
  carried_bytes value_;
  std::size_t sent_{};
};

}  // namespace coxswain::http2
