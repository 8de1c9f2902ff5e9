// The launchers that JAX looks for, row by row (§19.1.6 to §19.1.11 and §19.1.13).

#include "tests/launch/given.hpp"

#include <boost/test/unit_test.hpp>

namespace coxswain::test {
namespace {

environment const open_mpi{
    {"OMPI_MCA_orte_hnp_uri", "1531576320.0;tcp://10.96.0.1,10.148.0.1,10.108.0.1:34911"},
    {"OMPI_COMM_WORLD_SIZE", "4"},
    {"OMPI_COMM_WORLD_RANK", "2"},
    {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}};

environment const slurm{{"SLURM_JOB_ID", "1234567"},
                        {"SLURM_STEP_NODELIST", "b[014-016]"},
                        {"SLURM_NTASKS", "3"},
                        {"SLURM_PROCID", "2"},
                        {"SLURM_LOCALID", "1"}};

environment const tpu{{"TPU_WORKER_ID", "1"}, {"TPU_WORKER_HOSTNAMES", "t-0.s,t-1.s"}};

environment const kubernetes{{"KUBERNETES_SERVICE_HOST", "10.0.0.1"},
                             {"JOB_COMPLETION_INDEX", "0"}};

std::string first_host_of(std::string const& list) {
  auto const address = detected(with(slurm, {{"SLURM_STEP_NODELIST", list}})).address;
  return address.problem().ok() ? address.value()->substr(0, address.value()->rfind(':'))
                                : address.problem().message();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(jax_launchers_test)

BOOST_AUTO_TEST_CASE(row_7_20_the_first_launcher_that_is_present_wins) {
  auto all = with(with(with(open_mpi, slurm), tpu), kubernetes);
  BOOST_TEST(detected(all).launcher == "ompi");
  BOOST_TEST(detected(all).passed_over ==
             (std::vector<std::string>{"slurm", "gketpu", "kubernetes"}));

  all = with(with(slurm, tpu), kubernetes);
  BOOST_TEST(detected(all).launcher == "slurm");
  BOOST_TEST(detected(with(tpu, kubernetes)).launcher == "gketpu");
  BOOST_TEST(detected(kubernetes).launcher == "kubernetes");
}

BOOST_AUTO_TEST_CASE(row_7_20_the_jax_port_overrides_every_launcher) {
  environment const port{{"JAX_COORDINATOR_PORT", "77"}};

  BOOST_TEST(text_of(detected(with(open_mpi, port)).address) ==
             "10.96.0.1:77 from OMPI_MCA_orte_hnp_uri and JAX_COORDINATOR_PORT");
  BOOST_TEST(text_of(detected(with(slurm, port)).address) ==
             "b014:77 from SLURM_STEP_NODELIST and SLURM_JOB_ID and JAX_COORDINATOR_PORT");
  BOOST_TEST(text_of(detected(with(tpu, port)).address) ==
             "t-0.s:77 from TPU_WORKER_HOSTNAMES and JAX_COORDINATOR_PORT");
  BOOST_TEST(text_of(detected(with(slurm, {{"JAX_COORDINATOR_PORT", "0"}})).address) ==
             "JAX_COORDINATOR_PORT is '0'; expected a whole number from 1 to 65535.");
}

BOOST_AUTO_TEST_CASE(row_7_21_open_mpi_gives_its_address_in_a_uri) {
  auto const found = detected(open_mpi);

  // 1531576320 div 4096 is 373920, and that mod 4096 is 1184.
  BOOST_TEST(text_of(found.address) == "10.96.0.1:62624 from OMPI_MCA_orte_hnp_uri");
  BOOST_TEST(text_of(found.job) == "ompi-1531576320 from OMPI_MCA_orte_hnp_uri");
  BOOST_TEST(text_of(found.num_tasks) == "4 from OMPI_COMM_WORLD_SIZE");
  BOOST_TEST(text_of(found.task) == "2 from OMPI_COMM_WORLD_RANK");
  BOOST_TEST(text_of(found.local_task) == "1 from OMPI_COMM_WORLD_LOCAL_RANK");
}

BOOST_AUTO_TEST_CASE(row_7_21_the_uri_may_have_one_address_or_ipv6_addresses) {
  auto const address_in = [](std::string const& uri) {
    return text_of(detected(with(open_mpi, {{"OMPI_MCA_orte_hnp_uri", uri}})).address);
  };

  BOOST_TEST(address_in("4096.0;tcp://10.0.0.7:34911") ==
             "10.0.0.7:61441 from OMPI_MCA_orte_hnp_uri");
  BOOST_TEST(address_in("4096.0;tcp6://[fe80::b9b:ac5d,2620:10d::1]:43370") ==
             "[fe80::b9b:ac5d]:61441 from OMPI_MCA_orte_hnp_uri");
  BOOST_TEST(address_in("4096.0;tcp6://[::1]:1;tcp://10.0.0.8:2") ==
             "10.0.0.8:61441 from OMPI_MCA_orte_hnp_uri");
}

BOOST_AUTO_TEST_CASE(row_7_21_an_unparsable_uri_is_named) {
  for (std::string const uri : {"nonsense", "x.0;tcp://10.0.0.1:1", "4096;tcp://10.0.0.1:1", "4096",
                                "4096.0;udp://a:1", "4096.0;tcp://:1"}) {
    BOOST_TEST(text_of(detected(with(open_mpi, {{"OMPI_MCA_orte_hnp_uri", uri}})).address) ==
               "OMPI_MCA_orte_hnp_uri is '" + uri +
                   "'; expected JOB.0;tcp://ADDRESS,...:PORT or "
                   "JOB.0;tcp6://[ADDRESS,...]:PORT.");
  }
}

// Behaviour 45: release 5 has no such URI.
BOOST_AUTO_TEST_CASE(open_mpi_without_the_uri_gives_the_ranks) {
  auto const found = detected(without(open_mpi, "OMPI_MCA_orte_hnp_uri"));

  BOOST_TEST(found.launcher == "ompi");
  BOOST_TEST(text_of(found.address) ==
             "missing: No variable names a host. Set COXSWAIN_ADDRESS to the host of task 0, or of "
             "coxswain serve, and a free port, for example: mpirun -x COXSWAIN_ADDRESS=b12:8476.");
  BOOST_TEST(text_of(found.task) == "2 from OMPI_COMM_WORLD_RANK");
}

BOOST_AUTO_TEST_CASE(row_7_22_slurm_gives_all_values) {
  auto const found = detected(slurm);

  // 1234567 mod 4096 is 1671.
  BOOST_TEST(text_of(found.address) == "b014:63111 from SLURM_STEP_NODELIST and SLURM_JOB_ID");
  BOOST_TEST(text_of(found.job) == "slurm-1234567 from SLURM_JOB_ID");
  BOOST_TEST(text_of(found.num_tasks) == "3 from SLURM_NTASKS");
  BOOST_TEST(text_of(found.task) == "2 from SLURM_PROCID");
  BOOST_TEST(text_of(found.local_task) == "1 from SLURM_LOCALID");
  BOOST_TEST(text_of(found.attempt) == "nothing");
  BOOST_TEST(text_of(detected(with(slurm, {{"SLURM_RESTART_COUNT", "1"}})).attempt) ==
             "1 from SLURM_RESTART_COUNT");
}

BOOST_AUTO_TEST_CASE(row_7_22_slurm_is_detected_only_with_all_five_variables) {
  for (auto const& [name, value] : slurm) {
    BOOST_TEST(detected(without(slurm, name)).launcher == "");
  }
}

BOOST_AUTO_TEST_CASE(row_7_22_the_first_host_of_a_list_is_the_coordinator) {
  BOOST_TEST(first_host_of("b12") == "b12");
  BOOST_TEST(first_host_of("b12,b13") == "b12");
  BOOST_TEST(first_host_of("b[001,003-007]") == "b001");
  BOOST_TEST(first_host_of("b[7-9]") == "b7");
  BOOST_TEST(first_host_of("login-1,b[7-9]") == "login-1");
}

BOOST_AUTO_TEST_CASE(the_suffix_after_a_bracket_in_a_host_list_is_kept) {
  BOOST_TEST(first_host_of("b[014-016]-ib") == "b014-ib");
  BOOST_TEST(first_host_of("rack[2-3,7]n[01-16]-ib,login") == "rack2n01-ib");
}

BOOST_AUTO_TEST_CASE(an_unparsable_host_list_is_named) {
  for (std::string const list : {"b[014", ",b12", "[]"}) {
    BOOST_TEST(first_host_of(list) == "SLURM_STEP_NODELIST is '" + list +
                                          "'; expected a list of hosts, such as "
                                          "b12,b[014-016].");
  }
}

BOOST_AUTO_TEST_CASE(slurm_numbers_are_validated) {
  BOOST_TEST(text_of(detected(with(slurm, {{"SLURM_JOB_ID", "7_1"}})).address) ==
             "SLURM_JOB_ID is '7_1'; expected a whole number from 0 to 18446744073709551615.");
  BOOST_TEST(text_of(detected(with(slurm, {{"SLURM_STEP_NUM_TASKS", "3"}})).num_tasks) ==
             "3 from SLURM_NTASKS");
  BOOST_TEST(text_of(detected(with(slurm, {{"SLURM_STEP_NUM_TASKS", "2"}})).num_tasks) ==
             "SLURM_NTASKS is '3'; expected the value of SLURM_STEP_NUM_TASKS, '2'; "
             "COXSWAIN_NUM_TASKS decides.");
}

BOOST_AUTO_TEST_CASE(row_7_23_mpi4py_is_a_python_module_and_not_detected) {
  auto const found = detected({{"MPI4PY_RC_INITIALIZE", "1"}});

  BOOST_TEST(found.launcher == "");
  BOOST_TEST(text_of(found.task) == "nothing");
}

BOOST_AUTO_TEST_CASE(row_7_24_tpu_workers_of_kubernetes_are_numbered_by_slice) {
  auto found = detected(tpu);
  BOOST_TEST(found.launcher == "gketpu");
  BOOST_TEST(text_of(found.address) == "t-0.s:8482 from TPU_WORKER_HOSTNAMES");
  BOOST_TEST(text_of(found.num_tasks) == "2 from TPU_WORKER_HOSTNAMES");
  BOOST_TEST(text_of(found.task) == "1 from TPU_WORKER_ID");
  BOOST_TEST(text_of(found.local_task) == "nothing");

  found = detected(with(tpu, {{"MEGASCALE_COORDINATOR_ADDRESS", "t-0.first:8080"},
                              {"MEGASCALE_NUM_SLICES", "3"},
                              {"MEGASCALE_SLICE_ID", "2"}}));
  BOOST_TEST(text_of(found.address) == "t-0.first:8482 from MEGASCALE_COORDINATOR_ADDRESS");
  BOOST_TEST(text_of(found.num_tasks) == "6 from TPU_WORKER_HOSTNAMES and MEGASCALE_NUM_SLICES");
  BOOST_TEST(text_of(found.task) == "5 from TPU_WORKER_ID and MEGASCALE_SLICE_ID");
}

BOOST_AUTO_TEST_CASE(row_7_24_addresses_of_tpu_processes_lose_their_ports) {
  auto const found = detected(
      {{"TPU_WORKER_ID", "0"}, {"TPU_PROCESS_ADDRESSES", "10.0.0.3:8471,10.0.0.4:8471,c:1"}});

  BOOST_TEST(text_of(found.address) == "10.0.0.3:8482 from TPU_PROCESS_ADDRESSES");
  BOOST_TEST(text_of(found.num_tasks) == "3 from TPU_PROCESS_ADDRESSES");
}

BOOST_AUTO_TEST_CASE(row_7_24_a_tpu_worker_beyond_its_slice_is_named) {
  BOOST_TEST(text_of(detected(with(tpu, {{"TPU_WORKER_ID", "2"}})).task) ==
             "TPU_WORKER_ID is '2'; expected a whole number from 0 to 1.");
  BOOST_TEST(text_of(detected(with(tpu, {{"MEGASCALE_NUM_SLICES", "0"}})).num_tasks) ==
             "MEGASCALE_NUM_SLICES is '0'; expected a whole number from 1 to 10000.");
}

BOOST_AUTO_TEST_CASE(row_7_25_tpu_machines_known_only_to_the_metadata_server_are_not_detected) {
  BOOST_TEST(detected({{"TPU_WORKER_ID", "1"}}).launcher == "");
  BOOST_TEST(detected({{"TPU_WORKER_HOSTNAMES", "a,b"}}).launcher == "");
}

BOOST_AUTO_TEST_CASE(row_7_27_no_metadata_server_is_contacted) {
  bool has_read{};
  auto const variable = [&](std::string const& name) -> std::optional<std::string> {
    if (name == "GCE_METADATA_IP") has_read = true;
    return std::nullopt;
  };

  BOOST_TEST(launch::detect({variable, {}}).launcher == "");
  BOOST_TEST(!has_read);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
