// Building the global topology from those of all tasks (§13.2.3 to §13.2.6).

#include "coxswain/core/model/topology.hpp"

#include "coxswain/core/model/reasons.hpp"

#include "tests/core/cluster.hpp"

#include <boost/test/unit_test.hpp>

#include <limits>

namespace coxswain::core {
namespace {

// A task with devices 0, 1, ... on the machine; each is part of the fabric, if there is one.
local_topology node(std::string boot_id, std::size_t devices, std::string const& fabric = {}) {
  local_topology made;
  made.boot_id = std::move(boot_id);
  made.devices.resize(devices);
  for (std::size_t i = 0; i < devices; ++i) {
    made.devices[i].ordinal = static_cast<std::int32_t>(i);
    made.devices[i].fabric_uuid = fabric;
  }
  return made;
}

local_topology in_partition(std::uint32_t index, local_topology made) {
  made.partition_index = index;
  return made;
}

local_topology below(std::vector<std::string> nodes, local_topology made) {
  made.network_nodes = std::move(nodes);
  return made;
}

// "0:0 0:1 | 1:2": partition:id of each device, grouped by task.
std::string shape(global_topology const& whole) {
  std::string text;
  for (auto const& task : whole.tasks) {
    if (&task != &whole.tasks.front()) text += "| ";
    for (auto const& d : task.devices) {
      text += std::to_string(d.partition) + ":" + std::to_string(d.global_id) + " ";
    }
  }
  if (!text.empty()) text.pop_back();
  return text;
}

std::string built(std::vector<local_topology> by_task) {
  return shape(build_topology(std::move(by_task)).value());
}

gpu_topology gpu(std::vector<local_topology> by_task) {
  return gpu_topology_of(build_topology(std::move(by_task)).value());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(topology)

BOOST_AUTO_TEST_CASE(build_global_topology_keeps_what_tasks_brought) {
  auto first = node("a", 2);
  auto second = node("b", 2);
  first.devices[1].name = "GPU 1";
  first.devices[1].attributes = {{"cores", std::int64_t{108}}};

  auto const whole = build_topology({first, second}).value();

  BOOST_TEST(shape(whole) == "0:0 0:1 | 1:2 1:3");
  first.devices[1].global_id = 1;
  BOOST_TEST((whole.tasks[0] == first));
}

BOOST_AUTO_TEST_CASE(build_global_topology_with_fabric_uuid_is_one_partition) {
  BOOST_TEST(built({node("a", 2, "f"), node("b", 2, "f")}) == "0:0 0:1 | 0:2 0:3");
}

BOOST_AUTO_TEST_CASE(build_global_topology_multiple_fabric_uuid) {
  BOOST_TEST(built({node("a", 1, "f"), node("b", 1, "f"), node("c", 1, "g"), node("d", 1, "g")}) ==
             "0:0 | 0:1 | 1:2 | 1:3");
}

BOOST_AUTO_TEST_CASE(one_device_without_a_fabric_makes_the_boot_ids_count) {
  auto mixed = node("a", 2, "f");
  mixed.devices[1].fabric_uuid.clear();
  BOOST_TEST(built({mixed, node("b", 1, "f"), node("a", 1, "f")}) == "0:0 0:1 | 1:3 | 0:2");
}

// The UUID that NVML reports for a device outside any fabric.
BOOST_AUTO_TEST_CASE(a_fabric_of_zeros_is_none) {
  std::string const zeros{"00000000-0000-0000-0000-000000000000/0"};
  BOOST_TEST(built({node("a", 1, zeros), node("b", 1, zeros)}) == "0:0 | 1:1");
}

BOOST_AUTO_TEST_CASE(a_task_may_have_devices_in_two_fabrics) {
  auto both = node("a", 3, "f");
  both.devices[1].fabric_uuid = "g";
  BOOST_TEST(built({both}) == "0:0 1:2 0:1");
}

BOOST_AUTO_TEST_CASE(build_global_topology_with_explicit_slice_indices_uses_them_as_given) {
  BOOST_TEST(built({in_partition(1, node("a", 2)), in_partition(0, node("a", 2))}) ==
             "1:2 1:3 | 0:0 0:1");
  BOOST_TEST(built({in_partition(9, node("a", 1)), in_partition(4, node("b", 1, "f"))}) ==
             "9:1 | 4:0");
}

BOOST_AUTO_TEST_CASE(some_with_and_some_without_an_index_are_distinguished) {
  auto const refused =
      build_topology({node("a", 1), in_partition(0, node("b", 1)), node("c", 1), node("d", 1)});
  BOOST_TEST(refused.error() == fail<&reasons::partly_partitioned>("1", "0,2-3"));
}

BOOST_AUTO_TEST_CASE(partitions_are_numbered_in_the_order_of_the_network_from_the_top) {
  BOOST_TEST(built({below({"spine", "pod-2"}, node("a", 1)),
                    below({"spine", "pod-1"}, node("b", 1)), below({"spine"}, node("c", 1)),
                    below({"spine", "pod-1"}, node("b", 1))}) == "2:3 | 1:1 | 0:0 | 1:2");
}

BOOST_AUTO_TEST_CASE(a_single_task_is_numbered_by_the_same_rules) {
  BOOST_TEST(built({node("a", 3)}) == "0:0 0:1 0:2");
  BOOST_TEST(built({node("a", 0)}) == "");
  BOOST_TEST(built({node("a", 0), node("b", 1)}) == "| 0:0");
}

BOOST_AUTO_TEST_CASE(what_a_task_says_of_ids_is_ignored) {
  auto mine = node("a", 2);
  mine.devices[0].global_id = 700;
  mine.devices[1].partition = 3;
  BOOST_TEST(built({mine}) == "0:0 0:1");
  BOOST_TEST(difference(mine, node("a", 2)) == "");
}

BOOST_AUTO_TEST_CASE(a_difference_is_named) {
  auto const before = node("a", 2);
  auto const changed = [&](auto change) {
    auto now = before;
    change(now);
    return difference(before, now);
  };

  BOOST_TEST(difference(before, before) == "");
  BOOST_TEST(changed([](auto& t) { t.boot_id = "b"; }) == "its boot id changed from 'a' to 'b'");
  BOOST_TEST(changed([](auto& t) {
               t.network_nodes = {"s", "p"};
             }) == "its network nodes changed from '' to 's,p'");
  BOOST_TEST(changed([](auto& t) { t.partition_index = 2; }) ==
             "its partition index changed from none to 2");
  BOOST_TEST(changed([](auto& t) { t.devices.pop_back(); }) ==
             "its number of devices changed from 2 to 1");
  BOOST_TEST(changed([](auto& t) { t.devices[1].ordinal = 7; }) ==
             "device 1: the ordinal changed from 1 to 7");
}

BOOST_AUTO_TEST_CASE(what_only_describes_a_device_makes_no_difference) {
  auto const before = node("a", 1);
  auto const differs = [&](auto change) {
    auto now = before;
    change(now.devices[0]);
    return !difference(before, now).empty();
  };

  BOOST_TEST(differs([](auto& d) { d.name = "x"; }));
  BOOST_TEST(differs([](auto& d) { d.vendor = "x"; }));
  BOOST_TEST(differs([](auto& d) { d.kind = "x"; }));
  BOOST_TEST(differs([](auto& d) { d.core_count = 1; }));
  BOOST_TEST(differs([](auto& d) { d.compute_capability = "9.0"; }));
  BOOST_TEST(!differs([](auto& d) { d.text = "x"; }));
  BOOST_TEST(!differs([](auto& d) { d.debug_text = "x"; }));
  BOOST_TEST(!differs([](auto& d) { d.numa_node = 1; }));
  BOOST_TEST(!differs([](auto& d) { d.memory_bytes = 1; }));
  BOOST_TEST(!differs([](auto& d) { d.attributes = {{"a", true}}; }));
}

BOOST_AUTO_TEST_CASE(an_attribute_that_is_no_number_equals_itself) {
  device_attribute const watts{"watts", std::numeric_limits<float>::quiet_NaN()};

  BOOST_TEST((watts == device_attribute{watts}));
  BOOST_TEST((watts != device_attribute{"watts", 1.5F}));
  BOOST_TEST((watts != device_attribute{"watts", true}));
  BOOST_TEST((watts != device_attribute{"volts", watts.value}));
  BOOST_TEST((device_attribute{"watts", 1.5F} == device_attribute{"watts", 1.5F}));
}

BOOST_AUTO_TEST_CASE(a_topology_costs_what_its_texts_and_numbers_take) {
  auto const bare = bytes_of(node("a", 1));
  auto longer = node("a", 1);
  longer.devices[0].attributes.push_back({"n", std::string(1'000, 't')});
  auto numbers = node("a", 1);
  numbers.devices[0].attributes.push_back({"n", std::vector<std::int64_t>(100)});

  BOOST_TEST(bytes_of(longer) >= bare + 1'001);
  BOOST_TEST(bytes_of(numbers) >= bare + 1'001);
  BOOST_TEST(bytes_of(below({std::string(500, 'n'), "m"}, node("a", 1))) >= bare + 501);
}

BOOST_AUTO_TEST_CASE(build_gpu_topology) {
  BOOST_TEST((gpu({node("a", 2), node("b", 2)}) == gpu_topology{2, 1, 2}));
  BOOST_TEST((gpu({node("a", 2, "f"), node("b", 2, "f")}) == gpu_topology{1, 2, 2}));
  BOOST_TEST((gpu({node("a", 0)}) == gpu_topology{-1, -1, -1}));
}

BOOST_AUTO_TEST_CASE(build_gpu_topology_with_different_num_hosts_per_slice) {
  BOOST_TEST(
      (gpu({node("a", 2, "f"), node("b", 2, "f"), node("c", 2, "g")}) == gpu_topology{-1, -1, -1}));
}

BOOST_AUTO_TEST_CASE(build_gpu_topology_with_different_num_devices_per_host) {
  BOOST_TEST((gpu({node("a", 2), node("b", 1)}) == gpu_topology{-1, -1, -1}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::core
