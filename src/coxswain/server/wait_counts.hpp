#pragma once
// How many loop iterations messages have waited, in a fixed set of buckets.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace coxswain::server {

class wait_counts {
 public:
  // The upper bounds of the buckets, inclusive; one more bucket holds longer waits.
  static constexpr std::array<std::uint64_t, 9> bounds{1, 2, 4, 8, 16, 32, 64, 256, 1024};

  void record(std::uint64_t iterations) noexcept {
    auto const at = std::lower_bound(bounds.begin(), bounds.end(), iterations);
    ++counts_[static_cast<std::size_t>(at - bounds.begin())];
    sum_ += iterations;
  }

  // The count of each bucket, not cumulative.
  [[nodiscard]] std::array<std::uint64_t, bounds.size() + 1> const& counts() const noexcept {
    return counts_;
  }
  [[nodiscard]] std::uint64_t sum() const noexcept { return sum_; }

 private:
  std::array<std::uint64_t, bounds.size() + 1> counts_{};
  std::uint64_t sum_{};
};

}  // namespace coxswain::server
