#pragma once
// The environment in which a plain `torch.distributed.init_process_group()` of an unmodified
// program (env://) finds the coordinator, which speaks the protocol of torch's TCPStore, and the
// numbers of its process.
//
// With TORCHELASTIC_USE_AGENT_STORE process 0 starts no store of its own; torch 2.4 then wants
// TORCHELASTIC_RESTART_COUNT as well. What is set already stays, unless it is from a coxswain
// around this one.

#include "process/jax_environment.hpp"

#include <cstdint>
#include <string>

namespace coxswain::tools {

// The TCP address at which a coordinator serves TCPStore clients. Empty: there is none.
[[nodiscard]] std::string tcp_store_address(server::options const& of, listening const& at);

// The variables for it. None if it is empty or no TCP address, or if MASTER_ADDR is set.
[[nodiscard]] environment_variables torch_address_variables(std::string const& address);

// The variables for the numbers of a process.
[[nodiscard]] environment_variables torch_process_variables(std::uint32_t task,
                                                            std::uint32_t num_tasks,
                                                            std::uint32_t local_task);

}  // namespace coxswain::tools
