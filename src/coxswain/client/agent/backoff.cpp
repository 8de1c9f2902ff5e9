#include "coxswain/client/agent/backoff.hpp"

#include <algorithm>

namespace coxswain::detail {

duration backoff::next() noexcept {
  if (tries_++ == 0) return duration::zero();
  duration bound = std::min(first_, cap_);
  for (std::uint32_t doubled = 1; doubled + 1 < tries_ && bound < cap_; ++doubled) {
    bound = bound > cap_ / 2 ? cap_ : bound * 2;
  }
  if (bound <= duration::zero()) return duration::zero();
  return duration{
      static_cast<duration::rep>(random_.up_to(static_cast<std::uint64_t>(bound.count())))};
}

}  // namespace coxswain::detail
