#pragma once
// Calls that wait for something newer than they have seen. Nothing is kept between two requests of
// a watcher. Not here: what they watch (roster, event_log).

#include "coxswain/core/kernel/ticket.hpp"
#include "coxswain/core/model/event.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

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
  void cancel(watcher_number number) { waiting_.erase(number); }

  // Their tickets, oldest first.
  [[nodiscard]] std::vector<ticket> tickets() const {
    std::vector<ticket> all;
    all.reserve(waiting_.size());
    for (auto const& [_, w] : waiting_) all.push_back(w.who);
    return all;
  }

  // Oldest first.
  [[nodiscard]] std::map<watcher_number, watcher> const& all() const noexcept { return waiting_; }

  static void fields(auto& a, auto& s) { a.members(s.waiting_, s.last_); }

 private:
  std::map<watcher_number, watcher> waiting_;
  watcher_number last_{};
};

}  // namespace coxswain::core
