// OpenPBS and TORQUE: the processes that pbsdsh starts, and the job script, which is the first of
// them. The coordinator's host is the first in PBS_NODEFILE, a file that PBS writes on that host
// only: elsewhere the address must come from another source.

#include "coxswain/launch/launchers.hpp"

#include <charconv>
#include <sstream>
#include <string_view>

namespace coxswain::launch {
namespace {

constexpr auto id_variable = "PBS_JOBID";
constexpr auto hosts_variable = "PBS_NODEFILE";

// A line for each process; empty if the file cannot be read.
std::vector<std::string> hosts_of(variables const& env) {
  std::istringstream file{env.file(env[hosts_variable])};
  std::vector<std::string> hosts;
  for (std::string host; file >> host;) hosts.push_back(host);
  return hosts;
}

// "1234.head" is 1234; the members of a job array, "1234[5].head" and "1234-5.head", have numbers
// of their own. None: it begins with no number.
std::optional<std::uint64_t> number_of(std::string_view id) {
  auto const* const end = id.data() + id.size();
  std::uint64_t number{};
  auto const parsed = std::from_chars(id.data(), end, number);
  if (parsed.ec != std::errc{}) return std::nullopt;
  std::uint64_t member{};
  if (parsed.ptr != end && (*parsed.ptr == '[' || *parsed.ptr == '-')) {
    std::from_chars(parsed.ptr + 1, end, member);
  }
  return number + member;
}

sourced_value<std::string> address_of(variables const& env, std::vector<std::string> const& hosts) {
  auto const id = env[id_variable];
  auto const number = number_of(id);
  if (!number) {
    return sourced_value<std::string>::wrong(
        refusal(id_variable, id, "a job's identifier, such as 1234.head or 1234[5].head"),
        id_variable);
  }
  if (hosts.empty()) {
    return sourced_value<std::string>::missing(
        std::string{hosts_variable} + " is '" + env[hosts_variable] +
        "', which cannot be read here: PBS writes it on the job's first host only. Set "
        "COXSWAIN_ADDRESS to that host and a free port for all processes, for example in the job "
        "script: export COXSWAIN_ADDRESS=$(hostname):8476.");
  }
  return env.address_at(hosts.front(), port_of_job(*number),
                        std::string{hosts_variable} + " and " + id_variable);
}

}  // namespace

bool has_pbs(variables const& env) { return env.has(id_variable); }

parameters of_pbs(variables const& env) {
  auto const hosts = hosts_of(env);
  parameters found;
  found.address = address_of(env, hosts);
  found.job = {"pbs-" + env[id_variable], id_variable};
  // TORQUE has PBS_VNODENUM for the process and PBS_NODENUM for its host, OpenPBS only the latter.
  found.task = env.number<std::uint32_t>(env.has("PBS_VNODENUM") ? "PBS_VNODENUM" : "PBS_NODENUM");
  if (!found.task.is_there()) {
    found.task = sourced_value<std::uint32_t>::missing(
        "PBS_NODENUM is not set. Start the processes with pbsdsh or mpiexec, or set "
        "COXSWAIN_TASK_ID.");
  }
  found.num_tasks = env.number<std::uint32_t>("PBS_NP", 1);
  if (found.num_tasks.is_there()) return found;
  if (hosts.empty()) {
    found.num_tasks = sourced_value<std::uint32_t>::missing(
        std::string{hosts_variable} + " cannot be read here. Set COXSWAIN_NUM_TASKS.");
    return found;
  }
  found.num_tasks = {static_cast<std::uint32_t>(hosts.size()), hosts_variable};
  return found;
}

}  // namespace coxswain::launch
