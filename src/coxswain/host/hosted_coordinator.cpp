#include "coxswain/host/hosted_coordinator.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/client/blocking_client.hpp"
#include "coxswain/client/process_environment.hpp"
#include "coxswain/launch/detection.hpp"
#include "coxswain/net/endpoint.hpp"
#include "coxswain/net/socket.hpp"

#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace coxswain {
namespace {

bool is_host(client_options const& of) { return of.task == task_id{0}; }

// Time limit for a listener at the address to answer as a coordinator.
constexpr auto answer_max = 5s;

// Where task 0 hosts the coordinator, nothing takes over elsewhere.
net::endpoint only_address(std::string const& address) {
  auto all = net::endpoint::parse_list(address);
  if (!all) throw error{all.error()};
  if (all->size() == 1) return std::move(all->front());
  throw error{{errc::invalid_argument,
               "The coordinator in the process of task 0 has one address, "
               "not several: '" +
                   address + "'."}};
}

bool can_connect(net::socket_address const& to) {
  net::socket const probe{::socket(to.family(), SOCK_STREAM | SOCK_CLOEXEC, 0)};
  timeval const longest{std::chrono::seconds{answer_max}.count(), 0};
  ::setsockopt(probe.value(), SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof(longest));
  return ::connect(probe.value(), to.data(), to.size()) == 0;
}

// Whether anything listens there; a client would retry until its time limit.
bool is_listened_at(std::string const& address) {
  auto const found = only_address(address).resolve(net::endpoint::purpose::connect);
  return found && std::any_of(found->begin(), found->end(), can_connect);
}

// OK if a coordinator answers.
status why_nobody_answers(client_options asked) {
  if (!is_listened_at(asked.address)) return {errc::unavailable, "nothing listens there."};
  asked.task.reset();
  asked.connect_timeout = answer_max;
  try {
    blocking_client const observer{std::move(asked)};
    return {};
  } catch (error const& problem) {
    if (problem.code() != errc::deadline_exceeded) throw;
    return {problem.outcome().code(), problem.what()};
  }
}

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
  auto const given = launch::detect(process_environment()).listen;
  if (given.value()) return parts_of(*given.value());
  auto const where = only_address(address);
  if (where.is_private()) return {address};
  std::string all_addresses{":"};
  all_addresses += std::to_string(where.port());
  return {all_addresses};
}

std::string no_num_tasks() {
  auto const why = launch::detect(process_environment()).num_tasks.why_missing();
  return "Task 0 hosts the coordinator, but the number of tasks is unknown: "
         "neither the options nor COXSWAIN_NUM_TASKS nor a launcher provides it." +
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
  if (is_host(of)) start(of, hosting_options(of));
}

hosted_coordinator::hosted_coordinator(client_options const& of, server::options with) {
  if (is_host(of)) start(of, std::move(with));
}

void hosted_coordinator::start(client_options const& of, server::options with) {
  if (why_nobody_answers(of).ok()) return;
  try {
    server_.emplace(std::move(with));
  } catch (error const& problem) {
    if (problem.code() != errc::unavailable) throw;
    // Another process was faster; it may be the coordinator.
    auto const why = why_nobody_answers(of);
    if (why.ok()) return;
    throw error{{errc::unavailable, problem.outcome().message() + " No coordinator answers at " +
                                        of.address + " either: " + why.message()}};
  }
}

}  // namespace coxswain
