#include "coxswain/launch/detection.hpp"

#include "coxswain/launch/launchers.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <utility>

namespace coxswain::launch {
namespace {

struct launcher {
  char const* name;
  bool (*is_present)(variables const&);
  parameters (*read)(variables const&);
};

// In JAX's order, preceded by launchers that run inside another one. Variables set by hand precede
// launchers that know only a part, and Kubernetes' own numbering.
constexpr std::array launchers{
    launcher{"torchrun", has_torchrun, of_torch},
    launcher{"aichor", has_aichor, of_aichor},
    launcher{"ompi", has_open_mpi, of_open_mpi},
    launcher{"slurm", has_slurm, of_slurm},
    launcher{"gketpu", has_tpu, of_tpu},
    launcher{"torch", has_torch, of_torch},
    launcher{"pmi", has_pmi, of_pmi},
    launcher{"pmix", has_pmix, of_pmix},
    launcher{"pbs", has_pbs, of_pbs},
    launcher{"lsf", has_lsf, of_lsf},
    launcher{"kubernetes", has_kubernetes, of_kubernetes},
};

parameters of_coxswain(variables const& env) {
  parameters found;
  found.address = env.text("COXSWAIN_ADDRESS");
  found.job = env.text("COXSWAIN_JOB");
  found.attempt = env.number<std::uint64_t>("COXSWAIN_ATTEMPT");
  found.task = env.number<std::uint32_t>("COXSWAIN_TASK_ID");
  found.num_tasks = env.number<std::uint32_t>("COXSWAIN_NUM_TASKS", 1);
  found.listen = env.text("COXSWAIN_LISTEN");
  return found;
}

parameters of_jax(variables const& env) {
  parameters found;
  std::string const name{"JAX_COORDINATOR_ADDRESS"};
  if (env.has(name)) found.address = variables::address(env[name], name, env[name]);
  found.task = env.number<std::uint32_t>("JAX_PROCESS_ID");
  found.num_tasks = env.number<std::uint32_t>("JAX_NUM_PROCESSES", 1);
  found.listen = env.text("JAX_COORDINATOR_BIND_ADDRESS");
  return found;
}

template <class Value>
void add(sourced_value<Value>& to, sourced_value<Value> const& from) {
  if (!to.is_there()) to = from;
}

void add(parameters& to, parameters const& from) {
  if (!to.address.is_there()) {
    to.address = from.address;
    if (from.address.is_there()) {
      add(to.job, from.job);
      add(to.attempt, from.attempt);
    }
  }
  add(to.task, from.task);
  add(to.num_tasks, from.num_tasks);
  add(to.local_task, from.local_task);
  add(to.listen, from.listen);
}

// Two valid values can contradict each other, especially from two sources.
void compare(parameters& found) {
  auto const& task = found.task;
  auto const& num_tasks = found.num_tasks;
  if (!task.problem().ok() || !num_tasks.problem().ok()) return;
  if (!task.value() || !num_tasks.value() || *task.value() < *num_tasks.value()) return;
  auto const count = *num_tasks.value();
  found.task = sourced_value<std::uint32_t>::wrong(
      refusal(task.from(), std::to_string(*task.value()),
              "0 to " + std::to_string(count - 1) + ", since " + num_tasks.from() + " is '" +
                  std::to_string(count) + "'"),
      task.from());
}

// Why there is no task, where a launcher has set a part of its variables.
std::string half_a_launcher(variables const& env) {
  if (env.has("SLURM_JOB_ID") && !env.has("SLURM_PROCID")) {
    return "SLURM_JOB_ID is set but SLURM_PROCID is not: start it with srun.";
  }
  if (env.has("RANK") && env.has("WORLD_SIZE") && !env.has("MASTER_ADDR")) {
    return "RANK and WORLD_SIZE are set but MASTER_ADDR is not: set MASTER_ADDR and MASTER_PORT, "
           "or "
           "start it with torchrun.";
  }
  return {};
}

}  // namespace

parameters detect(environment const& of, std::string_view only) {
  variables const env{of};
  auto found = of_coxswain(env);
  add(found, of_jax(env));
  for (auto const& launcher : launchers) {
    if (!only.empty() && only != launcher.name) continue;
    if (!launcher.is_present(env)) continue;
    if (!found.launcher.empty()) {
      found.passed_over.emplace_back(launcher.name);
      continue;
    }
    found.launcher = launcher.name;
    add(found, launcher.read(env));
  }
  if (!found.task.is_there() && found.task.why_missing().empty() && found.launcher.empty()) {
    if (auto why = half_a_launcher(env); !why.empty()) {
      found.task = sourced_value<std::uint32_t>::missing(std::move(why));
    }
  }
  compare(found);
  return found;
}

}  // namespace coxswain::launch
