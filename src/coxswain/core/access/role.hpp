#pragma once
// What a session may do, from the least to the most (§3.1). Not here: which request needs
// which role (access).

#include "coxswain/base/status.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace coxswain::core {

enum class role : std::uint8_t {
  reader,     // reads: the job, its keys, everything that can be watched
  operator_,  // also changes keys and queues, waits at count barriers, cancels and preempts
  worker,     // also acts for tasks; may be a relay
  relay,      // reads, and may carry the connections of others (§18.3)
};

// PERMISSION_DENIED: a session of role `mine` may not do what needs `needed`. The verb is for the
// text: "put keys".
[[nodiscard]] status permission(role mine, role needed, std::string_view verb);

// "reader", "operator", "worker", "relay".
[[nodiscard]] std::string_view name(role r) noexcept;

// The role of this name.
[[nodiscard]] std::optional<role> role_named(std::string_view name) noexcept;

}  // namespace coxswain::core
