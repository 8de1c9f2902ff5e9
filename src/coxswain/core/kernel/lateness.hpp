#pragma once
// How late timeouts were answered: the last 4,096 of them.

#include "coxswain/base/time.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace coxswain::core {

class lateness {
 public:
  void record(duration late) {
    last_[static_cast<std::size_t>(answered_ % last_.size())] = late;
    ++answered_;
    max_ = std::max(max_, late);
  }

  [[nodiscard]] std::uint64_t answered() const noexcept { return answered_; }
  [[nodiscard]] duration max() const noexcept { return max_; }

  // Of the last 4,096; zero if there were none.
  [[nodiscard]] duration p99() const {
    std::vector<duration> sorted{
        last_.begin(), last_.begin() + static_cast<std::ptrdiff_t>(
                                           std::min<std::uint64_t>(answered_, last_.size()))};
    if (sorted.empty()) return {};
    std::size_t const index = (sorted.size() * 99 + 99) / 100 - 1;
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(index),
                     sorted.end());
    return sorted[index];
  }

  static void fields(auto& a, auto& s);

 private:
  std::array<duration, 4096> last_{};
  std::uint64_t answered_{};
  duration max_{};
};

}  // namespace coxswain::core
