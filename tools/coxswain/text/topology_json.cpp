#include "options/exit_code.hpp"
#include "text/json.hpp"
#include "text/topology_text.hpp"

#include <fmt/format.h>
#include <boost/json/parse.hpp>
#include <boost/json/value_from.hpp>
#include <boost/json/value_to.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <variant>

namespace coxswain::tools {
namespace {

// A field of a device in both directions. Throws boost::system::system_error: the value is of
// another kind or does not fit.
struct field {
  std::string_view name;
  void (*read)(core::device& into, json::value const& from);
  json::value (*written)(core::device const& of);
};

template <auto Member>
constexpr field plain(std::string_view name) {
  return {name,
          [](core::device& into, json::value const& from) {
            using type = std::remove_reference_t<decltype(into.*Member)>;
            into.*Member = json::value_to<type>(from);
          },
          [](core::device const& of) { return json::value_from(of.*Member); }};
}

core::device_attribute::value_type attribute_in(json::value const& from) {
  if (from.is_string()) return json::value_to<std::string>(from);
  if (from.is_bool()) return from.as_bool();
  if (from.is_double()) return static_cast<float>(from.as_double());
  if (from.is_array()) return json::value_to<std::vector<std::int64_t>>(from);
  return json::value_to<std::int64_t>(from);
}

json::value written_attributes(core::device const& of) {
  json::object all;
  for (auto const& one : of.attributes) {
    all[one.name] =
        std::visit([](auto const& value) { return json::value_from(value); }, one.value);
  }
  return all;
}

void read_attributes(core::device& into, json::value const& from) {
  for (auto const& [name, value] : from.as_object()) {
    into.attributes.emplace_back(std::string{name}, attribute_in(value));
  }
}

constexpr std::array fields{
    plain<&core::device::ordinal>("ordinal"),
    plain<&core::device::name>("name"),
    plain<&core::device::vendor>("vendor"),
    plain<&core::device::kind>("kind"),
    plain<&core::device::compute_capability>("compute_capability"),
    plain<&core::device::core_count>("core_count"),
    field{"numa_node",
          [](core::device& into, json::value const& from) {
            if (!from.is_null()) into.numa_node = json::value_to<std::int32_t>(from);
          },
          [](core::device const& of) {
            return of.numa_node ? json::value(*of.numa_node) : json::value();
          }},
    plain<&core::device::fabric_uuid>("fabric_uuid"),
    plain<&core::device::memory_bytes>("memory_bytes"),
    plain<&core::device::shared_memory_per_block_bytes>("shared_memory_per_block_bytes"),
    plain<&core::device::text>("text"),
    plain<&core::device::debug_text>("debug_text"),
    field{"attributes", read_attributes, written_attributes},
};

// What is wrong with it; nothing.
char const* read_field(core::device& into, std::string_view name, json::value const& from) {
  auto const* const known = std::find_if(fields.begin(), fields.end(),
                                         [name](field const& one) { return one.name == name; });
  if (known == fields.end()) return "a device has no such field";
  try {
    known->read(into, from);
  } catch (boost::system::system_error const&) {
    return "its value has the wrong type, or is too large";
  }
  return nullptr;
}

core::device device_in(json::value const& from, std::string const& where) {
  core::device one;
  for (auto const& [name, value] : from.as_object()) {
    if (auto const* const problem = read_field(one, name, value)) {
      throw program_error{exit_code::usage, fmt::format("{}: its field '{}': {}", where,
                                                        std::string_view{name}, problem)};
    }
  }
  return one;
}

json::value written(core::local_topology const& t, std::size_t task) {
  json::array devices;
  for (auto const& d : t.devices) {
    json::object one{{"global_id", d.global_id}, {"partition", d.partition}};
    for (auto const& f : fields) one[f.name] = f.written(d);
    devices.push_back(std::move(one));
  }
  return json::object{{"task", task},
                      {"boot_id", t.boot_id},
                      {"network_nodes", json::value_from(t.network_nodes)},
                      {"devices", std::move(devices)}};
}

}  // namespace

std::vector<core::device> devices_in(std::string_view content, std::string const& file) {
  auto const where = fmt::format("--devices: '{}'", file);
  boost::system::error_code problem;
  auto const parsed = json::parse(content, problem);
  if (problem) {
    throw program_error{exit_code::usage,
                        fmt::format("{} is not JSON: {}", where, problem.message())};
  }
  auto const* const all = parsed.if_array();
  if (all == nullptr) {
    throw program_error{exit_code::usage, where + " is not an array of devices"};
  }
  std::vector<core::device> devices;
  for (auto const& one : *all) {
    auto const which = fmt::format("{}: device {}", where, devices.size());
    if (!one.is_object()) throw program_error{exit_code::usage, which + " is not an object"};
    devices.push_back(device_in(one, which));
  }
  return devices;
}

std::string topology_json(core::global_topology const& whole) {
  json::array tasks;
  for (std::size_t i = 0; i < whole.tasks.size(); ++i) tasks.push_back(written(whole.tasks[i], i));
  return serialized(tasks);
}

}  // namespace coxswain::tools
