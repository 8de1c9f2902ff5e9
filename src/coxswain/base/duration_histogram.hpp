#pragma once
// A histogram of durations with fixed buckets, and their sum, for monitoring. Not here: percentiles
// of the latest durations (core/lateness).

#include "coxswain/base/time.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace coxswain {

class duration_histogram {
 public:
  // The inclusive upper bounds of the buckets; one more bucket holds longer durations.
  static constexpr std::array<duration, 22> bounds{
      10us, 25us,  50us,  100us, 250us, 500us,  1ms, 2500us, 5ms, 10ms, 25ms,
      50ms, 100ms, 250ms, 500ms, 1s,    2500ms, 5s,  10s,    30s, 60s,  300s};

  void record(duration d) noexcept {
    auto const at = std::lower_bound(bounds.begin(), bounds.end(), d);
    ++counts_[static_cast<std::size_t>(at - bounds.begin())];
    ++count_;
    sum_ += d;
  }

  // The count of each bucket, not cumulative.
  [[nodiscard]] std::array<std::uint64_t, bounds.size() + 1> const& counts() const noexcept {
    return counts_;
  }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] duration sum() const noexcept { return sum_; }

  // For snapshots of the core.
  static void fields(auto& a, auto& s) { a.members(s.counts_, s.count_, s.sum_); }

  friend bool operator==(duration_histogram const&, duration_histogram const&) = default;

 private:
  std::array<std::uint64_t, bounds.size() + 1> counts_{};
  std::uint64_t count_{};
  duration sum_{};
};

}  // namespace coxswain
