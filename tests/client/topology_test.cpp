// The topology exchange over real sockets, and the local topology of a machine.

#include "coxswain/client/blocking_client.hpp"
#include "coxswain/client/host_topology.hpp"
#include "coxswain/server/background_server.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <future>

namespace coxswain::test {
namespace {

server::options for_two() {
  server::options options;
  options.core.num_tasks = 2;
  options.linger = 1s;
  return options;
}

class job {
 protected:
  [[nodiscard]] client_options options(std::uint32_t task) const {
    return client_options{coordinator.addresses().front(), task_id{task}};
  }

  void join_both() {
    auto joining = std::async(std::launch::async, [this] { return a.join(); });
    b.join();
    joining.get();
  }

  server::background_server coordinator{for_two()};
  blocking_client a{options(0)};
  blocking_client b{options(1)};
};

core::local_topology two_devices(std::string boot_id) {
  core::local_topology mine;
  mine.boot_id = std::move(boot_id);
  mine.devices.resize(2);
  mine.devices[0].name = "first of " + mine.boot_id;
  mine.devices[1].attributes = {{"coords", std::vector<std::int64_t>{0, 1}}};
  return mine;
}

template <class Call>
error failure_of(Call call) {
  try {
    call();
  } catch (error const& e) {
    return e;
  }
  return error{status{}};
}

constexpr char const* nodes_variable = "XLA_DISTRIBUTED_TOPOLOGY_NETWORK_NODES";

class environment {
 protected:
  environment() { ::unsetenv(nodes_variable); }
  ~environment() { ::unsetenv(nodes_variable); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(topology_test, job)

BOOST_AUTO_TEST_CASE(exchange_topology_of_two_threads) {
  join_both();
  auto first = std::async(std::launch::async,
                          [this] { return a.exchange_topology("gpu", two_devices("a"), 60s); });
  auto const second = b.exchange_topology("gpu", two_devices("b"), 60s);

  BOOST_TEST((first.get() == second));
  BOOST_TEST_REQUIRE(second.tasks.size() == 2u);
  BOOST_TEST(second.tasks[1].devices[0].name == "first of b");
  BOOST_TEST(second.tasks[1].devices[0].partition == 1u);
  BOOST_TEST(second.tasks[1].devices[1].global_id == 3u);
  BOOST_TEST((second.tasks[1].devices[1].attributes == two_devices("b").devices[1].attributes));
  BOOST_TEST((a.exchange_topology("gpu", two_devices("a"), 0s) == second));
  BOOST_TEST((core::gpu_topology_of(second) == core::gpu_topology{2, 1, 2}));
}

BOOST_AUTO_TEST_CASE(a_timed_out_exchange_has_the_details_of_a_barrier) {
  join_both();
  auto const late = failure_of([this] { a.exchange_topology("gpu", {}, 20ms); });
  BOOST_TEST(late.code() == errc::deadline_exceeded);
  BOOST_TEST_REQUIRE(late.details().has_value());
  BOOST_TEST(late.details()->missing == "1");
}

BOOST_AUTO_TEST_CASE(a_too_large_topology_is_refused_before_sending) {
  join_both();
  auto large = two_devices("a");
  large.devices[0].debug_text.assign(5'000'000, 't');

  auto const refused = failure_of([&] { a.exchange_topology("gpu", large); });

  BOOST_TEST(refused.code() == errc::resource_exhausted);
  BOOST_TEST(refused.outcome().message().find("request_bytes_max is 4194304") != std::string::npos);
  BOOST_TEST(a.increment("still here") == 1);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(host_topology_test, environment)

BOOST_AUTO_TEST_CASE(get_network_nodes) {
  BOOST_TEST((network_nodes("spine,pod,rack") == std::vector<std::string>{"spine", "pod", "rack"}));
  BOOST_TEST((network_nodes("spine") == std::vector<std::string>{"spine"}));
  BOOST_TEST((network_nodes("") == std::vector<std::string>{}));
}

BOOST_AUTO_TEST_CASE(an_unnamed_network_level_keeps_its_position) {
  BOOST_TEST((network_nodes("spine,,rack") == std::vector<std::string>{"spine", "", "rack"}));
  BOOST_TEST((network_nodes(",pod,") == std::vector<std::string>{"", "pod", ""}));
}

BOOST_AUTO_TEST_CASE(the_local_topology_has_boot_id_and_network) {
  BOOST_TEST(local_topology_of_this_host().network_nodes.empty());
  ::setenv(nodes_variable, "pod,rack", 1);

  auto const here = local_topology_of_this_host();

  BOOST_TEST(here.boot_id.size() == 36u);
  BOOST_TEST((here.boot_id == local_topology_of_this_host().boot_id));
  BOOST_TEST((here.network_nodes == std::vector<std::string>{"pod", "rack"}));
  BOOST_TEST(here.devices.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
