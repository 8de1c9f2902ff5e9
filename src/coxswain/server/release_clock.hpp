#pragma once
// Measures how long the release of a barrier's round takes: from the first round that ends in a
// loop iteration until all output of that iteration was handed to the kernel. The clock is read
// only in iterations in which a round ends.

#include "coxswain/base/time.hpp"

#include <cstdint>
#include <optional>
#include <utility>

namespace coxswain::server {

class release_clock {
 public:
  // The number of rounds that have ended; call it after anything that may end one.
  void look(std::uint64_t ended) noexcept {
    if (ended == std::exchange(ended_, ended) || since_) return;
    since_ = std::chrono::steady_clock::now();
  }

  // All output was handed over. None if no round has ended in this iteration.
  [[nodiscard]] std::optional<duration> stop() noexcept {
    auto const since = std::exchange(since_, std::nullopt);
    if (!since) return std::nullopt;
    return std::chrono::steady_clock::now() - *since;
  }

 private:
  std::uint64_t ended_{};
  std::optional<time_point> since_;
};

}  // namespace coxswain::server
