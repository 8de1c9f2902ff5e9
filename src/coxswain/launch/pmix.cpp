// prterun and others that speak PMIx. Of all that PMIx knows, only the rank is in the environment.

#include "coxswain/launch/launchers.hpp"

namespace coxswain::launch {

bool has_pmix(variables const& env) { return env.has("PMIX_RANK"); }

parameters of_pmix(variables const& env) {
  auto found = batch_job_around(env, "prterun -x COXSWAIN_ADDRESS=b12:8476");
  found.task = env.number<std::uint32_t>("PMIX_RANK");
  found.num_tasks = sourced_value<std::uint32_t>::missing(
      "PMIX_RANK comes without a number of processes. Set COXSWAIN_NUM_TASKS.");
  return found;
}

}  // namespace coxswain::launch
