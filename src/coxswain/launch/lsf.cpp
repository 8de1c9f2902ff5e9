// An LSF job, which knows its hosts but does not number processes: the tool that starts them does
// (mpiexec, jsrun). The coordinator's host is the job's first.

#include "coxswain/launch/launchers.hpp"

#include <sstream>

namespace coxswain::launch {
namespace {

constexpr auto id_variable = "LSB_JOBID";
constexpr auto index_variable = "LSB_JOBINDEX";  // in a job array, from 1; else 0

// LSB_MCPU_HOSTS is "b12 4 b13 4". LSB_HOSTS names b12 four times, and is not set for large jobs.
char const* hosts_variable(variables const& env) {
  return env.has("LSB_MCPU_HOSTS") ? "LSB_MCPU_HOSTS" : "LSB_HOSTS";
}

}  // namespace

bool has_lsf(variables const& env) { return env.has(id_variable) && env.has(hosts_variable(env)); }

parameters of_lsf(variables const& env) {
  parameters found;
  found.task = sourced_value<std::uint32_t>::missing(
      "LSF does not number processes. Start them with mpiexec or jsrun, or set COXSWAIN_TASK_ID.");
  found.num_tasks = env.number<std::uint32_t>("LSB_DJOB_NUMPROC", 1);
  auto const job = env.number<std::uint64_t>(id_variable);
  auto const index = env.number<std::uint64_t>(index_variable);
  for (auto const* number : {&job, &index}) {
    if (number->problem().ok()) continue;
    found.address = sourced_value<std::string>::wrong(number->problem().message(), number->from());
    return found;
  }
  auto const member = index.value().value_or(0);
  auto const name = "lsf-" + std::to_string(*job.value());
  std::istringstream hosts{env[hosts_variable(env)]};
  std::string first;
  hosts >> first;
  found.address = env.address_at(first, port_of_job(*job.value() + member),
                                 std::string{hosts_variable(env)} + " and " + id_variable);
  found.job = {member == 0 ? name : name + "[" + std::to_string(member) + "]", id_variable};
  return found;
}

}  // namespace coxswain::launch
