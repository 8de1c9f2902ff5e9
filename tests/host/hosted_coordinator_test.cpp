#include "coxswain/host/hosted_coordinator.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/client/blocking_client.hpp"

#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace coxswain::test {
namespace {

// For one test at a time.
struct variable {
  variable(char const* variable_name, std::string const& value) : name{variable_name} {
    ::setenv(name, value.c_str(), 1);
  }
  ~variable() { ::unsetenv(name); }
  variable(variable const&) = delete;
  variable& operator=(variable const&) = delete;

  char const* name;
};

client_options task_of_two(std::uint32_t task, std::string const& address) {
  client_options options{address, task_id{task}};
  options.num_tasks = 2;
  return options;
}

std::string socket_address() { return "unix:/tmp/coxswain-hosted-" + std::to_string(::getpid()); }

std::vector<std::string> listeners_at(std::string const& address) {
  return hosting_options(task_of_two(0, address)).listen;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hosted_coordinator_test)

BOOST_AUTO_TEST_CASE(the_process_of_task_0_is_the_coordinator_of_all) {
  auto take_part = [](std::uint32_t task) {
    auto const me = task_of_two(task, socket_address());
    hosted_coordinator coordinator{me};
    BOOST_TEST((coordinator.get() != nullptr) == (task == 0));
    blocking_client job{me};
    job.join();
    job.barrier("all");
    job.leave();
  };
  std::thread other{take_part, 1};
  take_part(0);
  other.join();
}

BOOST_AUTO_TEST_CASE(the_coordinator_has_the_configured_identity) {
  auto me = task_of_two(0, "b12:8476");
  me.job = "night";
  me.attempt = 3;
  me.token = "secret";

  auto const core = hosting_options(me).core;

  BOOST_TEST(core.num_tasks == 2u);
  BOOST_TEST(core.job == "night");
  BOOST_TEST(core.attempt.value() == 3u);
  BOOST_TEST(core.credentials.size() == 1u);
  BOOST_TEST(core.credentials.front().token == "secret");
  BOOST_TEST((core.credentials.front().as == core::role::worker));
}

BOOST_AUTO_TEST_CASE(a_public_address_listens_on_its_port) {
  BOOST_TEST(listeners_at("b12:8476") == std::vector<std::string>{":8476"});
  BOOST_TEST(listeners_at("[2001:db8::1]:8476") == std::vector<std::string>{":8476"});
}

BOOST_AUTO_TEST_CASE(a_loopback_address_listens_on_loopback) {
  BOOST_TEST(listeners_at("127.0.0.1:8476") == std::vector<std::string>{"127.0.0.1:8476"});
  BOOST_TEST(listeners_at("unix:/tmp/c") == std::vector<std::string>{"unix:/tmp/c"});
}

BOOST_AUTO_TEST_CASE(the_listen_variable_overrides_the_address) {
  variable const jax{"JAX_COORDINATOR_BIND_ADDRESS", "[::]:99"};
  BOOST_TEST(listeners_at("b12:8476") == std::vector<std::string>{"[::]:99"});

  variable const ours{"COXSWAIN_LISTEN", "127.0.0.1:0,unix:/tmp/c"};
  BOOST_TEST(listeners_at("b12:8476") == (std::vector<std::string>{"127.0.0.1:0", "unix:/tmp/c"}));
}

BOOST_AUTO_TEST_CASE(a_public_listener_needs_a_token) {
  auto const me = task_of_two(0, "b12:0");
  BOOST_CHECK_EXCEPTION(hosted_coordinator{me}, error,
                        [](error const& e) { return e.code() == errc::failed_precondition; });

  auto options = hosting_options(me);
  options.insecure = true;
  hosted_coordinator open{me, options};
  BOOST_TEST(open.get() != nullptr);
}

BOOST_AUTO_TEST_CASE(a_running_coordinator_is_used) {
  auto me = task_of_two(0, socket_address() + "-there");
  me.num_tasks = 1;
  hosted_coordinator first{me};

  hosted_coordinator second{me};

  BOOST_TEST(first.get() != nullptr);
  BOOST_TEST(second.get() == nullptr);
  blocking_client job{me};
  job.join();
  job.leave();
}

BOOST_AUTO_TEST_CASE(a_running_coordinator_of_another_job_is_reported) {
  auto me = task_of_two(0, socket_address() + "-refusing");
  hosted_coordinator const first{me};
  me.job = "another";

  BOOST_CHECK_EXCEPTION(hosted_coordinator{me}, error,
                        [](error const& e) { return e.code() == errc::failed_precondition; });
}

BOOST_AUTO_TEST_CASE(the_number_of_tasks_is_required) {
  client_options const me{"127.0.0.1:0", task_id{0}};
  BOOST_CHECK_EXCEPTION(hosted_coordinator{me}, error,
                        [](error const& e) { return e.code() == errc::invalid_argument; });
  // Tasks that do not host need none of this.
  client_options const other{"127.0.0.1:0", task_id{1}};
  BOOST_TEST(hosted_coordinator{other}.get() == nullptr);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
