// A Slurm step (§19.1.8): what srun starts. The batch script is no step, and no task. The
// coordinator's host is the step's first. Where mpiexec of MPICH or Intel MPI starts processes in a
// Slurm job, Slurm's numbers are those of mpiexec's proxies, one for each host.

#include "coxswain/launch/launchers.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace coxswain::launch {
namespace {

constexpr auto hosts_variable = "SLURM_STEP_NODELIST";
constexpr std::array needed{"SLURM_JOB_ID", hosts_variable, "SLURM_NTASKS", "SLURM_PROCID",
                            "SLURM_LOCALID"};

// "rack[2-3,7]n[01-16]-ib,login" begins with "rack2n01-ib". Empty: a bracket is not closed, or
// there is no name.
std::string first_host(std::string_view list) {
  std::string host;
  while (!list.empty() && list.front() != ',') {
    if (list.front() != '[') {
      auto const plain = std::min(list.find_first_of(",["), list.size());
      host += list.substr(0, plain);
      list.remove_prefix(plain);
      continue;
    }
    auto const closed = list.find(']');
    if (closed == list.npos) return {};
    auto const numbers = list.substr(1, closed - 1);
    host += numbers.substr(0, numbers.find_first_of(",-"));
    list.remove_prefix(closed + 1);
  }
  return host;
}

sourced_value<std::string> address_of(variables const& env, std::string const& variable,
                                      std::uint64_t job) {
  auto const hosts = env[variable];
  auto const host = first_host(hosts);
  if (host.empty()) {
    return sourced_value<std::string>::wrong(
        refusal(variable, hosts, "a list of hosts, such as b12,b[014-016]"), variable);
  }
  return env.address_at(host, port_of_job(job), variable + " and SLURM_JOB_ID");
}

// Address, job and attempt. `variable` holds the hosts.
parameters place_of(variables const& env, std::string const& variable) {
  parameters found;
  found.attempt = env.number<std::uint64_t>("SLURM_RESTART_COUNT");
  auto const job = env.number<std::uint64_t>("SLURM_JOB_ID");
  if (!job.problem().ok()) {
    found.address = sourced_value<std::string>::wrong(job.problem().message(), job.from());
    return found;
  }
  found.address = address_of(env, variable, *job.value());
  found.job = {"slurm-" + std::to_string(*job.value()), job.from()};
  return found;
}

// srun sets both; if they differ, one of them was set by hand.
sourced_value<std::uint32_t> num_tasks_of(variables const& env) {
  auto found = env.number<std::uint32_t>("SLURM_NTASKS", 1);
  auto const step = env["SLURM_STEP_NUM_TASKS"];
  if (step.empty() || step == env["SLURM_NTASKS"]) return found;
  return sourced_value<std::uint32_t>::wrong(
      refusal("SLURM_NTASKS", env["SLURM_NTASKS"],
              "the value of SLURM_STEP_NUM_TASKS, '" + step + "'; COXSWAIN_NUM_TASKS decides"),
      "SLURM_NTASKS");
}

}  // namespace

bool has_slurm(variables const& env) {
  return !has_hydra(env) &&
         std::all_of(needed.begin(), needed.end(), [&](auto* name) { return env.has(name); });
}

parameters of_slurm(variables const& env) {
  auto found = place_of(env, hosts_variable);
  found.task = env.number<std::uint32_t>("SLURM_PROCID");
  found.num_tasks = num_tasks_of(env);
  found.local_task = env.number<std::uint32_t>("SLURM_LOCALID");
  return found;
}

bool has_slurm_job(variables const& env) {
  return env.has("SLURM_JOB_ID") && env.has("SLURM_JOB_NODELIST");
}

parameters of_slurm_job(variables const& env) { return place_of(env, "SLURM_JOB_NODELIST"); }

}  // namespace coxswain::launch
