#pragma once
// The meaning of etcd's errors. Codes differ between its versions, so texts are matched first.

#include "coxswain/etcd/channel.hpp"

#include <cstdint>

namespace coxswain::etcd {

// Whether a call that failed has changed anything.
enum class effect : std::uint8_t { none, unknown };

enum class reaction : std::uint8_t {
  retry,         // the same call again
  go_elsewhere,  // likewise, at another member
  authenticate,  // again with a new token
  give_up,       // it fails whenever it is repeated
};

struct meaning {
  effect had{effect::unknown};
  reaction next{reaction::give_up};
};

// Of a call that has failed.
[[nodiscard]] meaning meaning_of(call_end const& how);

// Errors that need attention of their own.
[[nodiscard]] bool is_compacted(status const& why);    // history before a revision was removed
[[nodiscard]] bool is_no_space(status const& why);     // the quota is used up
[[nodiscard]] bool is_no_lease(status const& why);     // there is no such lease
[[nodiscard]] bool is_lease_there(status const& why);  // a lease of that id exists
[[nodiscard]] bool needs_no_user(status const& why);   // authentication is not enabled

}  // namespace coxswain::etcd
