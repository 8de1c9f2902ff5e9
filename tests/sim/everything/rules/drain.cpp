// Nobody joins a job that drains (§1.9), except a process that had asked before: its reply may have
// been lost.

#include "tests/sim/everything/rules/rules.hpp"

#include <algorithm>
#include <optional>

namespace coxswain::sim {
namespace {

// When the coordinator had the drain, at the latest; none if a restart may have lost it.
std::optional<time_point> drains_since(history const& h) {
  for (call_record const& c : h.calls) {
    if (c.asks<core::end_job_args>() && c.is_ok() && h.outlives_restart(*c.answered))
      return c.answered;
  }
  return std::nullopt;
}

bool has_asked_before(history const& h, call_record const& join) {
  return std::any_of(h.calls.begin(), h.calls.end(), [&](call_record const& c) {
    return c.process == join.process && c.asks<core::join_args>() && c.made < join.made;
  });
}

}  // namespace

void check_drain(history const& h, violations& found) {
  auto const since = drains_since(h);
  if (!since) return;
  for (call_record const& c : h.calls) {
    bool const joins = c.asks<core::join_args>() && c.is_ok() && c.made > *since;
    if (!joins || h.is_guest(c.process) || has_asked_before(h, c)) continue;
    found.push_back("joins a job that drains: " + h.text(c));
  }
}

}  // namespace coxswain::sim
