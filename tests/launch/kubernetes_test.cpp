// Indexed Jobs and JobSets (§19.1.12).

#include "tests/launch/given.hpp"

#include <boost/test/unit_test.hpp>

namespace coxswain::test {
namespace {

environment const indexed_job{{"KUBERNETES_SERVICE_HOST", "10.0.0.1"},
                              {"JOB_COMPLETION_INDEX", "3"},
                              {"HOSTNAME", "train-3"}};

environment const jobset{{"KUBERNETES_SERVICE_HOST", "10.0.0.1"},
                         {"JOB_COMPLETION_INDEX", "3"},
                         {"JOBSET_NAME", "train"},
                         {"HOSTNAME", "train-workers-0-3"}};

environment const files{{"/etc/hosts",
                         "# Kubernetes-managed hosts file.\n"
                         "127.0.0.1\tlocalhost\n"
                         "fe00::0\tip6-localnet\n"
                         "10.4.2.17\ttrain-3.oars.default.svc.cluster.local\ttrain-3\n"}};

}  // namespace

BOOST_AUTO_TEST_SUITE(kubernetes_test)

BOOST_AUTO_TEST_CASE(row_7_26_the_first_pod_of_an_indexed_job_is_the_coordinator) {
  auto const found = detected(indexed_job, files);

  BOOST_TEST(found.launcher == "kubernetes");
  BOOST_TEST(text_of(found.address) == "train-0.oars:55527 from HOSTNAME and /etc/hosts");
  BOOST_TEST(text_of(found.task) == "3 from JOB_COMPLETION_INDEX");
  BOOST_TEST(text_of(found.num_tasks) == "nothing");
  BOOST_TEST(
      text_of(detected(with(indexed_job, {{"JAX_COORDINATOR_PORT", "77"}}), files).address) ==
      "train-0.oars:77 from HOSTNAME and /etc/hosts and JAX_COORDINATOR_PORT");
}

BOOST_AUTO_TEST_CASE(row_7_26_without_a_subdomain_the_error_says_what_to_set) {
  auto const expected =
      "HOSTNAME is 'train-3'; expected a pod with a subdomain, and /etc/hosts names none: make a "
      "headless Service whose selector is job-name: train, give the Job's pod template its name as "
      "the subdomain, or set COXSWAIN_ADDRESS.";

  BOOST_TEST(text_of(detected(indexed_job).address) == expected);
  BOOST_TEST(text_of(detected(indexed_job, {{"/etc/hosts", "10.4.2.17 train-3\n# train-3.a\n"}})
                         .address) == expected);
}

BOOST_AUTO_TEST_CASE(row_7_26_the_first_pod_of_a_job_set_is_the_coordinator) {
  auto const found = detected(jobset);

  BOOST_TEST(text_of(found.address) ==
             "train-workers-0-0.train:55527 from HOSTNAME and JOBSET_NAME");
  BOOST_TEST(text_of(found.task) == "3 from JOB_COMPLETION_INDEX");
}

BOOST_AUTO_TEST_CASE(pods_of_later_jobs_of_a_job_set_are_not_numbered_by_index) {
  auto const found = detected(with(jobset, {{"HOSTNAME", "train-workers-1-3"}}));
  auto const expected =
      "HOSTNAME is 'train-workers-1-3'; expected a pod of the first job, since "
      "JOB_COMPLETION_INDEX numbers the pods of each job of JobSet 'train' from 0; set "
      "COXSWAIN_ADDRESS, COXSWAIN_TASK_ID and COXSWAIN_NUM_TASKS.";

  BOOST_TEST(text_of(found.address) == expected);
  BOOST_TEST(text_of(found.task) == expected);
}

BOOST_AUTO_TEST_CASE(row_7_26_a_pod_without_an_index_belongs_to_no_indexed_job) {
  BOOST_TEST(detected(without(indexed_job, "JOB_COMPLETION_INDEX"), files).launcher == "");
  BOOST_TEST(detected(without(indexed_job, "KUBERNETES_SERVICE_HOST"), files).launcher == "");
}

BOOST_AUTO_TEST_CASE(row_7_26_an_unexpected_host_name_is_named) {
  for (std::string const host : {"node-17", "", "3", "-3"}) {
    BOOST_TEST(text_of(detected(with(indexed_job, {{"HOSTNAME", host}}), files).address) ==
               "HOSTNAME is '" + host +
                   "'; expected the name of a pod of an Indexed Job, which ends with -3 as "
                   "JOB_COMPLETION_INDEX says; set COXSWAIN_ADDRESS.");
  }
  BOOST_TEST(text_of(detected(with(jobset, {{"HOSTNAME", "node-17"}})).address)
                 .starts_with("HOSTNAME is 'node-17'; expected the name of a pod"));
}

BOOST_AUTO_TEST_CASE(without_a_readable_file_no_subdomain_is_known) {
  auto const variable = [](std::string const& name) -> std::optional<std::string> {
    auto const found = indexed_job.find(name);
    return found == indexed_job.end() ? std::nullopt : std::optional{found->second};
  };
  BOOST_TEST(text_of(launch::detect({variable, {}}).address)
                 .starts_with("HOSTNAME is 'train-3'; expected a pod with a subdomain"));
}

BOOST_AUTO_TEST_CASE(values_set_in_the_manifest_are_used) {
  auto const found = detected(with(indexed_job, {{"COXSWAIN_ADDRESS", "coordinator:8476"},
                                                 {"COXSWAIN_NUM_TASKS", "4"},
                                                 {"HOSTNAME", "node-17"}}));

  BOOST_TEST(text_of(found.address) == "coordinator:8476 from COXSWAIN_ADDRESS");
  BOOST_TEST(text_of(found.task) == "3 from JOB_COMPLETION_INDEX");
  BOOST_TEST(text_of(found.num_tasks) == "4 from COXSWAIN_NUM_TASKS");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace coxswain::test
