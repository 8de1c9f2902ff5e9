#pragma once
// Deadlines in an indexed heap. Arming and disarming cost O(log n); of equal times the one armed
// first is due first. Not here: what happens when one is due (coordinator).

#include "coxswain/base/time.hpp"
#include "coxswain/core/snapshot/is_loading.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace coxswain::core {

enum class due : std::uint8_t {
  hello,           // connection: no Hello yet
  stalled_reader,  // connection: reads nothing
  session,         // session: silent for too long, or its grace is over
  probe,           // task: its holder must show a sign of life
  call,            // one parked request
  round,           // a barrier's round
  round_log,       // a barrier's round waits for long
  round_progress,  // a barrier's waiters want progress reports
  join,            // the join barrier
  join_log,        // ... waits for long
  leave,           // the leave barrier
  leave_log,       // ... waits for long
  preemption,      // an agreement is to begin, or has taken too long
  topology_log,    // topology exchanges wait for long
  review,          // look for deadlocks
  no_progress,     // task: reported no further step
  wrong_tokens,    // report the ones that were tried
  task_return,     // task: its next process has not joined
  restart_grace,   // sessions must have resumed since a restart
  enrolment,       // the last call, or a failed task's time to come back, is over
  epoch,           // the next epoch may begin, or waits no longer for somebody
  lease,           // of an item
};

// Refers to an armed deadline, or to none.
class alarm {
 public:
  [[nodiscard]] bool armed() const noexcept { return slot_ != none; }

  static void fields(auto& a, auto& s) {
    std::uint32_t number = s.slot_ + 1;  // zero: none
    a(1, number);
    if constexpr (is_loading<decltype(a)>) s.slot_ = number - 1;
  }

 private:
  friend class deadlines;
  static constexpr std::uint32_t none = UINT32_MAX;
  std::uint32_t slot_{none};
};

struct due_item {
  time_point when;
  due what{};
  // The owner of the deadline: the number of a connection, session, task or round; for a call, its
  // session and, in `request`, its request.
  std::uint64_t subject{};
  std::uint64_t request{};
};

class deadlines {
 public:
  // Arms `a`; if it is armed already, it is moved.
  void arm(alarm& a, due_item item);
  // Disarms `a` if it is armed.
  void disarm(alarm& a);

  // When it is due; none if it is not armed.
  [[nodiscard]] std::optional<time_point> when(alarm const& a) const;

  [[nodiscard]] std::optional<time_point> next() const;

  // The earliest item due at or before `now`. Its alarm remains armed: rearm or disarm it.
  [[nodiscard]] std::optional<due_item> due_at(time_point now) const;

  [[nodiscard]] std::size_t size() const noexcept { return heap_.size(); }

  static void fields(auto& a, auto& s);

 private:
  struct entry {
    due_item item;
    std::uint64_t sequence{};
    std::uint32_t position{};

    static void fields(auto& a, auto& s) { a.members(s.item, s.sequence); }
  };

  [[nodiscard]] bool before(std::uint32_t a, std::uint32_t b) const;
  void place(std::uint32_t position, std::uint32_t slot);
  void rise(std::uint32_t position);
  void sink(std::uint32_t position);

  std::vector<entry> slots_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> heap_;  // slots, earliest first
  std::uint64_t sequence_{};
};

}  // namespace coxswain::core
