#pragma once
// Where random worlds take their chance from: a seed, or the bytes of a fuzzer. COXSWAIN_SEED
// repeats a run of the fuzz tests, and
// COXSWAIN_FUZZ_ITERATIONS is a factor: how many times as long.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <string_view>

namespace coxswain::test {

// The seed of this run, which is printed when it is asked for first, since a crash prints nothing.
[[nodiscard]] std::uint64_t seed();

// So many iterations, or as many times more as the environment asks for.
[[nodiscard]] std::uint64_t times(std::uint64_t iterations);

// The same numbers on every platform, unlike the standard's distributions.
class dice {
 public:
  explicit dice(std::uint64_t seed) : engine_{std::in_place, seed} {}

  // Spends these bytes, which must stay valid, and then rolls zeros only.
  explicit dice(std::string_view bytes) : bytes_{bytes} {}

  // Whether nothing but zeros will come.
  [[nodiscard]] bool is_spent() const { return !engine_ && bytes_.empty(); }

  // From zero to `last`.
  std::uint64_t upto(std::uint64_t last) {
    return (engine_ ? (*engine_)() : spend(last)) % (last + 1);
  }

  bool one_in(std::uint64_t n) { return upto(n - 1) == 0; }

  // Small numbers often, large ones sometimes.
  std::uint64_t size(std::uint64_t last) { return upto(upto(upto(last))); }

  template <class Range>
  auto one_of(Range const& range) {
    return *std::next(std::begin(range), static_cast<std::ptrdiff_t>(upto(std::size(range) - 1)));
  }

  std::string bytes(std::size_t size);

 private:
  // As many bytes as it takes to reach `last`.
  std::uint64_t spend(std::uint64_t last);

  std::optional<std::mt19937_64> engine_;
  std::string_view bytes_;
};

}  // namespace coxswain::test
