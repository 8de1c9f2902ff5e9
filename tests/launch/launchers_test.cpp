// AIchor's operator and torchrun, which JAX does not look for.

#include "tests/launch/given.hpp"

#include <boost/test/unit_test.hpp>

namespace coxswain::test {
namespace {

environment const aichor{
    {"JAXOPERATOR_COORDINATOR_ADDRESS", "$(JAXOPERATOR_COORDINATOR_HOST):1234"},
    {"JAXOPERATOR_COORDINATOR_HOST", "worker-0-0.experiment-6f4a"},
    {"JAXOPERATOR_NUM_PROCESSES", "2"},
    {"JAXOPERATOR_PROCESS_ID", "1"}};

environment const torchrun{{"MASTER_ADDR", "b12"},
                           {"MASTER_PORT", "29500"},
                           {"RANK", "5"},
                           {"WORLD_SIZE", "8"},
                           {"LOCAL_RANK", "1"},
                           {"TORCHELASTIC_RUN_ID", "none"},
                           {"TORCHELASTIC_RESTART_COUNT", "2"}};

environment const torch{
    {"MASTER_ADDR", "b12"}, {"MASTER_PORT", "29500"}, {"RANK", "5"}, {"WORLD_SIZE", "8"}};

}  // namespace

BOOST_AUTO_TEST_SUITE(launchers_test)

BOOST_AUTO_TEST_CASE(row_7_1_an_unexpanded_coordinator_address_is_expanded_to_host_and_port) {
  auto const found = detected(aichor);

  BOOST_TEST(found.launcher == "aichor");
  BOOST_TEST(text_of(found.address) ==
             "worker-0-0.experiment-6f4a:1234 from JAXOPERATOR_COORDINATOR_ADDRESS and "
             "JAXOPERATOR_COORDINATOR_HOST");
}

BOOST_AUTO_TEST_CASE(row_7_1_an_expanded_coordinator_address_is_used_unchanged) {
  auto const whole =
      with(aichor, {{"JAXOPERATOR_COORDINATOR_ADDRESS", "worker-0-0.experiment-6f4a:99"}});
  auto const expected = "worker-0-0.experiment-6f4a:99 from JAXOPERATOR_COORDINATOR_ADDRESS";

  BOOST_TEST(text_of(detected(whole).address) == expected);
  BOOST_TEST(text_of(detected(without(whole, "JAXOPERATOR_COORDINATOR_HOST")).address) == expected);

  auto const v6 = with(aichor, {{"JAXOPERATOR_COORDINATOR_ADDRESS", "[::1]:99"},
                                {"JAXOPERATOR_COORDINATOR_HOST", "::1"}});
  BOOST_TEST(text_of(detected(v6).address) == "[::1]:99 from JAXOPERATOR_COORDINATOR_ADDRESS");
}

BOOST_AUTO_TEST_CASE(row_7_1_a_coordinator_address_that_cannot_be_expanded_is_named) {
  auto const found = detected(without(aichor, "JAXOPERATOR_COORDINATOR_HOST"));

  BOOST_TEST(text_of(found.address) ==
             "JAXOPERATOR_COORDINATOR_ADDRESS is '$(JAXOPERATOR_COORDINATOR_HOST):1234'; expected "
             "JAXOPERATOR_COORDINATOR_HOST to be set.");
}

BOOST_AUTO_TEST_CASE(row_7_1_a_coordinator_address_is_validated) {
  for (std::string const value :
       {"worker-0-0", "worker-0-0:", ":1234", "worker-0-0:port", "worker-0-0:0", "a:65536", "a:80x",
        "$(JAXOPERATOR_COORDINATOR_HOST)"}) {
    auto const found = detected(with(aichor, {{"JAXOPERATOR_COORDINATOR_ADDRESS", value}}));
    BOOST_TEST(text_of(found.address) == "JAXOPERATOR_COORDINATOR_ADDRESS is '" + value +
                                             "'; expected host:port or [v6]:port.");
  }
}

BOOST_AUTO_TEST_CASE(row_7_2_the_coordinator_host_alone_suffices) {
  auto const found = detected(without(aichor, "JAXOPERATOR_COORDINATOR_ADDRESS"));

  BOOST_TEST(text_of(found.address) ==
             "worker-0-0.experiment-6f4a:1234 from JAXOPERATOR_COORDINATOR_HOST");
}

BOOST_AUTO_TEST_CASE(row_7_2_a_conflicting_host_and_address_are_both_named) {
  auto const found = detected(with(aichor, {{"JAXOPERATOR_COORDINATOR_ADDRESS", "worker-9:1234"}}));

  BOOST_TEST(text_of(found.address) ==
             "JAXOPERATOR_COORDINATOR_ADDRESS is 'worker-9:1234'; expected the host of "
             "JAXOPERATOR_COORDINATOR_HOST, which is 'worker-0-0.experiment-6f4a'.");
}

BOOST_AUTO_TEST_CASE(row_7_3_the_number_of_processes) {
  BOOST_TEST(text_of(detected(aichor).num_tasks) == "2 from JAXOPERATOR_NUM_PROCESSES");

  auto const none = detected(with(aichor, {{"JAXOPERATOR_NUM_PROCESSES", "0"}}));
  BOOST_TEST(text_of(none.num_tasks) ==
             "JAXOPERATOR_NUM_PROCESSES is '0'; expected a whole number from 1 to 4294967295.");
}

BOOST_AUTO_TEST_CASE(row_7_4_the_process_id) {
  BOOST_TEST(text_of(detected(aichor).task) == "1 from JAXOPERATOR_PROCESS_ID");

  auto const beyond = detected(with(aichor, {{"JAXOPERATOR_PROCESS_ID", "2"}}));
  BOOST_TEST(text_of(beyond.task) ==
             "JAXOPERATOR_PROCESS_ID is '2'; expected 0 to 1, since JAXOPERATOR_NUM_PROCESSES is "
             "'2'.");
}

BOOST_AUTO_TEST_CASE(row_7_5_the_operators_variables_are_read_although_jax_reads_none) {
  auto const found = detected(with(aichor, {{"JAX_COORDINATOR_PORT", "77"}}));

  BOOST_TEST(found.launcher == "aichor");
  // JAX's port applies to computed addresses, and not to an explicit one.
  BOOST_TEST(text_of(found.address) ==
             "worker-0-0.experiment-6f4a:1234 from JAXOPERATOR_COORDINATOR_ADDRESS and "
             "JAXOPERATOR_COORDINATOR_HOST");
}

BOOST_AUTO_TEST_CASE(torchrun_gives_all_values) {
  auto const found = detected(torchrun);

  BOOST_TEST(found.launcher == "torchrun");
  BOOST_TEST(text_of(found.address) == "b12:29500 from MASTER_ADDR and MASTER_PORT");
  BOOST_TEST(text_of(found.task) == "5 from RANK");
  BOOST_TEST(text_of(found.num_tasks) == "8 from WORLD_SIZE");
  BOOST_TEST(text_of(found.local_task) == "1 from LOCAL_RANK");
  BOOST_TEST(text_of(found.attempt) == "2 from TORCHELASTIC_RESTART_COUNT");
  BOOST_TEST(text_of(found.job) == "nothing");
  BOOST_TEST(text_of(detected(with(torchrun, {{"TORCHELASTIC_RUN_ID", "night"}})).job) ==
             "night from TORCHELASTIC_RUN_ID");
}

BOOST_AUTO_TEST_CASE(the_port_of_the_torchrun_store_is_not_used) {
  auto const found = detected(with(torchrun, {{"TORCHELASTIC_USE_AGENT_STORE", "True"}}));

  BOOST_TEST(text_of(found.address) ==
             "b12:29501 from MASTER_ADDR and MASTER_PORT + 1, because of "
             "TORCHELASTIC_USE_AGENT_STORE");
  BOOST_TEST(text_of(detected(with(torchrun, {{"TORCHELASTIC_USE_AGENT_STORE", "True"},
                                              {"MASTER_PORT", "65535"}}))
                         .address) == "b12:65535 from MASTER_ADDR and MASTER_PORT");
}

BOOST_AUTO_TEST_CASE(torchrun_overrides_slurm_in_a_slurm_step) {
  auto const found = detected(with(torchrun, {{"SLURM_JOB_ID", "7"},
                                              {"SLURM_STEP_NODELIST", "b12"},
                                              {"SLURM_NTASKS", "2"},
                                              {"SLURM_PROCID", "0"},
                                              {"SLURM_LOCALID", "0"}}));

  BOOST_TEST(found.launcher == "torchrun");
  BOOST_TEST(found.passed_over == std::vector<std::string>{"slurm"});
}

BOOST_AUTO_TEST_CASE(the_variables_of_torch_distributed_suffice_without_torchrun) {
  auto const found = detected(torch);

  BOOST_TEST(found.launcher == "torch");
  BOOST_TEST(text_of(found.address) == "b12:29500 from MASTER_ADDR and MASTER_PORT");
  BOOST_TEST(text_of(found.task) == "5 from RANK");
  BOOST_TEST(text_of(detected(with(torch, {{"MASTER_ADDR", "fe80::1"}})).address) ==
             "[fe80::1]:29500 from MASTER_ADDR and MASTER_PORT");
}

BOOST_AUTO_TEST_CASE(a_rank_alone_detects_no_launcher) {
  for (auto const* name : {"MASTER_ADDR", "RANK", "WORLD_SIZE"}) {
    BOOST_TEST(detected(without(torch, name)).launcher == "");
    BOOST_TEST(detected(without(without(torchrun, name), "WORLD_SIZE")).launcher ==
               (name == std::string{"WORLD_SIZE"} ? "torchrun" : ""));
  }
}

BOOST_AUTO_TEST_CASE(a_master_without_a_port_is_named) {
  BOOST_TEST(text_of(detected(without(torch, "MASTER_PORT")).address) ==
             "MASTER_PORT is not set; expected a port, since MASTER_ADDR is 'b12'.");
  BOOST_TEST(text_of(detected(with(torch, {{"MASTER_PORT", "0"}})).address) ==
             "MASTER_PORT is '0'; expected a whole number from 1 to 65535.");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
