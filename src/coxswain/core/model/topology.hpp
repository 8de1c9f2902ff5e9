#pragma once
// The devices of a job, and how they are connected: what each task contributes to a topology
// exchange, and the resulting global topology (§13.2.2 to §13.2.6). Pure functions on plain
// data. Not here: the state of exchanges (topology_exchanges), replies (coordinator).

#include "coxswain/base/status.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace coxswain::core {

// How many devices one task may have.
inline constexpr std::size_t topology_devices_max = 65'536;

// The structs have constructors because aggregates must not be created in an expression with
// co_await (GCC 12, see tools/tidy.py).

// Attributes that a platform gives a device besides the fields below.
struct device_attribute {
  using value_type =
      std::variant<std::string, bool, std::int64_t, std::vector<std::int64_t>, float>;

  device_attribute() = default;
  device_attribute(std::string n, value_type v) : name{std::move(n)}, value{std::move(v)} {}

  std::string name;
  value_type value;

  // NaN equals itself here, so that a value sent and received compares equal.
  friend bool operator==(device_attribute const& a, device_attribute const& b) {
    auto const* const in_a = std::get_if<float>(&a.value);
    auto const* const in_b = std::get_if<float>(&b.value);
    bool const are_fractions = in_a && in_b;
    return a.name == b.name && (are_fractions ? std::bit_cast<std::uint32_t>(*in_a) ==
                                                    std::bit_cast<std::uint32_t>(*in_b)
                                              : a.value == b.value);
  }
};

struct device {
  device() = default;

  std::int32_t ordinal{};  // the task's own number for it; opaque, may repeat
  std::string name;
  std::string vendor;
  std::string kind;
  std::string compute_capability;
  std::int32_t core_count{};
  std::optional<std::int32_t> numa_node;
  std::string fabric_uuid;  // of the fast interconnect that it is part of; empty or all zeros: none
  std::uint64_t memory_bytes{};
  std::uint32_t shared_memory_per_block_bytes{};
  std::string text;        // for people
  std::string debug_text;  // the same with everything that is known
  std::vector<device_attribute> attributes;

  // Assigned by the exchange; a task's own values are ignored.
  std::uint32_t partition{};
  std::uint32_t global_id{};

  friend bool operator==(device const&, device const&) = default;
};

// A task's contribution.
struct local_topology {
  local_topology() = default;

  std::string boot_id;                           // the same in all tasks of a machine
  std::vector<std::string> network_nodes;        // the switches above it, top level first
  std::vector<device> devices;                   // their order is kept
  std::optional<std::uint32_t> partition_index;  // stated by all tasks or by none

  friend bool operator==(local_topology const&, local_topology const&) = default;
};

// The result for all tasks.
struct global_topology {
  global_topology() = default;
  explicit global_topology(std::vector<local_topology> by_task) : tasks{std::move(by_task)} {}

  std::vector<local_topology> tasks;  // the i-th is task i's

  friend bool operator==(global_topology const&, global_topology const&) = default;
};

// Combines the topologies of the tasks 0, 1, ... A partition has the devices with fast connections:
// those of the tasks that state the same index; if none does, those with the same fabric, if all
// devices have one; else those of one machine. In the latter two cases partitions are numbered by
// first occurrence, with tasks sorted by network nodes. Global ids are dense: ordered by partition,
// then by task, then as the task lists them. INVALID_ARGUMENT: some tasks state an index and some
// do not.
[[nodiscard]] result<global_topology> build_topology(std::vector<local_topology> by_task);

// How the second of two topologies of one task differs, for people; empty if they are equivalent.
// Merely descriptive fields of a device, such as its attributes, are not compared.
[[nodiscard]] std::string difference(local_topology const& before, local_topology const& now);

// Its approximate size in memory; never less than on the wire.
[[nodiscard]] std::size_t bytes_of(local_topology const& t);

// The shape of a job whose partitions all have the same number of tasks, each with the same number
// of devices. Otherwise, or without devices, all counts are -1.
struct gpu_topology {
  std::int32_t partitions{-1};
  std::int32_t hosts_per_partition{-1};
  std::int32_t devices_per_host{-1};

  friend bool operator==(gpu_topology const&, gpu_topology const&) = default;
};

[[nodiscard]] gpu_topology gpu_topology_of(global_topology const& whole);

}  // namespace coxswain::core
