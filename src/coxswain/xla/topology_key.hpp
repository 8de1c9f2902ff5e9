#pragma once
// Names of the keys at which JAX processes exchange their topologies. Not here: what is in them.

#include <string_view>

namespace coxswain::xla {

// Whether it is "P:local_topology/Q/N" or "P:global_topology/Q", as with P = "cpu" or "gpu", a
// platform Q and a process N. Every generation of jaxlib has these.
[[nodiscard]] bool is_topology_key(std::string_view name) noexcept;

}  // namespace coxswain::xla
