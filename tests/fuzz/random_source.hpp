#pragma once
// The randomness of random worlds: a seed, or the bytes of a fuzzer. COXSWAIN_SEED repeats a run of
// the fuzz tests; COXSWAIN_FUZZ_ITERATIONS multiplies the number of iterations.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <string_view>

namespace coxswain::test {

// The seed of this run. The first call prints it, since a crash prints nothing.
[[nodiscard]] std::uint64_t seed();

// `iterations`, multiplied by COXSWAIN_FUZZ_ITERATIONS.
[[nodiscard]] std::uint64_t times(std::uint64_t iterations);

// Gives the same numbers on every platform, unlike the standard's distributions.
class random_source {
 public:
  explicit random_source(std::uint64_t seed) : engine_{std::in_place, seed} {}

  // Consumes these bytes, which must stay valid, and then gives only zeros.
  explicit random_source(std::string_view bytes) : bytes_{bytes} {}

  // Whether only zeros are left.
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
  // Consumes as many bytes as `last` needs.
  std::uint64_t spend(std::uint64_t last);

  std::optional<std::mt19937_64> engine_;
  std::string_view bytes_;
};

}  // namespace coxswain::test
