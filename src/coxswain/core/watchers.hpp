#pragma once
// Calls that wait for something newer than they have seen. Nothing is kept of a watcher between two
// of its requests. Not here: what there is to see (roster, event_log).

#include "coxswain/core/event.hpp"
#include "coxswain/core/ticket.hpp"

#include <cstddef>
#include <cstdint>
#include <map>

namespace coxswain::core {

class watchers {
 public:
  struct watcher {
    ticket who;
    std::uint64_t seen{};               // the version, or the number of the last event
    severity at_least{severity::info};  // of events
  };

  using watcher_number = std::uint64_t;

  watcher_number wait(watcher w) {
    waiting_.emplace(++last_, w);
    return last_;
  }
  void withdraw(watcher_number number) { waiting_.erase(number); }

  // In the order in which they came.
  [[nodiscard]] std::map<watcher_number, watcher> const& all() const noexcept { return waiting_; }

 private:
  std::map<watcher_number, watcher> waiting_;
  watcher_number last_{};
};

}  // namespace coxswain::core
