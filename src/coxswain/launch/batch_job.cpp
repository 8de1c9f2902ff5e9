// The batch job around launchers that number processes and name no host.

#include "coxswain/launch/launchers.hpp"

namespace coxswain::launch {

parameters batch_job_around(variables const& env, std::string const& example) {
  parameters around;
  if (has_slurm_job(env)) {
    around = of_slurm_job(env);
  } else if (has_pbs(env)) {
    around = of_pbs(env);
  } else if (has_lsf(env)) {
    around = of_lsf(env);
  } else {
    around.address = sourced_value<std::string>::missing(
        "No variable names a host. Set COXSWAIN_ADDRESS to the host of task 0, or of coxswain "
        "serve, and a free port, for example: " +
        example + ".");
  }
  parameters found;
  found.address = around.address;
  found.job = around.job;
  found.attempt = around.attempt;
  return found;
}

}  // namespace coxswain::launch
