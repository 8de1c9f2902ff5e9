// Indexed Jobs and JobSets (§19.1.12), without the Kubernetes API: what is in a pod's
// environment, and the name that Kubernetes writes into its /etc/hosts. Neither has the number of
// tasks, so COXSWAIN_NUM_TASKS belongs in the manifest.

#include "coxswain/launch/launchers.hpp"

#include <sstream>

namespace coxswain::launch {
namespace {

constexpr std::uint16_t port_of_jax = 55527;
constexpr auto index_variable = "JOB_COMPLETION_INDEX";
constexpr auto jobset_variable = "JOBSET_NAME";

using problem = sourced_value<std::string>;

// The job's name: the pod's, which is its host name, without "-INDEX". Empty: it has another.
std::string job_of(variables const& env) {
  auto const host = env["HOSTNAME"];
  auto const end = "-" + env[index_variable];
  if (host.size() <= end.size() || !host.ends_with(end)) return {};
  return host.substr(0, host.size() - end.size());
}

// That of the pod in "10.1.2.3  train-3.workers.default.svc.cluster.local  train-3"; empty if the
// pod has none.
std::string subdomain_of(std::string const& host, std::string const& hosts_file) {
  std::istringstream lines{hosts_file};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    for (std::string word; words >> word && word.front() != '#';) {
      if (!word.starts_with(host + ".")) continue;
      auto const rest = word.substr(host.size() + 1);
      return rest.substr(0, rest.find('.'));
    }
  }
  return {};
}

// A JobSet's jobs are "SET-NAME-0", "SET-NAME-1" and so on. Those of several jobs would all be
// numbered from 0.
bool is_first_job(std::string const& job) { return job.ends_with("-0"); }

std::string several_jobs(variables const& env) {
  return refusal("HOSTNAME", env["HOSTNAME"],
                 std::string{"a pod of the first job, since "} + index_variable +
                     " numbers the pods of each job of JobSet '" + env[jobset_variable] +
                     "' from 0; set COXSWAIN_ADDRESS, COXSWAIN_TASK_ID and COXSWAIN_NUM_TASKS");
}

sourced_value<std::string> address_of(variables const& env, std::string const& job) {
  auto const host = env["HOSTNAME"];
  if (job.empty()) {
    return problem::wrong(
        refusal("HOSTNAME", host,
                "the name of a pod of an Indexed Job, which ends with -" + env[index_variable] +
                    " as " + index_variable + " says; set COXSWAIN_ADDRESS"),
        index_variable);
  }
  if (env.has(jobset_variable)) {
    return env.address_at(job + "-0." + env[jobset_variable], port_of_jax,
                          std::string{"HOSTNAME and "} + jobset_variable);
  }
  auto const subdomain = subdomain_of(host, env.file("/etc/hosts"));
  if (subdomain.empty()) {
    return problem::wrong(
        refusal("HOSTNAME", host,
                "a pod with a subdomain, and /etc/hosts names none: make a headless Service whose "
                "selector is job-name: " +
                    job +
                    ", give the Job's pod template its name as the subdomain, or set "
                    "COXSWAIN_ADDRESS"),
        index_variable);
  }
  return env.address_at(job + "-0." + subdomain, port_of_jax, "HOSTNAME and /etc/hosts");
}

}  // namespace

bool has_kubernetes(variables const& env) {
  return env.has("KUBERNETES_SERVICE_HOST") && env.has(index_variable);
}

parameters of_kubernetes(variables const& env) {
  parameters found;
  auto const job = job_of(env);
  if (env.has(jobset_variable) && !job.empty() && !is_first_job(job)) {
    found.address = problem::wrong(several_jobs(env), jobset_variable);
    found.task = sourced_value<std::uint32_t>::wrong(several_jobs(env), jobset_variable);
    return found;
  }
  found.address = address_of(env, job);
  found.task = env.number<std::uint32_t>(index_variable);
  return found;
}

}  // namespace coxswain::launch
