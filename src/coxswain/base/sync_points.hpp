#pragma once
// The steps at which a task stops together with the others before a preemption (§10.1): the
// ones it has reported, and those agreed on. A client keeps them for its task, the coordinator for
// a task whose guests report steps. Not here: messages and waiting calls.
//
// Not thread-safe.

#include <cstdint>
#include <optional>
#include <set>

namespace coxswain {

class sync_points {
 public:
  // Whether the task stops at this step: the first one at or past an agreed step. Empty while an
  // agreement is open and the step is past the one reported for it: ask again when the agreement
  // has ended.
  std::optional<bool> reached(std::uint64_t step) {
    auto const past = points_.upper_bound(step);
    if (past != points_.begin()) {
      points_.erase(points_.begin(), past);
      last_ = step;
      return true;
    }
    if (open_ && step > reported_) return std::nullopt;
    last_ = step;
    return false;
  }

  // An agreement begins; returns the step to report, empty if it was reported already.
  std::optional<std::uint64_t> freeze(std::uint64_t agreement) {
    if (agreement <= agreement_) return std::nullopt;
    agreement_ = agreement;
    open_ = true;
    reported_ = last_;
    return reported_;
  }

  // What was reported for the last agreement.
  [[nodiscard]] std::uint64_t reported() const noexcept { return reported_; }

  // The agreement has ended, with a step if it succeeded.
  void agreed(std::uint64_t agreement, std::optional<std::uint64_t> step) {
    if (agreement != agreement_) return;
    open_ = false;
    if (step) points_.insert(*step);
  }

  // An epoch of an elastic job has ended, and with it an agreement and the steps at which the task
  // has not stopped.
  void end_epoch() {
    open_ = false;
    points_.clear();
  }

  // For snapshots of the core.
  static void fields(auto& a, auto& s) {
    a.members(s.last_, s.reported_, s.agreement_, s.open_, s.points_);
  }

 private:
  std::uint64_t last_{};
  std::uint64_t reported_{};
  std::uint64_t agreement_{};  // the last one that began
  bool open_{};
  std::set<std::uint64_t> points_;  // agreed on and not reached
};

}  // namespace coxswain
