#pragma once
// PUBLIC. The topology of this machine, for client::exchange_topology. Not here: devices, which the
// program knows.

#include "coxswain/client/results.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace coxswain {

// A topology without devices: the kernel's boot id, and the network nodes from the environment
// variable XLA_DISTRIBUTED_TOPOLOGY_NETWORK_NODES. Unknown fields are empty. No errors. Not while
// another thread changes the environment.
[[nodiscard]] local_topology local_topology_of_this_host();

// "spine,pod,rack" as its three names, of which some may be empty; none if the list is empty.
[[nodiscard]] std::vector<std::string> network_nodes(std::string_view list);

}  // namespace coxswain
