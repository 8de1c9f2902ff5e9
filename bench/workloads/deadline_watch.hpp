#pragma once
// Which calls have which deadline, and which of them were answered before it. Pure: no clock, no
// I/O.

#include "bench_error.hpp"

#include "coxswain/base/ids.hpp"
#include "coxswain/base/time.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

namespace coxswain::bench {

class deadline_watch {
 public:
  using call = std::pair<std::size_t, request_id>;  // a connection's

  // Call it just before the request is sent: the coordinator cannot have read it earlier.
  void begins(call which, time_point deadline) { open_.emplace(which, deadline); }
  // Returns how late the answer came: below zero if it came too early. Throws bench_error: there is
  // no such call.
  duration ends(call which, time_point at) {
    auto const found = open_.find(which);
    if (found == open_.end()) throw bench_error{"it answered what was not asked, or twice"};
    auto const late = at - found->second;
    open_.erase(found);
    ++ended_;
    if (late < 0ns) {
      ++early_;
      early_by_max_ = std::max(early_by_max_, -late);
    }
    return late;
  }

  [[nodiscard]] std::size_t open() const noexcept { return open_.size(); }

  // Calls that were answered; those before their deadline, and by how much at most.
  [[nodiscard]] std::uint64_t ended() const noexcept { return ended_; }
  [[nodiscard]] std::uint64_t early() const noexcept { return early_; }
  [[nodiscard]] duration early_by_max() const noexcept { return early_by_max_; }

 private:
  std::map<call, time_point> open_;
  std::uint64_t ended_{};
  std::uint64_t early_{};
  duration early_by_max_{};
};

}  // namespace coxswain::bench
