#pragma once
// How many calls of a task wait, and whether it does nothing but wait. A process may have several
// threads or coroutines: while fewer of its calls wait than it ever had open at once, it may be
// doing something beside. Not here: the calls (sessions).

#include "coxswain/base/time.hpp"

#include <algorithm>
#include <cstdint>

namespace coxswain::core {

class blocking_calls {
 public:
  // `is_read`: anybody may answer it, as a get or a pop.
  void begin(time_point now, bool is_read) {
    most_ = std::max(most_, ++open_);
    reads_ += is_read ? 1 : 0;
    last_began_ = now;
  }
  void end(bool is_read) {
    --open_;
    reads_ -= is_read ? 1 : 0;
  }

  // Another process acts for the task; nothing is open.
  void renew() noexcept { most_ = 0; }

  [[nodiscard]] bool only_wait() const noexcept { return open_ > 0 && open_ == most_; }

  // While all only wait: since when.
  [[nodiscard]] time_point last_began() const noexcept { return last_began_; }

  [[nodiscard]] std::uint32_t open() const noexcept { return open_; }
  [[nodiscard]] std::uint32_t reads() const noexcept { return reads_; }

 private:
  std::uint32_t open_{};
  std::uint32_t reads_{};
  std::uint32_t most_{};  // open at once
  time_point last_began_{};
};

}  // namespace coxswain::core
