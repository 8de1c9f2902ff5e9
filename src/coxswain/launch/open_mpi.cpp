// Open MPI's mpirun (§19.1.7). Up to release 4 the URI of mpirun has the host where the job
// began; later ones set only the ranks, and the address is that of the enclosing batch job, if
// there is one. The coordinator's host is mpirun's, which must be that of rank 0.

#include "coxswain/launch/launchers.hpp"

#include <charconv>
#include <string_view>
#include <system_error>

namespace coxswain::launch {
namespace {

constexpr auto uri_variable = "OMPI_MCA_orte_hnp_uri";

sourced_value<std::string> wrong_uri(std::string const& uri) {
  return sourced_value<std::string>::wrong(
      refusal(uri_variable, uri, "JOB.0;tcp://ADDRESS,...:PORT or JOB.0;tcp6://[ADDRESS,...]:PORT"),
      uri_variable);
}

// The first address of the first list of this kind, up to one of the marks; empty if there is none.
std::string first_address(std::string_view uri, std::string_view kind, std::string_view marks) {
  auto const at = uri.find(kind);
  if (at == uri.npos) return {};
  auto const list = uri.substr(at + kind.size());
  return std::string{list.substr(0, list.find_first_of(marks))};
}

std::string host_in(std::string_view uri) {
  auto const v4 = first_address(uri, "tcp://", ",:");
  return v4.empty() ? first_address(uri, "tcp6://[", ",]") : v4;
}

}  // namespace

bool has_open_mpi(variables const& env) {
  return env.has(uri_variable) || env.has("OMPI_COMM_WORLD_RANK");
}

parameters of_open_mpi(variables const& env) {
  auto const uri = env[uri_variable];
  parameters found;
  if (uri.empty()) found = batch_job_around(env, "mpirun -x COXSWAIN_ADDRESS=b12:8476");
  found.task = env.number<std::uint32_t>("OMPI_COMM_WORLD_RANK");
  found.num_tasks = env.number<std::uint32_t>("OMPI_COMM_WORLD_SIZE", 1);
  found.local_task = env.number<std::uint32_t>("OMPI_COMM_WORLD_LOCAL_RANK");
  if (uri.empty()) return found;
  std::uint64_t job{};
  auto const parsed = std::from_chars(uri.data(), uri.data() + uri.size(), job);
  bool const has_job = parsed.ec == std::errc{} && *parsed.ptr == '.';
  auto const host = host_in(uri);
  if (!has_job || host.empty()) {
    found.address = wrong_uri(uri);
    return found;
  }
  found.address = env.address_at(host, port_of_job(job / 4096), uri_variable);
  found.job = {"ompi-" + std::to_string(job), uri_variable};
  return found;
}

}  // namespace coxswain::launch
