// mpiexec of MPICH, of Intel MPI and of others that speak PMI. It numbers the processes and names
// no host, so the address is that of the batch job around it, if there is one.

#include "coxswain/launch/launchers.hpp"

namespace coxswain::launch {

bool has_pmi(variables const& env) { return env.has("PMI_RANK"); }

bool has_hydra(variables const& env) { return has_pmi(env) && env.has("MPI_LOCALRANKID"); }

parameters of_pmi(variables const& env) {
  auto found = batch_job_around(env, "mpiexec -genv COXSWAIN_ADDRESS b12:8476");
  found.task = env.number<std::uint32_t>("PMI_RANK");
  found.local_task = env.number<std::uint32_t>("MPI_LOCALRANKID");
  found.num_tasks = env.number<std::uint32_t>("PMI_SIZE", 1);
  if (!found.num_tasks.is_there()) {
    found.num_tasks = sourced_value<std::uint32_t>::missing(
        "PMI_RANK is set, but not PMI_SIZE. Set COXSWAIN_NUM_TASKS.");
  }
  return found;
}

}  // namespace coxswain::launch
