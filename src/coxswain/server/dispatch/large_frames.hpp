#pragma once
// Large frames, and large requests of JAX processes, which need permission to arrive: those that
// wait for memory, those that arrive, and their time limits. Not here: memory (memory_meter) and
// bytes (wire/frame, http2).

#include "coxswain/base/ids.hpp"
#include "coxswain/base/time.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace coxswain::server {

// The large frame of a native connection, or a request of another one.
struct large_frame {
  connection_id from;
  std::int32_t stream{};  // zero: native

  friend bool operator==(large_frame const&, large_frame const&) = default;
};

class large_frames {
 public:
  // The frame waits for memory, at most until then. If it waits already, nothing changes.
  void wait(large_frame which, time_point until) {
    if (std::ranges::find(waiting_, which, &timed::which) != waiting_.end()) return;
    waiting_.push_back({which, until});
  }

  // The frame has memory. It may be rejected after `until` if others wait.
  void arrive(large_frame which, time_point until) {
    forget(which);
    arriving_.push_back({which, until});
  }

  void forget(large_frame which) {
    erase_if([which](large_frame frame) { return frame == which; });
  }

  // All of the connection.
  void forget(connection_id from) {
    erase_if([from](large_frame frame) { return frame.from == from; });
  }

  // Those of the connection for which `is_over` holds. Whether it has others.
  template <class Predicate>
  bool forget_if(connection_id from, Predicate is_over) {
    bool has_others = false;
    erase_if([&](large_frame frame) {
      if (frame.from != from) return false;
      bool const goes = is_over(frame);
      has_others |= !goes;
      return goes;
    });
    return has_others;
  }

  [[nodiscard]] bool is_any_arriving() const noexcept { return !arriving_.empty(); }
  [[nodiscard]] bool empty() const noexcept { return waiting_.empty() && arriving_.empty(); }

  // Those that wait, the longest first.
  [[nodiscard]] std::vector<large_frame> waiting() const {
    std::vector<large_frame> all;
    for (timed const& waiter : waiting_) all.push_back(waiter.which);
    return all;
  }

  // Native connections with one that waits or arrives.
  [[nodiscard]] std::vector<connection_id> connections() const {
    std::vector<connection_id> all;
    for (auto const* some : {&waiting_, &arriving_}) {
      for (timed const& entry : *some) {
        if (entry.which.stream == 0) all.push_back(entry.which.from);
      }
    }
    return all;
  }

  // When the next one is rejected; none while none waits.
  [[nodiscard]] std::optional<time_point> next_deadline() const {
    if (waiting_.empty()) return std::nullopt;
    auto next = time_point::max();
    for (auto const* some : {&waiting_, &arriving_}) {
      for (timed const& entry : *some) next = std::min(next, entry.until);
    }
    return next;
  }

  // Those that are rejected now.
  [[nodiscard]] std::vector<large_frame> due_at(time_point now) const {
    std::vector<large_frame> due;
    if (waiting_.empty()) return due;
    for (auto const* some : {&waiting_, &arriving_}) {
      for (timed const& entry : *some) {
        if (entry.until <= now) due.push_back(entry.which);
      }
    }
    return due;
  }

 private:
  struct timed {
    large_frame which;
    time_point until;
  };

  template <class Predicate>
  void erase_if(Predicate goes) {
    for (auto* const some : {&waiting_, &arriving_}) {
      std::erase_if(*some, [&](timed const& entry) { return goes(entry.which); });
    }
  }

  std::vector<timed> waiting_;
  std::vector<timed> arriving_;
};

}  // namespace coxswain::server
