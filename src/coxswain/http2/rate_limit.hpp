#pragma once
// A token bucket: a burst, and a rate per second.

#include "coxswain/base/time.hpp"

#include <algorithm>
#include <cstdint>

namespace coxswain::http2 {

class rate_limit {
 public:
  rate_limit(std::uint32_t burst, std::uint32_t per_second) noexcept
      : interval_{duration{1s} / per_second}, span_{interval_ * burst} {}

  // Takes a token. False if there is none.
  [[nodiscard]] bool allows(time_point now) noexcept {
    paid_until_ = std::max(paid_until_, now - span_) + interval_;
    return paid_until_ <= now;
  }

 private:
  duration interval_;
  duration span_;
  time_point paid_until_{time_point::min()};
};

}  // namespace coxswain::http2
