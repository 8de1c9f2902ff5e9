// torchrun, and other launchers that set the variables that torch.distributed reads.

#include "coxswain/launch/launchers.hpp"

namespace coxswain::launch {
namespace {

constexpr std::uint16_t port_max = 65535;

sourced_value<std::string> address_of(variables const& env) {
  auto const port = env.number<std::uint16_t>("MASTER_PORT", 1);
  if (!port.problem().ok()) {
    return sourced_value<std::string>::wrong(port.problem().message(), port.from());
  }
  if (!port.is_there()) {
    return sourced_value<std::string>::wrong(
        "MASTER_PORT is not set; expected a port, since MASTER_ADDR is '" + env["MASTER_ADDR"] +
            "'.",
        "MASTER_ADDR");
  }
  auto const host = env["MASTER_ADDR"];
  auto const shown = host.find(':') == host.npos ? host + ":" : "[" + host + "]:";
  // torchrun itself listens at the port then, with the store of torch.distributed.
  bool const is_taken = env["TORCHELASTIC_USE_AGENT_STORE"] == "True";
  if (is_taken && *port.value() < port_max) {
    return {shown + std::to_string(*port.value() + 1),
            "MASTER_ADDR and MASTER_PORT + 1, because of TORCHELASTIC_USE_AGENT_STORE"};
  }
  return {shown + std::to_string(*port.value()), "MASTER_ADDR and MASTER_PORT"};
}

}  // namespace

bool has_torch(variables const& env) {
  return env.has("MASTER_ADDR") && env.has("RANK") && env.has("WORLD_SIZE") && !has_torchrun(env);
}

bool has_torchrun(variables const& env) {
  return env.has("TORCHELASTIC_RUN_ID") && env.has("MASTER_ADDR") && env.has("RANK");
}

parameters of_torch(variables const& env) {
  parameters found;
  found.address = address_of(env);
  found.task = env.number<std::uint32_t>("RANK");
  found.num_tasks = env.number<std::uint32_t>("WORLD_SIZE", 1);
  found.local_task = env.number<std::uint32_t>("LOCAL_RANK");
  found.attempt = env.number<std::uint64_t>("TORCHELASTIC_RESTART_COUNT");
  // torchrun sets "none" for a run without a name.
  if (env["TORCHELASTIC_RUN_ID"] != "none") found.job = env.text("TORCHELASTIC_RUN_ID");
  return found;
}

}  // namespace coxswain::launch
