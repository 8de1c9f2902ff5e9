#pragma once
// The launchers: how each is recognised, and what it provides. Each has its own file; detection.cpp
// defines their order.

#include "coxswain/launch/detection.hpp"
#include "coxswain/launch/variables.hpp"

namespace coxswain::launch {

[[nodiscard]] bool has_torchrun(variables const& env);
[[nodiscard]] bool has_torch(variables const& env);
[[nodiscard]] parameters of_torch(variables const& env);

[[nodiscard]] bool has_aichor(variables const& env);
[[nodiscard]] parameters of_aichor(variables const& env);

[[nodiscard]] bool has_open_mpi(variables const& env);
[[nodiscard]] parameters of_open_mpi(variables const& env);

[[nodiscard]] bool has_slurm(variables const& env);
[[nodiscard]] parameters of_slurm(variables const& env);

// Any process of a Slurm job: the address, the job and the attempt.
[[nodiscard]] bool has_slurm_job(variables const& env);
[[nodiscard]] parameters of_slurm_job(variables const& env);

[[nodiscard]] bool has_pmi(variables const& env);
[[nodiscard]] bool has_hydra(variables const& env);  // PMI of MPICH's or Intel MPI's mpiexec
[[nodiscard]] parameters of_pmi(variables const& env);

[[nodiscard]] bool has_pmix(variables const& env);
[[nodiscard]] parameters of_pmix(variables const& env);

[[nodiscard]] bool has_pbs(variables const& env);
[[nodiscard]] parameters of_pbs(variables const& env);

[[nodiscard]] bool has_lsf(variables const& env);
[[nodiscard]] parameters of_lsf(variables const& env);

// Address, job and attempt of the Slurm, PBS or LSF job, for a launcher that provides no host
// itself. Without one the address is missing; `example` is a command that sets it.
[[nodiscard]] parameters batch_job_around(variables const& env, std::string const& example);

[[nodiscard]] bool has_tpu(variables const& env);
[[nodiscard]] parameters of_tpu(variables const& env);

[[nodiscard]] bool has_kubernetes(variables const& env);
[[nodiscard]] parameters of_kubernetes(variables const& env);

}  // namespace coxswain::launch
