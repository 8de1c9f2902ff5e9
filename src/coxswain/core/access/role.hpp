#pragma once
// What a session may do, from the least to the most (semantics D3). Not here: which request needs
// which role (access).

#include <cstdint>
#include <optional>
#include <string_view>

namespace coxswain::core {

enum class role : std::uint8_t {
  reader,     // reads: the job, its keys, everything that can be watched
  operator_,  // also changes keys and queues, waits at count barriers, cancels and preempts
  worker,     // also acts for tasks; may be a relay
  relay,      // reads, and may carry the connections of others (semantics D41)
};

// Whether a session with this role may do what needs `needed`.
[[nodiscard]] constexpr bool permits(role given, role needed) noexcept {
  return given == role::relay ? needed == role::reader : given >= needed;
}

// "reader", "operator", "worker", "relay".
[[nodiscard]] std::string_view name(role r) noexcept;

// The role of this name.
[[nodiscard]] std::optional<role> role_named(std::string_view name) noexcept;

}  // namespace coxswain::core
