#include "coxswain/client/agent/session_terms.hpp"

#include "coxswain/client/agent/agent_text.hpp"

#include <algorithm>

namespace coxswain::detail {
namespace {

// How long one try to connect may take: before the grace is known, and at least.
constexpr duration attempt_longest = 10s;
constexpr duration attempt_min = 100ms;
constexpr std::uint32_t attempt_doubled_max = 10;

constexpr duration pause_min = 10ms;

constexpr std::size_t answer_bytes_min = 128 * 1024 * 1024;

}  // namespace

bool session_terms::resume(core::resume_answer const& stated) {
  if (stated.term != 0 && stated.term < stated_->term) return false;
  if (stated.term != 0) stated_->term = stated.term;
  stated_->suspect_after = stated.suspect_after;
  return true;
}

std::optional<std::string> session_terms::contradiction(core::hello_answer const& stated) const {
  if (!fence_after_ || *fence_after_ <= duration::zero()) return std::nullopt;
  if (*fence_after_ >= stated.restart_grace) return std::nullopt;
  return "fence_after is " + text_of(*fence_after_) + ", but the coordinator at " + addresses_ +
         " gives sessions " + text_of(stated.restart_grace) +
         " to resume after a restart (restart_grace): fence_after must be at least as long, or "
         "unset";
}

std::string session_terms::place() const {
  auto const host = stated_ ? stated_->hosted_by_task : hosted_by_task_;
  return addresses_ + (host ? " (in the process of task " + std::to_string(*host) + ")" : "");
}

// Half of a short grace is too little in a slow network, and after a restart of the coordinator
// another grace counts.
duration session_terms::attempt_max(std::uint32_t round) const {
  if (!stated_) return attempt_longest;
  duration const first = std::max(time_to_resume() / 2, attempt_min);
  duration const longest = std::max(first, stated_->suspect_after / 2);
  auto const doubled = std::min(std::max(round, 1U) - 1, attempt_doubled_max);
  return std::min(longest, first * (1U << doubled));
}

duration session_terms::pause_max() const { return std::max(time_to_resume() / 4, pause_min); }

duration session_terms::time_to_resume() const {
  bool const is_bounded = stated_->suspect_after > duration::zero();
  return std::min(stated_->reconnect_grace, is_bounded ? stated_->suspect_after : without_limit);
}

std::size_t session_terms::answer_bytes_max() const {
  return std::max({std::size_t{stated_->frame_bytes_max},
                   std::size_t{stated_->value_bytes_max} + 64 * 1024, answer_bytes_min});
}

duration session_terms::fence_after() const {
  duration const after = fence_after_.value_or(stated_->heartbeat_timeout);
  if (after <= duration::zero()) return without_limit;
  if (fence_after_ || stated_->restart_grace == duration::zero()) return after;
  // The coordinator may return with this session.
  return std::max(after, stated_->coordinator_return + stated_->restart_grace);
}

bool session_terms::may_return() const {
  return stated_ && (stated_->restart_grace > duration::zero() || stated_->relayed);
}

duration session_terms::refused_max() const {
  bool const counts = !fence_after_ && stated_->coordinator_return > duration::zero();
  return counts ? stated_->coordinator_return : without_limit;
}

}  // namespace coxswain::detail
