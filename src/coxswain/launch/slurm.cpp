// A Slurm step (semantics 7.22): what srun starts. The batch script is no step, and no task. The
// coordinator's host is the step's first.

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

finding<std::string> address_of(variables const& env, std::uint64_t job) {
  auto const hosts = env[hosts_variable];
  auto const host = first_host(hosts);
  if (host.empty()) {
    return finding<std::string>::wrong(
        refusal(hosts_variable, hosts, "a list of hosts, such as b12,b[014-016]"), hosts_variable);
  }
  return env.address_at(host, port_of_job(job), std::string{hosts_variable} + " and SLURM_JOB_ID");
}

// srun sets both; if they differ, somebody has set one of them by hand.
finding<std::uint32_t> num_tasks_of(variables const& env) {
  auto found = env.number<std::uint32_t>("SLURM_NTASKS", 1);
  auto const step = env["SLURM_STEP_NUM_TASKS"];
  if (step.empty() || step == env["SLURM_NTASKS"]) return found;
  return finding<std::uint32_t>::wrong(
      refusal("SLURM_NTASKS", env["SLURM_NTASKS"],
              "what SLURM_STEP_NUM_TASKS is, '" + step + "'; COXSWAIN_NUM_TASKS decides"),
      "SLURM_NTASKS");
}

}  // namespace

bool has_slurm(variables const& env) {
  return std::all_of(needed.begin(), needed.end(), [&](auto* name) { return env.has(name); });
}

parameters of_slurm(variables const& env) {
  parameters said;
  said.task = env.number<std::uint32_t>("SLURM_PROCID");
  said.num_tasks = num_tasks_of(env);
  said.local_task = env.number<std::uint32_t>("SLURM_LOCALID");
  said.attempt = env.number<std::uint64_t>("SLURM_RESTART_COUNT");
  auto const job = env.number<std::uint64_t>("SLURM_JOB_ID");
  if (!job.problem().ok()) {
    said.address = finding<std::string>::wrong(job.problem().message(), job.from());
    return said;
  }
  said.address = address_of(env, *job.value());
  said.job = {"slurm-" + std::to_string(*job.value()), job.from()};
  return said;
}

}  // namespace coxswain::launch
