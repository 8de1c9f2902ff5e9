#include "coxswain/core/model/topology.hpp"

#include "coxswain/core/kernel/text.hpp"
#include "coxswain/core/model/content_bytes.hpp"
#include "coxswain/core/model/reasons.hpp"

#include <algorithm>
#include <map>
#include <string_view>

namespace coxswain::core {
namespace {

status check_partition_indices(std::vector<local_topology> const& tasks) {
  std::vector<task_id> with;
  std::vector<task_id> without;
  for (std::uint32_t i = 0; i < tasks.size(); ++i) {
    (tasks[i].partition_index ? with : without).push_back(task_id{i});
  }
  if (with.empty() || without.empty()) return {};
  return fail<&reasons::partly_partitioned>(ranges(with).text, ranges(without).text);
}

// NVML reports zeros, before the clique's number, for a device in no fabric.
bool has_fabric(device const& d) {
  auto const cluster = std::string_view{d.fabric_uuid}.substr(0, d.fabric_uuid.find('/'));
  return cluster.find_first_not_of("0-") != std::string_view::npos;
}

bool all_have_fabric(std::vector<local_topology> const& tasks) {
  return std::all_of(tasks.begin(), tasks.end(), [](local_topology const& t) {
    return std::none_of(t.devices.begin(), t.devices.end(),
                        [](device const& d) { return !has_fabric(d); });
  });
}

std::vector<local_topology*> sorted_by_network(std::vector<local_topology>& tasks) {
  std::vector<local_topology*> sorted;
  for (auto& t : tasks) sorted.push_back(&t);
  std::stable_sort(sorted.begin(), sorted.end(), [](auto const* a, auto const* b) {
    return a->network_nodes < b->network_nodes;
  });
  return sorted;
}

void assign_partitions(std::vector<local_topology>& tasks) {
  bool const by_fabric = all_have_fabric(tasks);
  std::map<std::string_view, std::uint32_t> met;
  for (local_topology* const t : sorted_by_network(tasks)) {
    for (device& d : t->devices) {
      auto const next = static_cast<std::uint32_t>(met.size());
      std::string_view const together = by_fabric ? d.fabric_uuid : t->boot_id;
      d.partition =
          t->partition_index ? *t->partition_index : met.try_emplace(together, next).first->second;
    }
  }
}

void number_devices(std::vector<local_topology>& tasks) {
  std::map<std::uint32_t, std::vector<device*>> by_partition;
  for (auto& t : tasks) {
    for (device& d : t.devices) by_partition[d.partition].push_back(&d);
  }
  std::uint32_t next = 0;
  for (auto const& [_, devices] : by_partition) {
    for (device* const d : devices) d->global_id = next++;
  }
}

std::string shown(std::string const& name) { return in_quotes(name); }
std::string shown(std::int32_t number) { return std::to_string(number); }
std::string shown(std::size_t count) { return std::to_string(count); }
std::string shown(std::optional<std::uint32_t> index) {
  return index ? std::to_string(*index) : "none";
}
std::string shown(std::vector<std::string> const& nodes) {
  std::string text;
  for (auto const& node : nodes) text += (text.empty() ? "" : ",") + node;
  return in_quotes(text);
}

// Empty if it is the same.
template <class Value>
std::string change(std::string_view what, Value const& before, Value const& now) {
  if (before == now) return {};
  return std::string{what} + " changed from " + shown(before) + " to " + shown(now);
}

std::string first_of(std::initializer_list<std::string> changes) {
  for (auto const& text : changes) {
    if (!text.empty()) return text;
  }
  return {};
}

std::string difference(device const& before, device const& now) {
  return first_of(
      {change("name", before.name, now.name), change("vendor", before.vendor, now.vendor),
       change("ordinal", before.ordinal, now.ordinal),
       change("core count", before.core_count, now.core_count),
       change("kind", before.kind, now.kind),
       change("compute capability", before.compute_capability, now.compute_capability)});
}

}  // namespace

result<global_topology> build_topology(std::vector<local_topology> by_task) {
  if (status why = check_partition_indices(by_task); !why.ok()) return why;
  assign_partitions(by_task);
  number_devices(by_task);
  return global_topology{std::move(by_task)};
}

std::string difference(local_topology const& before, local_topology const& now) {
  std::string found =
      first_of({change("its boot id", before.boot_id, now.boot_id),
                change("its network nodes", before.network_nodes, now.network_nodes),
                change("its partition index", before.partition_index, now.partition_index),
                change("its number of devices", before.devices.size(), now.devices.size())});
  for (std::size_t i = 0; i < now.devices.size() && found.empty(); ++i) {
    found = difference(before.devices[i], now.devices[i]);
    if (!found.empty()) found = "device " + std::to_string(i) + ": the " + found;
  }
  return found;
}

std::size_t bytes_of(local_topology const& t) { return sizeof t + memory_of_content(t); }

gpu_topology gpu_topology_of(global_topology const& whole) {
  std::map<std::uint32_t, std::map<std::size_t, std::int32_t>> counts;  // by partition and task
  for (std::size_t i = 0; i < whole.tasks.size(); ++i) {
    for (device const& d : whole.tasks[i].devices) ++counts[d.partition][i];
  }
  if (counts.empty()) return {};
  auto const& first = counts.begin()->second;
  std::int32_t const devices = first.begin()->second;
  bool const is_symmetric = std::all_of(counts.begin(), counts.end(), [&](auto const& partition) {
    auto const& hosts = partition.second;
    return hosts.size() == first.size() &&
           std::all_of(hosts.begin(), hosts.end(),
                       [&](auto const& host) { return host.second == devices; });
  });
  if (!is_symmetric) return {};
  return {static_cast<std::int32_t>(counts.size()), static_cast<std::int32_t>(first.size()),
          devices};
}

}  // namespace coxswain::core
