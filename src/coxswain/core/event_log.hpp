#pragma once
// The last events, numbered from one, for those who watch. Bounded in number and in bytes: the
// oldest are dropped. Not here: who waits for the next one (watchers).

#include "coxswain/base/time.hpp"
#include "coxswain/core/event.hpp"
#include "coxswain/core/event_block.hpp"
#include "coxswain/core/messages.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

namespace coxswain::core {

class event_log {
 public:
  // The last event is kept whatever its size is.
  event_log(std::size_t events_max, std::size_t bytes_max)
      : events_max_{events_max}, bytes_max_{bytes_max} {}

  // `at` is the uptime of the coordinator.
  void add(duration at, event const& what);

  // The number of the last event that is at least so severe; zero if there was none.
  [[nodiscard]] std::uint64_t last(severity at_least = severity::info) const noexcept {
    return last_[static_cast<std::size_t>(at_least)];
  }

  // How many events after this one are dropped already.
  [[nodiscard]] std::uint64_t lost(std::uint64_t after) const noexcept;

  // What came after the event with this number, or everything that is there; of that, what is at
  // least so severe, as much as one answer may hold.
  [[nodiscard]] events_answer since(std::optional<std::uint64_t> after, severity at_least) const;

  [[nodiscard]] std::size_t size() const noexcept { return bytes_of_each_.size(); }

 private:
  void drop_oldest();
  [[nodiscard]] std::uint64_t dropped() const noexcept { return last() - size(); }

  std::size_t events_max_;
  std::size_t bytes_max_;
  std::size_t bytes_{};
  std::array<std::uint64_t, 3> last_{};      // by severity
  std::deque<std::uint32_t> bytes_of_each_;  // as an event of its own
  std::deque<event_block> blocks_;           // the first one may begin with events that are dropped
};

}  // namespace coxswain::core
