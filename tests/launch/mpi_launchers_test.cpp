// mpiexec of MPICH and Intel MPI, PMIx, PBS and LSF: the values each provides and does not provide.

#include "tests/launch/given.hpp"

#include <boost/test/unit_test.hpp>

namespace coxswain::test {
namespace {

// As set by Hydra, the mpiexec of MPICH 4.0.2.
environment const mpich{{"PMI_RANK", "1"},
                        {"PMI_SIZE", "4"},
                        {"PMI_FD", "6"},
                        {"MPI_LOCALRANKID", "0"},
                        {"MPI_LOCALNRANKS", "2"}};

environment const pmix{{"PMIX_RANK", "3"}, {"PMIX_NAMESPACE", "prterun-b12-77@1"}};

environment const slurm{{"SLURM_JOB_ID", "7"},
                        {"SLURM_STEP_NODELIST", "b[12-13]"},
                        {"SLURM_JOB_NODELIST", "b[12-13]"},
                        {"SLURM_NTASKS", "2"},
                        {"SLURM_PROCID", "0"},
                        {"SLURM_LOCALID", "0"}};

// In the job script of OpenPBS, and where pbsdsh has started the second process.
environment const pbs{{"PBS_JOBID", "1234.head"},
                      {"PBS_NODEFILE", "/var/spool/pbs/aux/1234.head"},
                      {"PBS_TASKNUM", "1"},
                      {"PBS_NODENUM", "0"}};
environment const pbs_files{{"/var/spool/pbs/aux/1234.head", "b12\nb13\nb14\n"}};

environment const lsf{{"LSB_JOBID", "1234"},
                      {"LSB_JOBINDEX", "0"},
                      {"LSB_MCPU_HOSTS", "b12 2 b13 2"},
                      {"LSB_DJOB_NUMPROC", "4"}};

std::string const no_host =
    "missing: No variable names a host. Set COXSWAIN_ADDRESS to the host of task 0, or of coxswain "
    "serve, and a free port, for example: ";

}  // namespace

BOOST_AUTO_TEST_SUITE(mpi_launchers_test)

BOOST_AUTO_TEST_CASE(mpiexec_gives_ranks_but_no_host) {
  auto const found = detected(mpich);

  BOOST_TEST(found.launcher == "pmi");
  BOOST_TEST(text_of(found.task) == "1 from PMI_RANK");
  BOOST_TEST(text_of(found.num_tasks) == "4 from PMI_SIZE");
  BOOST_TEST(text_of(found.local_task) == "0 from MPI_LOCALRANKID");
  BOOST_TEST(text_of(found.address) == no_host + "mpiexec -genv COXSWAIN_ADDRESS b12:8476.");
  BOOST_TEST(text_of(found.job) == "nothing");
}

BOOST_AUTO_TEST_CASE(a_rank_without_a_size_error_says_what_to_set) {
  BOOST_TEST(text_of(detected(without(mpich, "PMI_SIZE")).num_tasks) ==
             "missing: PMI_RANK is set, but not PMI_SIZE. Set COXSWAIN_NUM_TASKS.");
  BOOST_TEST(text_of(detected(pmix).num_tasks) ==
             "missing: PMIX_RANK comes without a number of processes. Set COXSWAIN_NUM_TASKS.");
}

BOOST_AUTO_TEST_CASE(an_explicitly_set_value_is_not_reported_missing) {
  auto const found =
      detected(with(pmix, {{"COXSWAIN_ADDRESS", "b12:8476"}, {"JAX_NUM_PROCESSES", "8"}}));

  BOOST_TEST(text_of(found.address) == "b12:8476 from COXSWAIN_ADDRESS");
  BOOST_TEST(text_of(found.num_tasks) == "8 from JAX_NUM_PROCESSES");
  BOOST_TEST(text_of(found.task) == "3 from PMIX_RANK");
}

BOOST_AUTO_TEST_CASE(ranks_must_be_below_the_size) {
  BOOST_TEST(text_of(detected(with(mpich, {{"PMI_RANK", "4"}})).task) ==
             "PMI_RANK is '4'; expected 0 to 3, since PMI_SIZE is '4'.");
  BOOST_TEST(text_of(detected(with(pmix, {{"PMIX_RANK", "-1"}})).task) ==
             "PMIX_RANK is '-1'; expected a whole number from 0 to 4294967295.");
}

BOOST_AUTO_TEST_CASE(pmix_gives_no_host_either) {
  auto const found = detected(pmix);

  BOOST_TEST(found.launcher == "pmix");
  BOOST_TEST(text_of(found.address) == no_host + "prterun -x COXSWAIN_ADDRESS=b12:8476.");
}

// srun --mpi=pmi2 and --mpi=pmix set their ranks in addition to Slurm's variables.
BOOST_AUTO_TEST_CASE(slurm_takes_precedence_over_its_pmi) {
  auto found = detected(with(slurm, {{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"PMI_JOBID", "7.0"}}));
  BOOST_TEST(found.launcher == "slurm");
  BOOST_TEST(found.passed_over == std::vector<std::string>{"pmi"});
  BOOST_TEST(text_of(found.task) == "0 from SLURM_PROCID");

  found = detected(with(slurm, pmix));
  BOOST_TEST(found.launcher == "slurm");
  BOOST_TEST(found.passed_over == std::vector<std::string>{"pmix"});
}

// Slurm starts one proxy of mpiexec on each host; all processes of a host have the proxy's numbers.
BOOST_AUTO_TEST_CASE(mpiexec_takes_precedence_over_slurm) {
  auto const found = detected(with(slurm, mpich));

  BOOST_TEST(found.launcher == "pmi");
  BOOST_TEST(text_of(found.task) == "1 from PMI_RANK");
  BOOST_TEST(text_of(found.num_tasks) == "4 from PMI_SIZE");
  BOOST_TEST(text_of(found.address) == "b12:61447 from SLURM_JOB_NODELIST and SLURM_JOB_ID");
  BOOST_TEST(text_of(found.job) == "slurm-7 from SLURM_JOB_ID");
}

BOOST_AUTO_TEST_CASE(open_mpi_takes_precedence_over_its_pmix) {
  auto const found = detected(
      with(with(slurm, pmix), {{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "4"}}));

  BOOST_TEST(found.launcher == "ompi");
  BOOST_TEST(text_of(found.task) == "3 from OMPI_COMM_WORLD_RANK");
  BOOST_TEST(text_of(found.address) == "b12:61447 from SLURM_JOB_NODELIST and SLURM_JOB_ID");
}

BOOST_AUTO_TEST_CASE(explicit_variables_take_precedence_over_mpiexec) {
  auto const found = detected(with(
      mpich, {{"MASTER_ADDR", "b12"}, {"MASTER_PORT", "99"}, {"RANK", "1"}, {"WORLD_SIZE", "4"}}));

  BOOST_TEST(found.launcher == "torch");
  BOOST_TEST(text_of(found.address) == "b12:99 from MASTER_ADDR and MASTER_PORT");
}

BOOST_AUTO_TEST_CASE(the_first_host_of_a_pbs_job_is_the_coordinator) {
  auto const found = detected(with(pbs, {{"PBS_NODENUM", "1"}}), pbs_files);

  // 1234 mod 4096 is 1234.
  BOOST_TEST(found.launcher == "pbs");
  BOOST_TEST(text_of(found.address) == "b12:62674 from PBS_NODEFILE and PBS_JOBID");
  BOOST_TEST(text_of(found.job) == "pbs-1234.head from PBS_JOBID");
  BOOST_TEST(text_of(found.task) == "1 from PBS_NODENUM");
  BOOST_TEST(text_of(found.num_tasks) == "3 from PBS_NODEFILE");
}

BOOST_AUTO_TEST_CASE(torque_numbers_processes_and_hosts) {
  auto const found = detected(
      with(pbs, {{"PBS_VNODENUM", "5"}, {"PBS_NODENUM", "1"}, {"PBS_NP", "8"}}), pbs_files);

  BOOST_TEST(text_of(found.task) == "5 from PBS_VNODENUM");
  BOOST_TEST(text_of(found.num_tasks) == "8 from PBS_NP");
}

BOOST_AUTO_TEST_CASE(without_a_readable_host_file_the_coordinator_must_be_set) {
  auto const found = detected(pbs);

  BOOST_TEST(
      text_of(found.address) ==
      "missing: PBS_NODEFILE is '/var/spool/pbs/aux/1234.head', which cannot be read here: PBS "
      "writes it on the job's first host only. Set COXSWAIN_ADDRESS to that host and a free port "
      "for all processes, for example in the job script: export "
      "COXSWAIN_ADDRESS=$(hostname):8476.");
  BOOST_TEST(text_of(found.num_tasks) ==
             "missing: PBS_NODEFILE cannot be read here. Set COXSWAIN_NUM_TASKS.");
}

BOOST_AUTO_TEST_CASE(a_process_not_numbered_by_pbs_learns_what_to_use) {
  BOOST_TEST(text_of(detected(without(pbs, "PBS_NODENUM"), pbs_files).task) ==
             "missing: PBS_NODENUM is not set. Start the processes with pbsdsh or mpiexec, or set "
             "COXSWAIN_TASK_ID.");
}

BOOST_AUTO_TEST_CASE(members_of_a_pbs_job_array_have_distinct_ports) {
  auto const address_of = [](std::string const& id) {
    return text_of(detected(with(pbs, {{"PBS_JOBID", id}}), pbs_files).address);
  };

  BOOST_TEST(address_of("1234[5].head") == "b12:62679 from PBS_NODEFILE and PBS_JOBID");
  BOOST_TEST(address_of("1234-5.head") == "b12:62679 from PBS_NODEFILE and PBS_JOBID");
  BOOST_TEST(address_of("1234") == "b12:62674 from PBS_NODEFILE and PBS_JOBID");
  BOOST_TEST(address_of("1234[].head") == "b12:62674 from PBS_NODEFILE and PBS_JOBID");
  BOOST_TEST(address_of("job.head") ==
             "PBS_JOBID is 'job.head'; expected a job's identifier, such as 1234.head or "
             "1234[5].head.");
}

BOOST_AUTO_TEST_CASE(mpiexec_in_a_pbs_job_uses_its_first_host) {
  auto const found = detected(with(pbs, mpich), pbs_files);

  BOOST_TEST(found.launcher == "pmi");
  BOOST_TEST(found.passed_over == std::vector<std::string>{"pbs"});
  BOOST_TEST(text_of(found.task) == "1 from PMI_RANK");
  BOOST_TEST(text_of(found.num_tasks) == "4 from PMI_SIZE");
  BOOST_TEST(text_of(found.address) == "b12:62674 from PBS_NODEFILE and PBS_JOBID");
  BOOST_TEST(text_of(found.job) == "pbs-1234.head from PBS_JOBID");
}

BOOST_AUTO_TEST_CASE(lsf_gives_hosts_but_no_ranks) {
  auto const found = detected(lsf);

  BOOST_TEST(found.launcher == "lsf");
  BOOST_TEST(text_of(found.address) == "b12:62674 from LSB_MCPU_HOSTS and LSB_JOBID");
  BOOST_TEST(text_of(found.job) == "lsf-1234 from LSB_JOBID");
  BOOST_TEST(text_of(found.num_tasks) == "4 from LSB_DJOB_NUMPROC");
  BOOST_TEST(text_of(found.task) ==
             "missing: LSF does not number processes. Start them with mpiexec or jsrun, or set "
             "COXSWAIN_TASK_ID.");
}

BOOST_AUTO_TEST_CASE(the_alternative_lsf_host_list_is_used) {
  auto const found =
      detected(with(without(lsf, "LSB_MCPU_HOSTS"), {{"LSB_HOSTS", "b13 b13 b12 b12"}}));

  BOOST_TEST(text_of(found.address) == "b13:62674 from LSB_HOSTS and LSB_JOBID");
  BOOST_TEST(detected(without(lsf, "LSB_MCPU_HOSTS")).launcher == "");
}

BOOST_AUTO_TEST_CASE(members_of_an_lsf_job_array_have_distinct_ports_and_names) {
  auto const found = detected(with(lsf, {{"LSB_JOBINDEX", "5"}}));

  BOOST_TEST(text_of(found.address) == "b12:62679 from LSB_MCPU_HOSTS and LSB_JOBID");
  BOOST_TEST(text_of(found.job) == "lsf-1234[5] from LSB_JOBID");
  BOOST_TEST(text_of(detected(with(lsf, {{"LSB_JOBINDEX", "x"}})).address) ==
             "LSB_JOBINDEX is 'x'; expected a whole number from 0 to 18446744073709551615.");
}

// jsrun speaks PMIx.
BOOST_AUTO_TEST_CASE(jsrun_in_an_lsf_job_uses_its_first_host) {
  auto const found = detected(with(lsf, pmix));

  BOOST_TEST(found.launcher == "pmix");
  BOOST_TEST(text_of(found.task) == "3 from PMIX_RANK");
  BOOST_TEST(text_of(found.address) == "b12:62674 from LSB_MCPU_HOSTS and LSB_JOBID");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
