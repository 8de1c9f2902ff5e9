#pragma once
// Time as an argument. Nothing here reads a clock: the callers do, once per loop iteration.

#include <chrono>

namespace coxswain {

using namespace std::chrono_literals;

using duration = std::chrono::nanoseconds;

// A moment on the monotonic clock of the process.
using time_point = std::chrono::time_point<std::chrono::steady_clock, duration>;

// A timeout that never comes.
inline constexpr duration without_limit = duration::max();

// A duration in any unit and of any length. One too long for `duration` becomes `without_limit`, so
// hours::max() is a timeout that never comes; negative ones and NaN count as zero.
class time_limit : public duration {
 public:
  constexpr time_limit() noexcept : duration{0} {}

  template <class Rep, class Period>
  constexpr time_limit(std::chrono::duration<Rep, Period> given) noexcept : duration{0} {
    using exact = std::chrono::duration<long double, duration::period>;
    auto const count = std::chrono::duration_cast<exact>(given).count();
    if (count >= static_cast<long double>(without_limit.count())) {
      duration::operator=(without_limit);
    } else if (count > 0) {
      duration::operator=(duration{static_cast<duration::rep>(count)});
    }
  }
};

// `now + timeout`, or the end of time where that would overflow.
[[nodiscard]] constexpr time_point deadline_after(time_point now, duration timeout) noexcept {
  return timeout >= time_point::max() - now ? time_point::max() : now + timeout;
}

}  // namespace coxswain
