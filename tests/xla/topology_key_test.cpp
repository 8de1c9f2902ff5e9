// The keys of JAX's topologies, as its generations name them, and their values.

#include "coxswain/xla/topology_key.hpp"

#include "tests/xla/topologies.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace coxswain::xla {
namespace {

using test::global_topology;
using test::local_topology;

constexpr auto of_process = "cpu:local_topology/cpu/1";
constexpr auto of_job = "gpu:global_topology/cuda";

BOOST_AUTO_TEST_SUITE(topology_key_test)

BOOST_AUTO_TEST_CASE(topologies_of_all_platforms_are_recognised) {
  for (auto const* const name :
       {"cpu:local_topology/cpu/0", "cpu:local_topology/cpu/4095", "cpu:global_topology/cpu",
        "gpu:local_topology/cuda/3", "gpu:global_topology/rocm", "METAL:local_topology/METAL/1"}) {
    BOOST_TEST(is_topology_key(name), name);
  }
}

BOOST_AUTO_TEST_CASE(other_keys_are_not_topologies) {
  for (auto const* const name :
       {"", ":", "cpu:", "local_topology/cpu/0", "global_topology/cpu", ":global_topology/cpu",
        "cpu:global_topology", "cpu:global_topology/", "cpu:global_topology/cpu/0",
        "cpu:local_topology/cpu", "cpu:local_topology/cpu/", "cpu:local_topology/cpu/x",
        "cpu:local_topology/cpu/1/2", "cpu:local_topology//1", "cpu:gloo/0,2048/0",
        "my/cpu:local_topology/cpu/0/more"}) {
    BOOST_TEST(!is_topology_key(name), name);
  }
}

BOOST_AUTO_TEST_CASE(a_process_has_the_same_devices_on_another_machine) {
  auto const before = local_topology(1, "boot a", 2);

  for (auto const& same : {before, local_topology(1, "boot b", 2), local_topology(1, "", 2)}) {
    BOOST_TEST(have_same_devices(of_process, before, same));
    BOOST_TEST(have_same_devices(of_process, same, before));
  }
  for (auto const& other :
       {local_topology(2, "boot a", 2), local_topology(1, "boot a", 1),
        local_topology(1, "boot a", 3), local_topology(1, "boot a", 2) + before.substr(0, 2),
        before.substr(0, before.size() - 1), std::string{}}) {
    BOOST_TEST(!have_same_devices(of_process, before, other));
    BOOST_TEST(!have_same_devices(of_process, other, before));
  }
}

BOOST_AUTO_TEST_CASE(a_job_has_the_same_devices_on_other_machines) {
  auto const a = local_topology(0, "boot a", 2);
  auto const b = local_topology(1, "boot a", 1);
  auto const before = global_topology({a, b});

  BOOST_TEST(have_same_devices(of_job, before, before));
  BOOST_TEST(
      have_same_devices(of_job, before, global_topology({a, local_topology(1, "boot b", 1)})));
  for (auto const& other :
       {global_topology({a, a}), global_topology({a}), global_topology({b, a}),
        global_topology({a, local_topology(1, "boot a", 2)}), before + '\x18' + '\x01'}) {
    BOOST_TEST(!have_same_devices(of_job, before, other));
  }
}

BOOST_AUTO_TEST_CASE(bytes_that_are_no_topology_are_the_same_if_they_are_equal) {
  for (std::string const text : {"", "boot 1", "\x12", "\x12\x7f", "\xff\xff"}) {
    BOOST_TEST(have_same_devices(of_process, text, text));
    BOOST_TEST(have_same_devices(of_job, text, text));
    BOOST_TEST(!have_same_devices(of_process, text, text + "x"));
    BOOST_TEST(!have_same_devices(of_job, text, text + "x"));
  }
}

BOOST_AUTO_TEST_CASE(the_error_counts_the_devices) {
  auto const a = local_topology(0, "boot a", 2);
  auto const b = local_topology(1, "boot a", 1);

  BOOST_TEST(other_devices(of_process, a, b) ==
             "key cpu:local_topology/cpu/1 already exists. The process before this one had other "
             "devices: 2, this one has 1. Start it with the same devices, or the whole job with a "
             "new coordinator.");
  auto const text = other_devices(of_job, global_topology({a, b}), global_topology({b, b}));
  BOOST_TEST(text.find("had other devices: 3, this one has 2.") != text.npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace coxswain::xla
