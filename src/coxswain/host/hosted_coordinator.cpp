#include "coxswain/host/hosted_coordinator.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/client/process_surroundings.hpp"
#include "coxswain/launch/detection.hpp"
#include "coxswain/net/endpoint.hpp"

#include <string_view>
#include <utility>

namespace coxswain {
namespace {

bool is_host(client_options const& of) { return of.task == task_id{0}; }

std::vector<std::string> parts_of(std::string_view list) {
  std::vector<std::string> parts;
  for (;;) {
    auto const comma = list.find(',');
    parts.emplace_back(list.substr(0, comma));
    if (comma == list.npos) return parts;
    list.remove_prefix(comma + 1);
  }
}

std::vector<std::string> listeners_for(std::string const& address) {
  auto const said = launch::detect(process_surroundings()).listen;
  if (said.value()) return parts_of(*said.value());
  auto const where = net::endpoint::parse(address).value();
  if (where.is_private()) return {address};
  std::string all_addresses{":"};
  all_addresses += std::to_string(where.port());
  return {all_addresses};
}

std::string no_num_tasks() {
  auto const why = launch::detect(process_surroundings()).num_tasks.why_missing();
  return "Task 0 is to be the coordinator's process, but how many tasks the job has is not known: "
         "neither the options nor COXSWAIN_NUM_TASKS nor a launcher says it." +
         (why.empty() ? "" : " " + why);
}

}  // namespace

server::options hosting_options(client_options const& of) {
  if (!of.num_tasks) throw error{{errc::invalid_argument, no_num_tasks()}};
  server::options options;
  options.listen = listeners_for(of.address);
  options.core.num_tasks = *of.num_tasks;
  if (!of.job.empty()) options.core.job = of.job;
  options.core.attempt = of.attempt;
  options.core.hosted_by_task = 0;
  if (!of.token.empty()) options.core.credentials = {{core::role::worker, of.token}};
  options.tls = of.tls;
  return options;
}

hosted_coordinator::hosted_coordinator(client_options const& of) {
  if (is_host(of)) server_.emplace(hosting_options(of));
}

hosted_coordinator::hosted_coordinator(client_options const& of, server::options with) {
  if (is_host(of)) server_.emplace(std::move(with));
}

}  // namespace coxswain
