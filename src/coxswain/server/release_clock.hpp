#pragma once
// How long it takes to tell everybody that a barrier's round has ended: from the first round that
// ends in a loop iteration until everything of that iteration was handed to the kernel. The clock
// is read only in iterations in which a round ends.

#include "coxswain/base/time.hpp"

#include <cstdint>
#include <optional>
#include <utility>

namespace coxswain::server {

class release_clock {
 public:
  // So many rounds have ended by now; asked after whatever may end one.
  void look(std::uint64_t ended) noexcept {
    if (ended == std::exchange(ended_, ended) || since_) return;
    since_ = std::chrono::steady_clock::now();
  }

  // Everything was handed over. Nothing if no round has ended in this iteration.
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
