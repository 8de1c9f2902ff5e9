#pragma once
// A short text without memory of its own, cut to what fits: for what is noted often and read
// seldom.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace coxswain {

// Of at most `Size` bytes. Cut between the characters of UTF-8.
template <std::uint8_t Size>
class brief_text {
 public:
  brief_text() = default;

  brief_text& operator=(std::string_view text) noexcept {
    std::size_t end = std::min<std::size_t>(text.size(), Size);
    is_cut_ = end < text.size();
    while (is_cut_ && end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    if (end > 0) std::memcpy(bytes_.data(), text.data(), end);
    size_ = static_cast<std::uint8_t>(end);
    return *this;
  }

  [[nodiscard]] std::string_view view() const noexcept { return {bytes_.data(), size_}; }
  [[nodiscard]] bool is_cut() const noexcept { return is_cut_; }

  // What was saved: `text` fits.
  void restore(std::string_view text, bool was_cut) noexcept {
    *this = text;
    is_cut_ = is_cut_ || was_cut;
  }

 private:
  std::array<char, Size> bytes_{};
  std::uint8_t size_{};
  bool is_cut_{};
};

}  // namespace coxswain
