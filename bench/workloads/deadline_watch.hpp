#pragma once
// The deadlines of calls, and which calls were answered early. Pure: no clock, no I/O.

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
  // Returns the lateness of the answer: below zero if early. Throws bench_error if there is no such
  // call.
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

  // Answered calls; the early ones, and by how much at most.
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
