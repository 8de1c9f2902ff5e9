#pragma once
// Time as an argument. Nothing here reads a clock: the shells do, once per turn.

#include <chrono>

namespace coxswain {

using namespace std::chrono_literals;

using duration = std::chrono::nanoseconds;

// A moment on the monotonic clock of the process.
using time_point = std::chrono::time_point<std::chrono::steady_clock, duration>;

// A timeout that never comes.
inline constexpr duration without_limit = duration::max();

// `now + timeout`, or the end of time where that would overflow.
[[nodiscard]] constexpr time_point deadline_after(time_point now, duration timeout) noexcept {
  return timeout >= time_point::max() - now ? time_point::max() : now + timeout;
}

}  // namespace coxswain
