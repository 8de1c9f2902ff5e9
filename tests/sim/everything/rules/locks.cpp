// A lock has one owner, its tokens increase, and callers are served in order.

#include "tests/sim/everything/rules/rules.hpp"

#include <algorithm>
#include <map>

namespace coxswain::sim {
namespace {

std::string const* lock_of(call_record const& c) {
  if (auto const* const lock = c.asks<core::lock_args>()) return &lock->name;
  auto const* const tried = c.asks<core::try_lock_args>();
  return tried ? &tried->name : nullptr;
}

// The earliest time at which the owner may have lost or released the lock.
time_point may_end(history const& h, call_record const& grant, std::uint64_t token) {
  process_record const& p = h.processes[grant.process];
  time_point end = time_point::max();
  auto const at = [&](std::optional<time_point> when) { end = std::min(end, when.value_or(end)); };
  at(p.died);
  at(p.departed);
  if (p.ended) at(*p.ended - h.delay_max);  // when it got the reply
  for (interval const& trouble : p.troubles) {
    if (trouble.to > grant.made) at(trouble.from);
  }
  for (call_record const& c : h.calls) {
    if (c.process != grant.process) continue;
    auto const* const unlock = c.asks<core::unlock_args>();
    if ((unlock && unlock->token == token) || c.asks<core::leave_args>()) at(c.made);
  }
  return end;
}

}  // namespace

void check_locks(history const& h, violations& found) {
  using by_token = std::map<std::uint64_t, call_record const*>;
  by_token all;
  std::map<std::string, by_token> locks;
  for (call_record const& c : h.calls) {
    auto const* const name = lock_of(c);
    auto const* const got = c.gave<core::stored_answer>();
    if (!name || !got) continue;
    if (!all.emplace(got->version, &c).second) {
      found.push_back("two locks have one token: " + h.text(c));
    }
    locks[*name].emplace(got->version, &c);
  }
  time_point asked{};  // the latest start of the calls with lower tokens
  for (auto const& [token, grant] : all) {
    if (*grant->answered < asked) {
      found.push_back("the token does not rise: " + h.text(*grant));
    }
    asked = std::max(asked, grant->made);
  }
  for (auto const& [_, grants] : locks) {
    call_record const* before = nullptr;
    time_point free_from{};
    for (auto const& [token, grant] : grants) {
      if (*grant->answered < free_from) {
        found.push_back("two owners: " + h.text(*before) + "; then: " + h.text(*grant));
      }
      bool const overtakes = before && grant->made + 2 * h.delay_max + 100ms < before->made &&
                             h.is_calm(grant->process, grant->made, *grant->answered) &&
                             h.is_calm(before->process, before->made, *before->answered);
      if (overtakes) {
        found.push_back("served before an older call: " + h.text(*before) +
                        "; then: " + h.text(*grant));
      }
      before = grant;
      free_from = may_end(h, *grant, token);
    }
  }
}

}  // namespace coxswain::sim
