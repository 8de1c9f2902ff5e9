// The keys of JAX's topologies, as its generations name them.

#include "coxswain/xla/topology_key.hpp"

#include <boost/test/unit_test.hpp>

namespace coxswain::xla {

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

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::xla
