#pragma once
// Random numbers of a seed, the same ones for the same seed: SplitMix64 (Steele, Lea, Flood 2014).
// Any seed will do, zero too. Not for secrets.

#include <cstdint>

namespace coxswain::detail {

class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) noexcept : state_{seed} {}

  [[nodiscard]] std::uint64_t next() noexcept {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }

  // Uniform from 0 to `most`.
  [[nodiscard]] std::uint64_t up_to(std::uint64_t most) noexcept { return next() % (most + 1); }

 private:
  std::uint64_t state_;
};

}  // namespace coxswain::detail
