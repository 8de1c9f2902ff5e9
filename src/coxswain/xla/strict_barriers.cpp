#include "coxswain/xla/strict_barriers.hpp"

#include "coxswain/core/kernel/text.hpp"

#include <utility>

namespace coxswain::xla {

strict_barriers::verdict strict_barriers::call(std::string const& name, std::int64_t counter) {
  auto const [at, is_new] = rounds_.try_emplace(name);
  round& r = at->second;
  if (is_new || (!r.is_open && counter == r.counter + 1)) {
    r = {counter, true, {}, false};
    return verdict::arrive;
  }
  if (counter != r.counter) return verdict::mismatch;
  if (r.is_open) return verdict::arrive;
  // Of a round that has passed, this task's former process had the outcome.
  return r.outcome.ok() ? verdict::mismatch : verdict::is_over;
}

void strict_barriers::spoil(std::string const& name, status why, bool is_mismatch) {
  auto const [at, is_new] = rounds_.try_emplace(name);
  round& r = at->second;
  if (!is_new && !r.is_open) {
    if (is_mismatch) return;  // the round is over, and stays what it was
    ++r.counter;
  }
  r.is_open = false;
  r.outcome = std::move(why);
  r.is_mismatch = is_mismatch;
}

void strict_barriers::end(std::string const& name, std::int64_t counter, status outcome) {
  auto const at = rounds_.find(name);
  if (at == rounds_.end() || !at->second.is_open || at->second.counter != counter) return;
  at->second.is_open = false;
  at->second.outcome = std::move(outcome);
}

strict_barriers::round const* strict_barriers::find(std::string const& name) const {
  auto const at = rounds_.find(name);
  return at == rounds_.end() ? nullptr : &at->second;
}

status strict_barriers::counters_differ(std::string_view name, std::int64_t expected,
                                        std::int64_t got) {
  return {errc::internal, "Barrier " + core::quoted(name) + " counter mismatch: expected " +
                              std::to_string(expected) + ", but a task came with " +
                              std::to_string(got) +
                              ". A task may be too quick / slow, or has restarted."};
}

}  // namespace coxswain::xla
