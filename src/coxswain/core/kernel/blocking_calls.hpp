#pragma once
// How many calls of a task wait, and whether it certainly does nothing but wait for other tasks. A
// process can have several threads or coroutines: while fewer of its calls wait than it ever had
// open at once, it may be doing other work. Not here: the calls (sessions).

#include "coxswain/base/time.hpp"

#include <algorithm>
#include <cstdint>

namespace coxswain::core {

class blocking_calls {
 public:
  enum class wait {
    for_tasks,      // a barrier: for the missing tasks
    for_anybody,    // a get or a pop: any client can complete it
    for_outsiders,  // a count barrier: it is meant for callers outside the job
  };

  void begin(time_point now, wait what) {
    most_ = std::max(most_, ++open_);
    for_anybody_ += what == wait::for_anybody ? 1 : 0;
    for_outsiders_ += what == wait::for_outsiders ? 1 : 0;
    last_began_ = now;
  }
  void end(wait what) {
    --open_;
    for_anybody_ -= what == wait::for_anybody ? 1 : 0;
    for_outsiders_ -= what == wait::for_outsiders ? 1 : 0;
  }

  // Another process acts for the task; nothing is open.
  void renew() noexcept { most_ = 0; }

  [[nodiscard]] bool only_wait() const noexcept {
    return open_ > 0 && open_ == most_ && for_outsiders_ == 0;
  }

  // Since when all of them wait; only while they do.
  [[nodiscard]] time_point last_began() const noexcept { return last_began_; }

  [[nodiscard]] std::uint32_t open() const noexcept { return open_; }
  [[nodiscard]] std::uint32_t for_anybody() const noexcept { return for_anybody_; }
  [[nodiscard]] std::uint32_t for_outsiders() const noexcept { return for_outsiders_; }

  static void fields(auto& a, auto& s) {
    a.members(s.open_, s.for_anybody_, s.for_outsiders_, s.most_, s.last_began_);
  }

 private:
  std::uint32_t open_{};
  std::uint32_t for_anybody_{};
  std::uint32_t for_outsiders_{};
  std::uint32_t most_{};  // open at once
  time_point last_began_{};
};

}  // namespace coxswain::core
