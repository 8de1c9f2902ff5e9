#pragma once
// The environment in which a plain `jax.distributed.initialize()` of an unmodified program finds
// the coordinator, its process number and the number of processes.
//
// JAX takes the address from JAX_COORDINATOR_ADDRESS. Process 0 starts a service of its own, which
// stays unused: JAX_COORDINATOR_BIND_ADDRESS gives it a free port of this machine. JAX has no
// variables for the two numbers but those of launchers that it detects. We set Slurm's: they are
// plain numbers, and unlike Open MPI's they do not make MPI libraries look for a daemon. An
// existing SLURM_JOB_ID stays.

#include "coxswain/server/options.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::tools {

using environment_variables = std::vector<std::pair<std::string, std::string>>;

// Whether this process has the variable; an empty one counts as none.
[[nodiscard]] bool is_set(char const* name);

// Whether a coordinator serves JAX programs, which send no token and do not use TLS.
[[nodiscard]] bool serves_jax(server::options const& of);

// The coordinator's addresses (server::addresses) by purpose: --listen, --xla-listen, and those for
// TCPStore clients only.
struct listening {
  listening(server::options const& of, std::vector<std::string> const& addresses);

  std::vector<std::string> own;
  std::vector<std::string> jax;
  std::vector<std::string> tcp_store;
};

// The address for JAX programs. Empty: there is none.
[[nodiscard]] std::string jax_address(server::options const& of, listening const& at);

// The variables for `address`; if it is empty, they are to be unset.
[[nodiscard]] environment_variables jax_address_variables(std::string const& address);

// The variables for the numbers of a process. `local_task` counts the tasks of a machine: JAX gives
// each of them one GPU.
[[nodiscard]] environment_variables jax_process_variables(std::uint32_t task,
                                                          std::uint32_t num_tasks,
                                                          std::uint32_t local_task);

}  // namespace coxswain::tools
