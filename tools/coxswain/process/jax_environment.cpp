#include "process/jax_environment.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>

namespace coxswain::tools {
namespace {

bool is_unix(std::string const& address) { return address.starts_with("unix:"); }

// gRPC sends CONNECT through a proxy for TCP addresses, so a Unix socket is preferred where it was
// made for JAX.
std::string preferred(std::vector<std::string> const& listeners, bool prefers_unix) {
  auto const is_wanted = [&](std::string const& one) { return is_unix(one) == prefers_unix; };
  auto const found = std::find_if(listeners.begin(), listeners.end(), is_wanted);
  return found == listeners.end() ? listeners.front() : *found;
}

}  // namespace

bool is_set(char const* name) {
  auto const* const value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

bool serves_jax(server::options const& of) {
  bool const is_open = of.core.credentials.empty() && of.tls.cert.empty();
  return is_open || !of.xla.listen.empty();
}

listening::listening(server::options const& of, std::vector<std::string> const& addresses)
    : own{addresses} {
  auto const store = own.end() - static_cast<std::ptrdiff_t>(of.tcp_store_listen.size());
  tcp_store.assign(store, own.end());
  auto const own_end = own.begin() + static_cast<std::ptrdiff_t>(of.listen.size());
  jax.assign(own_end, store);
  own.erase(own_end, own.end());
}

std::string jax_address(server::options const& of, listening const& at) {
  if (!at.jax.empty()) return preferred(at.jax, true);
  return serves_jax(of) ? preferred(at.own, false) : std::string{};
}

environment_variables jax_address_variables(std::string const& address) {
  return {{"JAX_COORDINATOR_ADDRESS", address},
          {"JAX_COORDINATOR_BIND_ADDRESS", address.empty() ? "" : "127.0.0.1:0"}};
}

environment_variables jax_process_variables(std::uint32_t task, std::uint32_t num_tasks,
                                            std::uint32_t local_task) {
  environment_variables all{{"SLURM_NTASKS", std::to_string(num_tasks)},
                            {"SLURM_PROCID", std::to_string(task)},
                            {"SLURM_LOCALID", std::to_string(local_task)},
                            // These would contradict them.
                            {"SLURM_STEP_NUM_TASKS", ""},
                            {"OMPI_MCA_orte_hnp_uri", ""}};
  // Without these JAX does not detect Slurm. It does not use their values.
  for (auto const& [name, value] :
       {std::pair{"SLURM_JOB_ID", "0"}, std::pair{"SLURM_STEP_NODELIST", "localhost"}}) {
    if (!is_set(name)) all.emplace_back(name, value);
  }
  return all;
}

}  // namespace coxswain::tools
