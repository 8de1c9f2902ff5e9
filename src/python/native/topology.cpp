// Converts topologies in both directions, as tuples in the order of coxswain/_types.py.

#include "coxswain/client/host_topology.hpp"
#include "python/native/arguments.hpp"
#include "python/native/bindings.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <variant>

namespace coxswain::python {
namespace {

using attributes = std::map<std::string, core::device_attribute::value_type>;

// The fields of a tuple, in order.
class fields_of {
 public:
  fields_of(char const* whose, py::handle given)
      : whose_{whose}, given_{py::reinterpret_borrow<py::tuple>(given)} {}

  // Throws TypeError.
  template <class Value>
  void take(char const* name, Value& into) {
    py::object const value = given_[at_++];
    try {
      into = py::cast<Value>(value);
    } catch (py::cast_error const&) {
      throw py::type_error(std::string{"the "} + name + " of a " + whose_ + " cannot be " +
                           py::cast<std::string>(py::repr(value)));
    }
  }

 private:
  char const* whose_;
  py::tuple given_;
  std::size_t at_{};
};

core::device device_of(py::handle given) {
  fields_of from{"device", given};
  core::device device;
  from.take("ordinal", device.ordinal);
  from.take("name", device.name);
  from.take("vendor", device.vendor);
  from.take("kind", device.kind);
  from.take("compute_capability", device.compute_capability);
  from.take("core_count", device.core_count);
  from.take("numa_node", device.numa_node);
  from.take("fabric_uuid", device.fabric_uuid);
  from.take("memory_bytes", device.memory_bytes);
  from.take("shared_memory_per_block_bytes", device.shared_memory_per_block_bytes);
  from.take("text", device.text);
  from.take("debug_text", device.debug_text);
  attributes attributes_given;
  from.take("attributes", attributes_given);
  for (auto& [name, value] : attributes_given)
    device.attributes.emplace_back(name, std::move(value));
  return device;
}

core::local_topology topology_of(py::handle given) {
  fields_of from{"topology", given};
  core::local_topology mine;
  py::list devices;
  from.take("devices", devices);
  for (py::handle const device : devices) mine.devices.push_back(device_of(device));
  from.take("boot_id", mine.boot_id);
  from.take("network_nodes", mine.network_nodes);
  from.take("partition_index", mine.partition_index);
  return mine;
}

py::object attribute(core::device_attribute::value_type const& value) {
  auto const* const given = std::get_if<std::string>(&value);
  return given != nullptr ? py::object{text(*given)} : py::cast(value);
}

py::tuple given(core::device const& device) {
  py::dict named;
  for (auto const& [name, value] : device.attributes) named[text(name)] = attribute(value);
  return py::make_tuple(device.ordinal, text(device.name), text(device.vendor), text(device.kind),
                        text(device.compute_capability), device.core_count, device.numa_node,
                        text(device.fabric_uuid), device.memory_bytes,
                        device.shared_memory_per_block_bytes, text(device.text),
                        text(device.debug_text), std::move(named), device.partition,
                        device.global_id);
}

py::tuple given(core::local_topology const& of) {
  py::list devices;
  for (auto const& device : of.devices) devices.append(given(device));
  py::list nodes;
  for (auto const& node : of.network_nodes) nodes.append(text(node));
  return py::make_tuple(py::tuple(devices), text(of.boot_id), py::tuple(nodes), of.partition_index);
}

}  // namespace

py::object given(core::global_topology const& whole) {
  py::list tasks;
  for (auto const& task : whole.tasks) tasks.append(given(task));
  return tasks;
}

template <>
struct argument_of<core::local_topology> {
  static core::local_topology from(place, py::handle passed) { return topology_of(passed); }
};

void bind_topology(py::module_& into, session_class& of) {
  offer(of, "exchange_topology",
        [](client& c, std::string const& platform, core::local_topology const& mine, timeout time) {
          return c.exchange_topology(platform, mine, time.value);
        });
  into.def("topology_of_this_host", [] { return given(local_topology_of_this_host()); });
}

}  // namespace coxswain::python
