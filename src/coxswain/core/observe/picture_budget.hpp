#pragma once
// How many participants of open waits one snapshot of the job may examine, so that its cost is
// bounded however many rounds are open. The rest is counted or, by the wait graph, assumed not to
// be blocked. Not here: what is examined (coordinator).

#include <algorithm>
#include <cstddef>

namespace coxswain::core {

class picture_budget {
 public:
  explicit picture_budget(std::size_t most) : left_{most} {}

  // False if there is no room for another wait. The last one may have more participants than are
  // left, so the first one always has room.
  bool take(std::size_t participants) {
    is_exceeded_ = is_exceeded_ || left_ == 0;
    if (is_exceeded_) return false;
    std::size_t const cost = participants + wait_cost;
    taken_ += cost;
    left_ -= std::min(left_, cost);
    return true;
  }

  [[nodiscard]] bool is_exceeded() const noexcept { return is_exceeded_; }
  [[nodiscard]] std::size_t taken() const noexcept { return taken_; }

 private:
  static constexpr std::size_t wait_cost = 8;  // each wait has a name and texts

  std::size_t left_;
  std::size_t taken_{};
  bool is_exceeded_{};
};

}  // namespace coxswain::core
