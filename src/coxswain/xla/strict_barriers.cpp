#include "coxswain/xla/strict_barriers.hpp"

#include "coxswain/core/kernel/text.hpp"

#include <utility>

namespace coxswain::xla {

// Moves it to the recent ones.
strict_barriers::round* strict_barriers::find(std::string const& name) {
  if (auto const at = recent_.find(name); at != recent_.end()) return &at->second;
  auto node = older_.extract(name);
  return node ? &recent_.insert(std::move(node)).position->second : nullptr;
}

strict_barriers::round& strict_barriers::add(std::string const& name) {
  if (recent_.size() >= names_max) {
    older_ = std::exchange(recent_, {});
    for (auto at = older_.begin(); at != older_.end();) {
      auto const one = at++;
      if (one->second.is_open) recent_.insert(older_.extract(one));
    }
  }
  return recent_[name];
}

strict_barriers::verdict strict_barriers::call(std::string const& name, std::int64_t counter) {
  round* r = find(name);
  if (!r || (!r->is_open && counter == r->counter + 1)) {
    if (!r) r = &add(name);
    *r = {counter, true, {}, false};
    return verdict::arrive;
  }
  if (counter != r->counter) return verdict::mismatch;
  if (r->is_open) return verdict::arrive;
  // After success, an earlier process of this task has the outcome.
  return r->outcome.ok() ? verdict::mismatch : verdict::is_over;
}

void strict_barriers::fail(std::string const& name, status why, bool is_mismatch) {
  round* r = find(name);
  if (r && !r->is_open) {
    if (is_mismatch) return;  // the outcome of a closed round stays
    ++r->counter;
  }
  if (!r) r = &add(name);
  r->is_open = false;
  r->outcome = std::move(why);
  r->is_mismatch = is_mismatch;
}

void strict_barriers::end(std::string const& name, std::int64_t counter, status outcome) {
  round* const r = find(name);
  if (!r || !r->is_open || r->counter != counter) return;
  r->is_open = false;
  r->outcome = std::move(outcome);
}

status strict_barriers::counters_differ(std::string_view name, std::int64_t expected,
                                        std::int64_t got) {
  return {errc::internal, "Barrier " + core::quoted(name) + " counter mismatch: expected " +
                              std::to_string(expected) + ", but a task came with " +
                              std::to_string(got) +
                              ". A task may be too quick / slow, or has restarted."};
}

}  // namespace coxswain::xla
