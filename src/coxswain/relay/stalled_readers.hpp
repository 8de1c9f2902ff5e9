#pragma once
// Clients of a relay that read nothing although something waits for them, and since when.

#include "coxswain/base/time.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

namespace coxswain::relay {

class stalled_readers {
 public:
  // They may do so for `most`.
  explicit stalled_readers(duration most) noexcept : most_{most} {}
  [[nodiscard]] duration most() const noexcept { return most_; }

  // Something waits for the client. `has_read`: it has taken a part of it just now.
  void waits(std::uint32_t client, time_point now, bool has_read) {
    auto const [at, is_new] = since_.try_emplace(client, now);
    if (!is_new && !has_read) return;
    by_time_.erase({at->second, client});
    at->second = now;
    by_time_.emplace(now, client);
  }

  // Nothing does, or it has gone.
  void forget(std::uint32_t client) {
    auto const found = since_.find(client);
    if (found == since_.end()) return;
    by_time_.erase({found->second, client});
    since_.erase(found);
  }

  // Now all count as having read.
  void excuse(time_point now) {
    by_time_.clear();
    for (auto& [client, since] : since_) {
      since = now;
      by_time_.emplace(now, client);
    }
  }

  [[nodiscard]] std::optional<time_point> next_deadline() const {
    if (by_time_.empty()) return std::nullopt;
    return deadline_after(by_time_.begin()->first, most_);
  }

  // One that has read nothing for too long, and is forgotten.
  [[nodiscard]] std::optional<std::uint32_t> take(time_point now) {
    auto const due = next_deadline();
    if (!due || *due > now) return std::nullopt;
    auto const client = by_time_.begin()->second;
    forget(client);
    return client;
  }

 private:
  duration most_;
  std::unordered_map<std::uint32_t, time_point> since_;
  std::set<std::pair<time_point, std::uint32_t>> by_time_;
};

}  // namespace coxswain::relay
