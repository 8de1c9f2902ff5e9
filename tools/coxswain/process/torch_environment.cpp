#include "process/torch_environment.hpp"

#include "process/job_registry.hpp"

#include "coxswain/net/endpoint.hpp"

#include <algorithm>
#include <iterator>

namespace coxswain::tools {
namespace {

// By the user or a launcher, and not by a coxswain whose process this is.
bool is_given(char const* name) { return is_set(name) && !is_set("COXSWAIN_TASK_ID"); }

environment_variables without_given(environment_variables all) {
  std::erase_if(all, [](auto const& one) { return is_given(one.first.c_str()); });
  return all;
}

}  // namespace

std::string tcp_store_address(server::options const& of, listening const& at) {
  if (!at.tcp_store.empty()) return at.tcp_store.front();
  std::vector<std::string> all = at.jax;
  if (of.core.credentials.empty() && of.tls.cert.empty()) {
    all.insert(all.end(), at.own.begin(), at.own.end());
  }
  auto const is_tcp = [](std::string const& one) { return !one.starts_with("unix:"); };
  auto const found = std::find_if(all.begin(), all.end(), is_tcp);
  return found == all.end() ? std::string{} : reachable(*found);
}

environment_variables torch_address_variables(std::string const& address) {
  if (address.empty() || is_given("MASTER_ADDR")) return {};
  auto const at = net::endpoint::parse(address).value();
  if (at.is_unix()) return {};
  return {{"MASTER_ADDR", at.host()},
          {"MASTER_PORT", std::to_string(at.port())},
          {"TORCHELASTIC_USE_AGENT_STORE", "True"},
          {"TORCHELASTIC_RESTART_COUNT", "0"}};
}

environment_variables torch_process_variables(std::uint32_t task, std::uint32_t num_tasks,
                                              std::uint32_t local_task) {
  return without_given({{"RANK", std::to_string(task)},
                        {"WORLD_SIZE", std::to_string(num_tasks)},
                        {"LOCAL_RANK", std::to_string(local_task)}});
}

}  // namespace coxswain::tools
