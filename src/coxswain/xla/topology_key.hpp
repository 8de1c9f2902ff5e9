#pragma once
// The keys at which JAX processes exchange their topologies, and what two of these have in common.

#include <string>
#include <string_view>

namespace coxswain::xla {

// Whether it is "P:local_topology/Q/N" or "P:global_topology/Q", as with P = "cpu" or "gpu", a
// platform Q and a process N. Every generation of jaxlib has these.
[[nodiscard]] bool is_topology_key(std::string_view name) noexcept;

// Whether two values of such a key are the same but for the boot ids of machines, which only
// distinguish whether processes share one.
[[nodiscard]] bool have_same_devices(std::string_view key, std::string_view one,
                                     std::string_view other) noexcept;

// The error for a process that inserts `now` where `before` has other devices.
[[nodiscard]] std::string other_devices(std::string_view key, std::string_view before,
                                        std::string_view now);

}  // namespace coxswain::xla
