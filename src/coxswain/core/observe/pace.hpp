#pragma once
// How fast the job advances, by the last rounds of its barriers. Not here: their history
// (round_history), and whose fault it is that it is slow (headline).

#include "coxswain/core/model/results.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace coxswain::core {

struct pace {
  duration step{};   // from the end of one round to that of the next: the median
  duration began{};  // when the first round ended that was looked at
  std::vector<std::pair<task_id, duration>> last;  // who came last, and how long after the median
};

// Of the barrier whose round ended last; or of all, where each round has a name of its own. None:
// there are too few rounds, or the last one was long ago.
[[nodiscard]] std::optional<pace> pace_of(std::vector<snapshot::finished_round> const& rounds,
                                          duration uptime);

[[nodiscard]] duration median(std::vector<duration> all);

}  // namespace coxswain::core
