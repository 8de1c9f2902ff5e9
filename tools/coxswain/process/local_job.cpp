#include "process/local_job.hpp"

#include "options/tls.hpp"
#include "options/units.hpp"
#include "process/jax_environment.hpp"
#include "process/job_registry.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/net/endpoint.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iterator>
#include <utility>

namespace coxswain::tools {
namespace {

// When the job cannot begin any more: those that connect too late find no coordinator, and would
// wait for one.
constexpr duration hopeless_grace = 5s;

// What the launchers of JAX jobs set (semantics 7.1 to 7.4). Programs that are started without such
// a launcher find the coordinator the same way.
environment_variables launcher_variables(std::vector<std::string> const& listeners,
                                         std::uint32_t num_tasks, std::uint32_t task) {
  environment_variables all{{"JAXOPERATOR_NUM_PROCESSES", std::to_string(num_tasks)},
                            {"JAXOPERATOR_PROCESS_ID", std::to_string(task)},
                            {"JAXOPERATOR_COORDINATOR_ADDRESS", ""},
                            {"JAXOPERATOR_COORDINATOR_HOST", ""}};
  for (auto const& listener : listeners) {
    auto const address = net::endpoint::parse(reachable(listener)).value();
    if (address.is_unix()) continue;
    all[2].second = address.text();
    all[3].second = address.host();
    break;
  }
  return all;
}

// Ours are (has_ended).
local_job_options with_reported_ends(local_job_options options) {
  options.server.core.reports_ends = true;
  return options;
}

}  // namespace

local_job::local_job(asio::io_context& io, local_job_options options)
    : options_{with_reported_ends(std::move(options))},
      coordinator_{io, options_.server},
      child_ended_{io, SIGCHLD},
      timer_{io},
      coordinator_ended_{io, time_point::max()},
      endings_(options_.server.core.num_tasks) {
  auto note_end = [this](std::exception_ptr problem) {
    coordinator_runs_ = false;
    coordinator_problem_ = std::move(problem);
    coordinator_ended_.cancel();
    if (coordinator_problem_) signal_all(SIGKILL);
  };
  asio::co_spawn(io, coordinator_.run(), note_end);
  if (!options_.relay.empty()) start_relay(io);
}

void local_job::start_relay(asio::io_context& io) {
  listening const at{options_.server, coordinator_.addresses()};
  client_options upstream{reachable(at.own.front())};
  upstream.pass.reset();
  upstream.job = options_.server.core.job;
  upstream.token = worker_token(options_.server.core.credentials);
  upstream.tls = options_.server.tls;
  upstream.label = "coxswain run";
  relay::relay_options made{std::move(upstream)};
  made.listen = {options_.relay};
  made.log = [write = options_.server.log](core::severity level, std::string const& text) {
    if (write) write({level, "relay: " + text});
  };
  relay_.emplace(io, std::move(made));
  asio::co_spawn(io, relay_->run(), asio::detached);
}

local_job::~local_job() = default;

asio::awaitable<void> local_job::run() {
  for (std::uint32_t task = 0; task < endings_.size() && interrupts_ == 0; ++task) {
    processes_.push_back(std::make_unique<child_process>(command_of(task)));
    auto& process = *processes_.back();
    ++running_;
    output_.pass_on(process.take_output(), STDOUT_FILENO, fmt::format("[{}] ", task));
    output_.pass_on(process.take_errors(), STDERR_FILENO, fmt::format("[{}] ", task));
    // Those that run already are served while the others start.
    co_await asio::post(asio::use_awaitable);
  }
  for (look_at_all(); running_ > 0; look_at_all()) {
    co_await child_ended_.async_wait(asio::use_awaitable);
  }
  timer_.cancel();
  if (coordinator_problem_) std::rethrow_exception(coordinator_problem_);
}

asio::awaitable<void> local_job::stop(std::string reason) {
  signal_all(SIGKILL);  // what the processes left behind
  coordinator_.stop(std::move(reason));
  boost::system::error_code ignored;
  while (coordinator_runs_) {
    co_await coordinator_ended_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  output_.finish();
}

void local_job::interrupt(std::string reason) {
  if (!first_bad_ && !coordinator_.error()) interruption_ = std::move(reason);
  end_processes();
}

void local_job::end_processes() {
  signal_all(++interrupts_ == 1 ? SIGTERM : SIGKILL);
  if (interrupts_ == 1) end_processes_after(options_.kill_grace);
}

child_command local_job::command_of(std::uint32_t task) const {
  auto const& core = options_.server.core;
  listening const at{options_.server, coordinator_.addresses()};
  child_command command;
  command.arguments = options_.command;
  command.descriptors = options_.descriptors;
  command.environment = launcher_variables(at.own, core.num_tasks, task);
  auto const add = [&](environment_variables more) {
    std::move(more.begin(), more.end(), std::back_inserter(command.environment));
  };
  auto const jax = jax_address(options_.server, at);
  add(jax_address_variables(jax.empty() ? jax : reachable(jax)));
  add(jax_process_variables(task, core.num_tasks, task));
  add({
      {"COXSWAIN_ADDRESS",
       (options_.relay.empty() ? "" : options_.relay + ',') + reachable(at.own.front())},
      {"COXSWAIN_TASK_ID", std::to_string(task)},
      {"COXSWAIN_NUM_TASKS", std::to_string(core.num_tasks)},
      {"COXSWAIN_JOB", core.job},
      {"COXSWAIN_ATTEMPT", core.attempt ? std::to_string(*core.attempt) : ""},
      {"COXSWAIN_TOKEN", worker_token(core.credentials)},
      {"COXSWAIN_TOKEN_FILE", ""},
      {"COXSWAIN_TASK_SOCKET", ""},  // that of a task of another job
  });
  add(tls_variables(options_.server.tls));
  return command;
}

// Signals merge: one may stand for many that have ended.
void local_job::look_at_all() {
  for (std::uint32_t task = 0; task < processes_.size(); ++task) {
    if (endings_[task]) continue;
    if (auto const how = processes_[task]->look()) has_ended(task, *how);
  }
}

void local_job::tell_ended(std::uint32_t task, status why) {
  static_cast<void>(coordinator_.put_in(core::process_ended{task_id{task}, std::move(why)}));
}

void local_job::has_ended(std::uint32_t task, ending how) {
  endings_[task] = how;
  --running_;
  if (how.is_good()) return tell_ended(task, {errc::ok, how.text()});
  if (was_interrupted()) return coordinator_.stop(interruption_);
  if (!first_bad_) first_bad_ = task_id{task};
  tell_ended(task, {errc::aborted, how.text()});
  auto const state = state_of(task);
  // Only a recoverable task fails without the job.
  if (state == task_state::failed && !coordinator_.error()) return;
  bool const is_hopeless = state == task_state::never_connected || state == task_state::joining;
  // A task that never joined cannot fail for the coordinator: another process might take its place.
  // None does here, so the others would wait until their deadline.
  if (is_hopeless)
    coordinator_.stop(fmt::format("task {} {} before it had joined", task, how.text()));
  if (interrupts_ == 0 && !std::exchange(is_failing_, true)) {
    end_processes_after(is_hopeless ? std::min(options_.failure_grace, hopeless_grace)
                                    : options_.failure_grace);
  }
}

task_state local_job::state_of(std::uint32_t task) const {
  // It does not matter then, and the check is expensive.
  if (coordinator_.error()) return task_state::failed;
  return coordinator_.look().tasks.at(task).state;
}

void local_job::signal_all(int number) {
  for (auto const& process : processes_) process->signal(number);
}

void local_job::end_processes_after(duration grace) {
  if (grace == without_limit) return;
  timer_.expires_after(grace);
  timer_.async_wait([this, grace](boost::system::error_code problem) {
    if (problem || running_ == 0) return;
    spdlog::warn("{} processes still running after {}; sending {}", running_, text_of(grace),
                 interrupts_ == 0 ? "SIGTERM" : "SIGKILL");
    end_processes();
  });
}

}  // namespace coxswain::tools
