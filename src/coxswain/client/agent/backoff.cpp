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
      static_cast<duration::rep>(draw() % (static_cast<std::uint64_t>(bound.count()) + 1))};
}

// SplitMix64 (Steele, Lea, Flood 2014): any seed will do, zero too.
std::uint64_t backoff::draw() noexcept {
  std::uint64_t z = random_ += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

}  // namespace coxswain::detail
