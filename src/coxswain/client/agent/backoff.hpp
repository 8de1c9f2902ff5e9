#pragma once
// How long to wait before the next try: nothing before the first, then exponential with full
// jitter (uniformly random between zero and the bound, so that a thousand clients of a lost
// coordinator do not reconnect at the same time), capped. Pure: the seed is an argument. Not here:
// timers, and the attempts.

#include "coxswain/base/time.hpp"
#include "coxswain/client/agent/random_numbers.hpp"

#include <cstdint>

namespace coxswain::detail {

class backoff {
 public:
  // Bounds: `first`, twice that, and so on, up to `cap`.
  backoff(std::uint64_t seed, duration first, duration cap) noexcept
      : random_{seed}, first_{first}, cap_{cap} {}

  // How long to wait before the next try.
  [[nodiscard]] duration next() noexcept;

  // Starts over: the next try counts as the first.
  void reset() noexcept { tries_ = 0; }

  void cap(duration longest) noexcept { cap_ = longest; }
  [[nodiscard]] duration cap() const noexcept { return cap_; }

 private:
  random_numbers random_;
  duration first_;
  duration cap_;
  std::uint32_t tries_{};
};

}  // namespace coxswain::detail
