#pragma once
// The state of the job in the coordinator's log, when it changes: at once if the job ends or is
// deadlocked, and else when it has lasted, so that a job whose tasks wait at each step does not
// fill the log. Not here: what the state is (core).

#include "coxswain/core/model/results.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace coxswain::server {

class state_log {
 public:
  static constexpr duration period = 1s;
  static constexpr duration lasts = 10s;

  // Whether to look at the state: it was not looked at for a while, or the job has just ended.
  [[nodiscard]] bool is_due(time_point now, bool has_ended) const {
    return now >= looked_at_ + period || has_ended != has_ended_;
  }

  // Notes the state; the line to log, if there is one.
  std::optional<std::string> note(time_point now, bool has_ended, core::job_state state);

  // When to look again although nothing happens; none: there is nothing to log.
  [[nodiscard]] std::optional<time_point> next() const {
    if (seen_ == logged_) return std::nullopt;
    return std::max(since_ + lasts, looked_at_ + period);
  }

 private:
  using kind = core::job_state::kind;

  time_point looked_at_{};
  bool has_ended_{};
  kind seen_{};
  time_point since_{};
  kind logged_{};
};

}  // namespace coxswain::server
