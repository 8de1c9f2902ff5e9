#include "coxswain/launch/detection.hpp"

#include "tests/launch/given.hpp"

#include <boost/test/unit_test.hpp>

namespace coxswain::test {
namespace {

environment const slurm{{"SLURM_JOB_ID", "7"},
                        {"SLURM_STEP_NODELIST", "b12"},
                        {"SLURM_NTASKS", "4"},
                        {"SLURM_PROCID", "3"},
                        {"SLURM_LOCALID", "1"}};

environment const open_mpi{{"OMPI_MCA_orte_hnp_uri", "4096.0;tcp://10.0.0.1:5"},
                           {"OMPI_COMM_WORLD_SIZE", "2"},
                           {"OMPI_COMM_WORLD_RANK", "1"}};

}  // namespace

BOOST_AUTO_TEST_SUITE(detection_test)

BOOST_AUTO_TEST_CASE(an_empty_environment_detects_nothing) {
  auto const found = detected({{"PATH", "/bin"}, {"HOSTNAME", "b12"}, {"RANK", "3"}});

  BOOST_TEST(found.launcher == "");
  BOOST_TEST(text_of(found.address) == "nothing");
  BOOST_TEST(text_of(found.task) == "nothing");
  BOOST_TEST(text_of(found.num_tasks) == "nothing");
  BOOST_TEST(text_of(found.listen) == "nothing");
  BOOST_TEST(!found.address.value().has_value());
}

BOOST_AUTO_TEST_CASE(a_named_launcher_is_the_only_one_considered) {
  auto const both = with(slurm, open_mpi);
  auto const only = [&](char const* name) { return detected(both, {}, name); };

  BOOST_TEST(only("slurm").launcher == "slurm");
  BOOST_TEST(text_of(only("slurm").task) == "3 from SLURM_PROCID");
  BOOST_TEST(only("slurm").passed_over.empty());
  BOOST_TEST(only("ompi").launcher == "ompi");
  BOOST_TEST(only("kubernetes").launcher == "");
  BOOST_TEST(only("nonesuch").launcher == "");
}

BOOST_AUTO_TEST_CASE(coxswain_variables_override_all_others) {
  auto const found = detected(with(slurm, {{"COXSWAIN_ADDRESS", "unix:/tmp/c"},
                                           {"COXSWAIN_TASK_ID", "8"},
                                           {"COXSWAIN_NUM_TASKS", "9"},
                                           {"COXSWAIN_JOB", "night"},
                                           {"COXSWAIN_ATTEMPT", "2"},
                                           {"JAX_COORDINATOR_ADDRESS", "b1:1"},
                                           {"JAX_PROCESS_ID", "0"},
                                           {"JAX_NUM_PROCESSES", "1"}}));

  BOOST_TEST(text_of(found.address) == "unix:/tmp/c from COXSWAIN_ADDRESS");
  BOOST_TEST(text_of(found.task) == "8 from COXSWAIN_TASK_ID");
  BOOST_TEST(text_of(found.num_tasks) == "9 from COXSWAIN_NUM_TASKS");
  BOOST_TEST(text_of(found.job) == "night from COXSWAIN_JOB");
  BOOST_TEST(text_of(found.attempt) == "2 from COXSWAIN_ATTEMPT");
  BOOST_TEST(found.launcher == "slurm");
}

BOOST_AUTO_TEST_CASE(jax_variables_override_every_launcher) {
  auto const found = detected(with(slurm, {{"JAX_COORDINATOR_ADDRESS", "[fe80::1]:99"},
                                           {"JAX_PROCESS_ID", "1"},
                                           {"JAX_COORDINATOR_BIND_ADDRESS", "[::]:99"}}));

  BOOST_TEST(text_of(found.address) == "[fe80::1]:99 from JAX_COORDINATOR_ADDRESS");
  BOOST_TEST(text_of(found.task) == "1 from JAX_PROCESS_ID");
  BOOST_TEST(text_of(found.num_tasks) == "4 from SLURM_NTASKS");
  BOOST_TEST(text_of(found.listen) == "[::]:99 from JAX_COORDINATOR_BIND_ADDRESS");
}

BOOST_AUTO_TEST_CASE(a_launcher_supplies_only_missing_values) {
  auto const found = detected(with(slurm, {{"COXSWAIN_ADDRESS", "b1:1"}}));

  BOOST_TEST(text_of(found.task) == "3 from SLURM_PROCID");
  BOOST_TEST(text_of(found.num_tasks) == "4 from SLURM_NTASKS");
  // The job name is only set with a port computed from Slurm's job number.
  BOOST_TEST(text_of(found.job) == "nothing");
}

BOOST_AUTO_TEST_CASE(invalid_variables_that_are_not_needed_are_ignored) {
  auto const found = detected(with(slurm, {{"SLURM_PROCID", "three"}}));

  BOOST_TEST(text_of(found.address) == "b12:61447 from SLURM_STEP_NODELIST and SLURM_JOB_ID");
  BOOST_TEST(found.task.is_there());
  BOOST_CHECK_EXCEPTION((void)found.task.value(), error, [](error const& e) {
    return e.code() == errc::invalid_argument &&
           e.outcome().message() ==
               "SLURM_PROCID is 'three'; expected a whole number from 0 to 4294967295.";
  });
}

BOOST_AUTO_TEST_CASE(an_invalid_coxswain_variable_is_not_replaced_by_a_launcher) {
  auto const found = detected(with(slurm, {{"COXSWAIN_TASK_ID", "x"}}));

  BOOST_TEST(text_of(found.task) ==
             "COXSWAIN_TASK_ID is 'x'; expected a whole number from 0 to 4294967295.");
}

BOOST_AUTO_TEST_CASE(an_empty_variable_counts_as_unset) {
  auto const found = detected(with(
      slurm,
      {{"COXSWAIN_TASK_ID", ""}, {"JAXOPERATOR_PROCESS_ID", ""}, {"OMPI_COMM_WORLD_RANK", ""}}));

  BOOST_TEST(found.launcher == "slurm");
  BOOST_TEST(text_of(found.task) == "3 from SLURM_PROCID");
}

BOOST_AUTO_TEST_CASE(a_task_outside_the_number_of_tasks_is_refused_naming_both) {
  auto const of_two = detected(with(slurm, {{"COXSWAIN_NUM_TASKS", "3"}}));
  BOOST_TEST(text_of(of_two.task) ==
             "SLURM_PROCID is '3'; expected 0 to 2, since COXSWAIN_NUM_TASKS is '3'.");
  BOOST_TEST(text_of(of_two.num_tasks) == "3 from COXSWAIN_NUM_TASKS");

  auto const of_one = detected(with(slurm, {{"SLURM_PROCID", "4"}}));
  BOOST_TEST(text_of(of_one.task) ==
             "SLURM_PROCID is '4'; expected 0 to 3, since SLURM_NTASKS is '4'.");
}

BOOST_AUTO_TEST_CASE(skipped_launchers_are_named) {
  auto found = detected(with(slurm, open_mpi));
  BOOST_TEST(found.launcher == "ompi");
  BOOST_TEST(found.passed_over == std::vector<std::string>{"slurm"});
  BOOST_TEST(text_of(found.task) == "1 from OMPI_COMM_WORLD_RANK");

  found = detected(with(with(slurm, open_mpi), {{"JAXOPERATOR_PROCESS_ID", "0"},
                                                {"KUBERNETES_SERVICE_HOST", "10.0.0.1"},
                                                {"JOB_COMPLETION_INDEX", "5"}}));
  BOOST_TEST(found.launcher == "aichor");
  BOOST_TEST(found.passed_over == (std::vector<std::string>{"ompi", "slurm", "kubernetes"}));
}

BOOST_AUTO_TEST_CASE(unrelated_variables_do_not_change_the_result) {
  auto const plain = detected(slurm);
  auto const others =
      detected(with(slurm, {{"SLURM_NNODES", "9"}, {"COXSWAIN_TOKEN", "x"}, {"MASTER_PORT", "y"}}));

  BOOST_TEST(text_of(plain.address) == text_of(others.address));
  BOOST_TEST(text_of(plain.task) == text_of(others.task));
}

BOOST_AUTO_TEST_CASE(a_launcher_that_is_half_there_says_what_is_missing) {
  auto const batch = detected({{"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "2"}});
  BOOST_TEST(batch.task.why_missing() ==
             "SLURM_JOB_ID is set but SLURM_PROCID is not: start it with srun.");

  auto const torch = detected({{"RANK", "0"}, {"WORLD_SIZE", "2"}});
  BOOST_TEST(torch.task.why_missing() ==
             "RANK and WORLD_SIZE are set but MASTER_ADDR is not: set MASTER_ADDR and MASTER_PORT, "
             "or start it with torchrun.");

  auto const given = detected({{"SLURM_JOB_ID", "7"}, {"COXSWAIN_TASK_ID", "1"}});
  BOOST_TEST(given.task.why_missing() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
