#pragma once
// Large frames, which need permission to arrive: those that wait for memory, those that arrive, and
// their time limits. Not here: memory (memory_meter) and bytes (wire/frame).

#include "coxswain/base/ids.hpp"
#include "coxswain/base/time.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace coxswain::server {

class large_frames {
 public:
  // The frame waits for memory, at most until then. A connection has one large frame at a time.
  void wait(connection_id from, time_point until) {
    forget(from);
    waiting_.push_back({from, until});
  }

  // The frame has memory. It may be rejected after `until` if others wait.
  void arrive(connection_id from, time_point until) {
    forget(from);
    arriving_.push_back({from, until});
  }

  void forget(connection_id from) {
    auto const is_its = [from](frame const& one) { return one.from == from; };
    std::erase_if(waiting_, is_its);
    std::erase_if(arriving_, is_its);
  }

  [[nodiscard]] bool is_any_arriving() const noexcept { return !arriving_.empty(); }
  [[nodiscard]] bool empty() const noexcept { return waiting_.empty() && arriving_.empty(); }

  // The connections whose frames wait, the longest first.
  [[nodiscard]] std::vector<connection_id> waiting() const {
    std::vector<connection_id> all;
    for (frame const& one : waiting_) all.push_back(one.from);
    return all;
  }

  // When the next one is rejected; none while none waits.
  [[nodiscard]] std::optional<time_point> next_deadline() const {
    if (waiting_.empty()) return std::nullopt;
    auto next = time_point::max();
    for (auto const* some : {&waiting_, &arriving_}) {
      for (frame const& one : *some) next = std::min(next, one.until);
    }
    return next;
  }

  // The connections whose frames are rejected now.
  [[nodiscard]] std::vector<connection_id> due_at(time_point now) const {
    std::vector<connection_id> due;
    if (waiting_.empty()) return due;
    for (auto const* some : {&waiting_, &arriving_}) {
      for (frame const& one : *some) {
        if (one.until <= now) due.push_back(one.from);
      }
    }
    return due;
  }

 private:
  struct frame {
    connection_id from;
    time_point until;
  };
  std::vector<frame> waiting_;
  std::vector<frame> arriving_;
};

}  // namespace coxswain::server
