#pragma once
// Where the fuzz tests take their chance from. COXSWAIN_SEED repeats a run, and
// COXSWAIN_FUZZ_ITERATIONS is a factor: how many times as long.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>

namespace coxswain::test {

// The seed of this run, which is printed when it is asked for first, since a crash prints nothing.
[[nodiscard]] std::uint64_t seed();

// So many iterations, or as many times more as the environment asks for.
[[nodiscard]] std::uint64_t times(std::uint64_t iterations);

// The same numbers on every platform, unlike the standard's distributions.
class dice {
 public:
  explicit dice(std::uint64_t from) : engine_{from} {}

  // From zero to `last`.
  std::uint64_t upto(std::uint64_t last) { return engine_() % (last + 1); }

  bool one_in(std::uint64_t n) { return upto(n - 1) == 0; }

  // Small numbers often, large ones sometimes.
  std::uint64_t size(std::uint64_t last) { return upto(upto(upto(last))); }

  template <class Range>
  auto one_of(Range const& range) {
    return *std::next(std::begin(range), static_cast<std::ptrdiff_t>(upto(std::size(range) - 1)));
  }

  std::string bytes(std::size_t size);

 private:
  std::mt19937_64 engine_;
};

}  // namespace coxswain::test
