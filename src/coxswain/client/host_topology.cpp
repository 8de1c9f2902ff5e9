#include "coxswain/client/host_topology.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace coxswain {

std::vector<std::string> network_nodes(std::string_view list) {
  std::vector<std::string> nodes;
  if (list.empty()) return nodes;
  for (;;) {
    auto const end = std::min(list.find(','), list.size());
    nodes.emplace_back(list.substr(0, end));
    if (end == list.size()) return nodes;
    list.remove_prefix(end + 1);
  }
}

local_topology local_topology_of_this_host() {
  local_topology mine;
  std::ifstream{"/proc/sys/kernel/random/boot_id"} >> mine.boot_id;
  if (char const* const list = std::getenv("XLA_DISTRIBUTED_TOPOLOGY_NETWORK_NODES")) {
    mine.network_nodes = network_nodes(list);
  }
  return mine;
}

}  // namespace coxswain
