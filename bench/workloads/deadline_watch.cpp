#include "workloads/deadline_watch.hpp"

#include "bench_error.hpp"

#include <algorithm>

namespace coxswain::bench {

void deadline_watch::begins(call which, time_point deadline) { open_.emplace(which, deadline); }

duration deadline_watch::ends(call which, time_point at) {
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

}  // namespace coxswain::bench
