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

void event_log::add(duration at, event const& what) {
  std::uint64_t const number = last() + 1;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(what.level); ++i) last_[i] = number;
  if (blocks_.empty() || blocks_.back().is_full()) {
    if (!blocks_.empty()) blocks_.back().shrink();
    blocks_.emplace_back(number);
  }
  blocks_.back().add(at, what);
  bytes_of_each_.push_back(static_cast<std::uint32_t>(bytes_of(what)));
  bytes_ += bytes_of_each_.back();
  while (size() > std::max<std::size_t>(events_max_, 1) || (bytes_ > bytes_max_ && size() > 1)) {
    drop_oldest();
  }
}

void event_log::drop_oldest() {
  bytes_ -= bytes_of_each_.front();
  bytes_of_each_.pop_front();
  if (blocks_.front().last() <= dropped()) blocks_.pop_front();
}

std::uint64_t event_log::lost(std::uint64_t after) const noexcept {
  return dropped() - std::min(dropped(), after);
}

events_answer event_log::since(std::optional<std::uint64_t> after, severity at_least) const {
  events_answer found;
  found.lost = after ? lost(*after) : 0;
  found.through = last();
  std::uint64_t const seen = std::max(after.value_or(0), dropped());
  auto const is_before = [](std::uint64_t number, event_block const& b) {
    return number < b.last();
  };
  std::size_t bytes = 0;
  auto block = std::upper_bound(blocks_.begin(), blocks_.end(), seen, is_before);
  for (; block != blocks_.end(); ++block) {
    event_block::reader events{*block};
    while (auto one = events.next(seen, at_least)) {
      bytes += bytes_of(one->what);
      bool const is_full = found.entries.size() == answer_events_max || bytes > answer_bytes_max;
      if (is_full && !found.entries.empty()) {
        found.through = found.entries.back().number;
        return found;
      }
      found.entries.push_back(*std::move(one));
    }
  }
  return found;
}

}  // namespace coxswain::core
