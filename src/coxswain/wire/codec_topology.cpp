// Topologies <-> v1::LocalTopology and v1::GlobalTopology.

#include "coxswain/wire/codec_fields.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::wire {
namespace {

// How each kind of value is written.
class attribute_writer {
 public:
  explicit attribute_writer(v1::DeviceAttribute& to) : to_{to} {}

  void operator()(std::string const& value) const { to_.set_text(text(value)); }
  void operator()(bool value) const { to_.set_flag(value); }
  void operator()(std::int64_t value) const { to_.set_number(value); }
  void operator()(std::vector<std::int64_t> const& values) const {
    to_.mutable_numbers()->mutable_values()->Add(values.begin(), values.end());
  }
  void operator()(float value) const { to_.set_fraction(value); }

 private:
  v1::DeviceAttribute& to_;
};

core::device_attribute::value_type value_of(v1::DeviceAttribute& from) {
  switch (from.value_case()) {
    case v1::DeviceAttribute::VALUE_NOT_SET: break;
    case v1::DeviceAttribute::kText: return std::move(*from.mutable_text());
    case v1::DeviceAttribute::kFlag: return from.flag();
    case v1::DeviceAttribute::kNumber: return std::int64_t{from.number()};
    case v1::DeviceAttribute::kNumbers:
      return std::vector<std::int64_t>(from.numbers().values().begin(),
                                       from.numbers().values().end());
    case v1::DeviceAttribute::kFraction: return from.fraction();
  }
  return {};
}

void encode(core::device const& from, v1::Device& to) {
  to.set_ordinal(from.ordinal);
  to.set_name(text(from.name));
  to.set_vendor(text(from.vendor));
  to.set_kind(text(from.kind));
  to.set_compute_capability(text(from.compute_capability));
  to.set_core_count(from.core_count);
  if (from.numa_node) to.set_numa_node(*from.numa_node);
  to.set_fabric_uuid(text(from.fabric_uuid));
  to.set_memory_bytes(from.memory_bytes);
  to.set_shared_memory_per_block_bytes(from.shared_memory_per_block_bytes);
  to.set_text(text(from.text));
  to.set_debug_text(text(from.debug_text));
  for (auto const& attribute : from.attributes) {
    auto& added = *to.add_attributes();
    added.set_name(text(attribute.name));
    std::visit(attribute_writer{added}, attribute.value);
  }
  to.set_partition(from.partition);
  to.set_global_id(from.global_id);
}

core::device decode(v1::Device& from) {
  core::device to;
  to.ordinal = from.ordinal();
  to.name = std::move(*from.mutable_name());
  to.vendor = std::move(*from.mutable_vendor());
  to.kind = std::move(*from.mutable_kind());
  to.compute_capability = std::move(*from.mutable_compute_capability());
  to.core_count = from.core_count();
  if (from.has_numa_node()) to.numa_node = from.numa_node();
  to.fabric_uuid = std::move(*from.mutable_fabric_uuid());
  to.memory_bytes = from.memory_bytes();
  to.shared_memory_per_block_bytes = from.shared_memory_per_block_bytes();
  to.text = std::move(*from.mutable_text());
  to.debug_text = std::move(*from.mutable_debug_text());
  to.attributes.reserve(static_cast<std::size_t>(from.attributes_size()));
  for (auto& attribute : *from.mutable_attributes()) {
    to.attributes.emplace_back(std::move(*attribute.mutable_name()), value_of(attribute));
  }
  to.partition = from.partition();
  to.global_id = from.global_id();
  return to;
}

}  // namespace

void encode(core::local_topology const& from, v1::LocalTopology& to) {
  to.set_boot_id(text(from.boot_id));
  for (auto const& node : from.network_nodes) to.add_network_nodes(text(node));
  to.mutable_devices()->Reserve(static_cast<int>(from.devices.size()));
  for (auto const& device : from.devices) encode(device, *to.add_devices());
  if (from.partition_index) to.set_partition_index(*from.partition_index);
}

core::local_topology decode(v1::LocalTopology& from) {
  core::local_topology to;
  to.boot_id = std::move(*from.mutable_boot_id());
  to.network_nodes.reserve(static_cast<std::size_t>(from.network_nodes_size()));
  for (auto& node : *from.mutable_network_nodes()) to.network_nodes.push_back(std::move(node));
  // Enough for the coordinator to refuse it.
  auto const count =
      std::min(static_cast<std::size_t>(from.devices_size()), core::topology_devices_max + 1);
  to.devices.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    to.devices.push_back(decode(*from.mutable_devices(static_cast<int>(i))));
  }
  if (from.has_partition_index()) to.partition_index = from.partition_index();
  return to;
}

void encode(core::global_topology const& from, v1::GlobalTopology& to) {
  to.mutable_tasks()->Reserve(static_cast<int>(from.tasks.size()));
  for (auto const& task : from.tasks) encode(task, *to.add_tasks());
}

core::global_topology decode(v1::GlobalTopology& from) {
  core::global_topology to;
  to.tasks.reserve(static_cast<std::size_t>(from.tasks_size()));
  for (auto& task : *from.mutable_tasks()) to.tasks.push_back(decode(task));
  return to;
}

}  // namespace coxswain::wire
