// TPU machines of a Kubernetes cluster (§19.1.10), whose webhook sets variables. Outside of
// one (7.25) only the metadata server knows, which is not queried here.

#include "coxswain/launch/launchers.hpp"

namespace coxswain::launch {
namespace {

constexpr std::uint16_t port_of_jax = 8482;
constexpr std::uint32_t slices_max = 10'000;
constexpr auto addresses_variable = "TPU_PROCESS_ADDRESSES";
constexpr auto names_variable = "TPU_WORKER_HOSTNAMES";

char const* workers_variable(variables const& env) {
  return env.has(addresses_variable) ? addresses_variable : names_variable;
}

sourced_value<std::string> address_of(variables const& env, std::string const& first_worker,
                                      std::string const& from) {
  std::string const name{"MEGASCALE_COORDINATOR_ADDRESS"};
  auto const several_slices = env[name];
  auto const host = host_of(several_slices.empty() ? first_worker : several_slices);
  return env.address_at(host, port_of_jax, several_slices.empty() ? from : name);
}

// Slices are numbered one after the other.
struct slices {
  explicit slices(variables const& env)
      : count{env.number<std::uint32_t>("MEGASCALE_NUM_SLICES", 1, slices_max)},
        id{env.number<std::uint32_t>("MEGASCALE_SLICE_ID", 0, slices_max - 1)} {}

  [[nodiscard]] status const& problem() const {
    return count.problem().ok() ? id.problem() : count.problem();
  }
  [[nodiscard]] std::string suffix(sourced_value<std::uint32_t> const& which) const {
    return which.is_there() ? " and " + which.from() : "";
  }

  sourced_value<std::uint32_t> count;
  sourced_value<std::uint32_t> id;
};

}  // namespace

bool has_tpu(variables const& env) {
  return env.has("TPU_WORKER_ID") && (env.has(addresses_variable) || env.has(names_variable));
}

parameters of_tpu(variables const& env) {
  std::string const from = workers_variable(env);
  auto const workers = parts_of(env[from]);
  auto const count = static_cast<std::uint32_t>(workers.size());
  parameters found;
  found.address = address_of(env, workers.front(), from);
  slices const all{env};
  auto const worker = env.number<std::uint32_t>("TPU_WORKER_ID", 0, count - 1);
  for (auto const& problem : {all.problem(), worker.problem()}) {
    if (problem.ok()) continue;
    found.task = found.num_tasks =
        sourced_value<std::uint32_t>::wrong(problem.message(), worker.from());
    return found;
  }
  auto const slice = all.id.value().value_or(0);
  found.num_tasks = {count * all.count.value().value_or(1), from + all.suffix(all.count)};
  found.task = {*worker.value() + slice * count, worker.from() + all.suffix(all.id)};
  return found;
}

}  // namespace coxswain::launch
