#pragma once
// How many of many times were how long, in little memory: log-linear, 1,024 steps for each
// doubling, so that what it says of a time is at most 0.05 % off. The longest is kept exactly.
// Pure: no clock, no I/O.

#include "statistics.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::bench {

class histogram {
 public:
  // Negative times count as zero.
  void add(std::int64_t ns, std::uint64_t times = 1);
  void add(histogram const& other);

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

  // The nearest rank, as bench::percentile; zero if there is nothing.
  [[nodiscard]] double percentile(double share) const;
  [[nodiscard]] summary summarise() const;

  // The times that occurred, rising, and how often each did.
  struct bar {
    double ns{};
    std::uint64_t times{};
  };
  [[nodiscard]] std::vector<bar> bars() const;

  // For another process of the same program.
  void append_to(std::string& out) const;
  // Takes it off the front of `from`.
  [[nodiscard]] static histogram take_from(std::string_view& from);

 private:
  std::vector<std::uint64_t> counts_;  // by step; steps beyond the end are empty
  std::uint64_t count_{};
  std::int64_t max_{};
};

}  // namespace coxswain::bench
