#pragma once
// Messages that are to be sent on one stream, each with its prefix, and how much of them was sent.
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

  // A message that consists of `text` and, behind it, `value`, which is referred to and not copied.
  outgoing(std::string text, bytes value, bool is_compressed);

  // One more message, behind the others.
  void add(std::string_view message, bool is_compressed);

  // What is left to be sent.
  [[nodiscard]] std::size_t left() const noexcept {
    return prefix_bytes_ + text_.size() + value_.size() - sent_;
  }

  // How much of it is memory of its own.
  [[nodiscard]] std::size_t own_bytes() const noexcept { return text_.size(); }

  // Appends the next `count` bytes, of which so many are left, to `out`.
  void take(std::size_t count, std::string& out);

 private:
  std::array<char, message_prefix_bytes> prefix_{};
  std::size_t prefix_bytes_{};  // none, or all
  std::string text_;
  carried_bytes value_;
  std::size_t sent_{};
};

}  // namespace coxswain::http2
