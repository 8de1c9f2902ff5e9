#include "coxswain/etcd/meaning.hpp"

#include <array>
#include <string_view>

namespace coxswain::etcd {
namespace {

struct row {
  std::string_view text;  // part of the error's text
  meaning means;
};

// The first row whose text occurs decides.
constexpr std::array rows{
    row{"no leader", {effect::none, reaction::go_elsewhere}},
    row{"leader changed", {effect::none, reaction::retry}},
    row{"request timed out", {effect::unknown, reaction::go_elsewhere}},
    row{"context deadline exceeded", {effect::unknown, reaction::go_elsewhere}},
    row{"request cancelled", {effect::unknown, reaction::retry}},
    row{"context canceled", {effect::unknown, reaction::retry}},
    row{"raft proposal dropped", {effect::none, reaction::retry}},
    row{"server stopped", {effect::unknown, reaction::go_elsewhere}},
    row{"not a primary lessor", {effect::none, reaction::go_elsewhere}},
    row{"too many requests", {effect::none, reaction::retry}},
    row{"request is too large", {effect::none, reaction::give_up}},
    row{"received message larger than max", {effect::none, reaction::give_up}},
    row{"in txn request", {effect::none, reaction::give_up}},
    row{"key is not provided", {effect::none, reaction::give_up}},
    // Also of writes that were applied.
    row{"database space exceeded", {effect::unknown, reaction::retry}},
    row{"has been compacted", {effect::none, reaction::give_up}},
    row{"is a future revision", {effect::none, reaction::retry}},
    row{"lease not found", {effect::none, reaction::give_up}},
    row{"lease already exists", {effect::none, reaction::give_up}},
    row{"not capable", {effect::none, reaction::retry}},
    row{"not supported for learner", {effect::none, reaction::go_elsewhere}},
    row{"corrupt cluster", {effect::none, reaction::give_up}},
    row{"invalid auth token", {effect::none, reaction::authenticate}},
    row{"user name is empty", {effect::none, reaction::authenticate}},
    row{"revision of auth store is old", {effect::none, reaction::authenticate}},
    row{"permission denied", {effect::none, reaction::give_up}},
    row{"authentication failed", {effect::none, reaction::give_up}},
    row{"authentication is not enabled", {effect::none, reaction::give_up}},
};

bool has(status const& why, std::string_view text) {
  return why.message().find(text) != std::string::npos;
}

}  // namespace

meaning meaning_of(call_end const& how) {
  if (how.is_unseen) return {effect::none, reaction::go_elsewhere};
  for (auto const& row : rows) {
    if (has(how.outcome, row.text)) return row.means;
  }
  switch (how.outcome.code()) {
    case errc::unimplemented:
    case errc::invalid_argument:
    case errc::permission_denied:
    case errc::unauthenticated: return {effect::none, reaction::give_up};
    default: return {effect::unknown, reaction::go_elsewhere};
  }
}

bool is_compacted(status const& why) { return has(why, "has been compacted"); }

bool is_no_space(status const& why) { return has(why, "database space exceeded"); }

bool is_no_lease(status const& why) { return has(why, "lease not found"); }

bool is_lease_there(status const& why) { return has(why, "lease already exists"); }

bool needs_no_user(status const& why) { return has(why, "authentication is not enabled"); }

}  // namespace coxswain::etcd
