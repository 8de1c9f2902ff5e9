#pragma once
// PUBLIC. Detects the job and task of a process from what its launcher has put into its environment
// (§19.1.1 to §19.1.13). Pure: environment in, parameters out. Nothing is contacted and no name
// is looked up; waiting for the coordinator is left to the client. Not here: tokens, which no
// launcher knows.
//
// Each parameter comes from the first of these that provides it:
//   1. COXSWAIN_ADDRESS, _JOB, _ATTEMPT, _TASK_ID, _NUM_TASKS, _LISTEN
//   2. JAX_COORDINATOR_ADDRESS, JAX_PROCESS_ID, JAX_NUM_PROCESSES, JAX_COORDINATOR_BIND_ADDRESS
//   3. the first of these launchers that is present:
//      torchrun    TORCHELASTIC_RUN_ID with MASTER_ADDR, MASTER_PORT, RANK, WORLD_SIZE
//      aichor      JAXOPERATOR_COORDINATOR_ADDRESS, _COORDINATOR_HOST, _NUM_PROCESSES, _PROCESS_ID
//      ompi        OMPI_MCA_orte_hnp_uri, OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK
//      slurm       SLURM_JOB_ID, _STEP_NODELIST, _NTASKS, _PROCID, _LOCALID: all of them, but not
//                  where mpiexec of MPICH or Intel MPI sets PMI_RANK and MPI_LOCALRANKID
//      gketpu      TPU_WORKER_ID with TPU_PROCESS_ADDRESSES or TPU_WORKER_HOSTNAMES
//      torch       MASTER_ADDR, MASTER_PORT, RANK, WORLD_SIZE without torchrun
//      pmi         PMI_RANK, PMI_SIZE, MPI_LOCALRANKID: MPICH, Intel MPI
//      pmix        PMIX_RANK
//      pbs         PBS_JOBID, _NODEFILE, PBS_VNODENUM or _NODENUM, PBS_NP: OpenPBS, TORQUE
//      lsf         LSB_JOBID, _JOBINDEX, LSB_MCPU_HOSTS or _HOSTS, LSB_DJOB_NUMPROC
//      kubernetes  KUBERNETES_SERVICE_HOST with JOB_COMPLETION_INDEX: an Indexed Job, or with
//                  JOBSET_NAME a JobSet
// pmi, pmix and Open MPI 5 provide no host: the address is then that of the Slurm, PBS or LSF job
// in which they run. What a launcher cannot provide is missing, with a reason.
//
// If a launcher provides no port, it is computed as JAX does, or is JAX_COORDINATOR_PORT. An empty
// variable counts as not set.

#include "coxswain/launch/environment.hpp"
#include "coxswain/launch/sourced_value.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::launch {

struct parameters {
  // The first launcher of the list above that is present; empty: none is. It may not have been
  // needed.
  std::string launcher;

  // Other launchers that are present, and ignored.
  std::vector<std::string> passed_over;

  // The coordinator's "host:port", and the job and attempt that it is expected to serve. Those of a
  // launcher are used only with its address: they distinguish jobs that compute the same port.
  sourced_value<std::string> address;
  sourced_value<std::string> job;
  sourced_value<std::uint64_t> attempt;

  sourced_value<std::uint32_t> task;
  sourced_value<std::uint32_t> num_tasks;

  // This task's number on its machine.
  sourced_value<std::uint32_t> local_task;

  // Where a coordinator in the process of task 0 listens; several are separated by commas.
  sourced_value<std::string> listen;
};

// With a launcher's name, only that one is used, whatever else is present.
[[nodiscard]] parameters detect(environment const& of, std::string_view only = {});

}  // namespace coxswain::launch
