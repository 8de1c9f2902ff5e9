#include "coxswain/core/event_log.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::core {
namespace {

// What one answer holds at the most, so that a slow reader cannot make the coordinator copy much.
constexpr std::size_t answer_events_max = 1'000;
constexpr std::size_t answer_bytes_max = 256 * 1024;

std::size_t bytes_of(event const& e) { return sizeof(e) + e.text.size() + e.barrier.size(); }

}  // namespace

void event_log::add(duration at, event what) {
  std::uint64_t const number = last() + 1;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(what.level); ++i) last_[i] = number;
  bytes_ += bytes_of(what);
  entries_.push_back({number, at, std::move(what)});
  while (entries_.size() > std::max<std::size_t>(events_max_, 1) ||
         (bytes_ > bytes_max_ && entries_.size() > 1)) {
    bytes_ -= bytes_of(entries_.front().what);
    entries_.pop_front();
  }
}

std::uint64_t event_log::lost(std::uint64_t after) const noexcept {
  return dropped() - std::min(dropped(), after);
}

events_answer event_log::since(std::optional<std::uint64_t> after, severity at_least) const {
  events_answer found;
  found.lost = after ? lost(*after) : 0;
  found.through = last();
  std::size_t bytes = 0;
  for (auto i = std::max(after.value_or(0), dropped()) - dropped(); i < entries_.size(); ++i) {
    auto const& one = entries_[i];
    if (one.what.level < at_least) continue;
    bytes += bytes_of(one.what);
    bool const is_full = found.entries.size() == answer_events_max || bytes > answer_bytes_max;
    if (is_full && !found.entries.empty()) {
      found.through = found.entries.back().number;
      break;
    }
    found.entries.push_back(one);
  }
  return found;
}

}  // namespace coxswain::core
