#include "process/local_job.hpp"

#include "options/exit_code.hpp"
#include "options/tls.hpp"
#include "options/units.hpp"
#include "process/jax_environment.hpp"
#include "process/job_registry.hpp"
#include "process/keep_recording.hpp"
#include "process/torch_environment.hpp"

#include "coxswain/base/error.hpp"
#include "coxswain/net/descriptor.hpp"
#include "coxswain/net/endpoint.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

namespace coxswain::tools {
namespace {

// When the job cannot begin any more: those that connect too late find no coordinator, and would
// wait for one.
constexpr duration hopeless_grace = 5s;

// So long after a deadlock has ended, an exit is its effect.
constexpr duration deadlock_effect = 10s;

// Before a process is started again. Its number is kept for it longer (config::come_back).
constexpr duration pause_min = 1s;
constexpr duration pause_max = 10s;

// What the launchers of JAX jobs set (§19.1.1 to §19.1.4). Programs that are started without such
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

std::shared_ptr<net::descriptor const> log_file(std::string const& directory,
                                                std::string const& name) {
  if (directory.empty()) return nullptr;
  auto const path = directory + "/" + name + ".log";
  std::error_code problem;
  std::filesystem::create_directories(directory, problem);
  int const opened = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (opened >= 0) return std::make_shared<net::descriptor const>(opened);
  throw program_error{exit_code::failed, fmt::format("--log-dir: cannot write '{}': {}", path,
                                                     std::generic_category().message(errno))};
}

}  // namespace

local_job::local_job(asio::io_context& io, local_job_options options)
    : options_{completed(std::move(options))},
      coordinator_{io, options_.server},
      child_ended_{io, SIGCHLD},
      control_{io.get_executor(),
               {[this](int number) { signal_groups(number); }, [this] { return have_stopped(); }}},
      supervisor_{options_.server.core.num_tasks + std::size_t{options_.spares}},
      timer_{io},
      coordinator_ended_{io, time_point::max()},
      endings_(options_.server.core.num_tasks),
      ended_with_job_(options_.server.core.num_tasks) {
  auto note_end = [this](std::exception_ptr problem) {
    coordinator_runs_ = false;
    coordinator_problem_ = std::move(problem);
    coordinator_ended_.cancel();
    if (coordinator_problem_) signal_all(SIGKILL);
  };
  asio::co_spawn(io, coordinator_.run(), note_end);
  tcp_store_ = tcp_store_address(options_.server, {options_.server, coordinator_.addresses()});
  if (!options_.relay.empty()) start_relay(io);
}

// How processes end is reported (has_ended), and why the job ends is noted.
local_job_options local_job::completed(local_job_options options) {
  options.server.core.reports_ends = true;
  options.server.log = [this, write = std::move(options.server.log)](core::event const& e) {
    note(e);
    if (write) write(e);
  };
  return options;
}

// A join that has failed may succeed the next time. The job's error is the coordinator's to report.
void local_job::note(core::event const& what) {
  using kind = core::event_kind;
  bool const is_all = !what.task && what.barrier.empty();
  bool const is_error = what.level == core::severity::error;
  if (what.kind == kind::stuck && is_error) deadlock_ = {what.text, time_point::max()};
  if (what.kind == kind::unstuck) deadlock_.ended = std::chrono::steady_clock::now();
  if (what.kind == kind::job_failed) {
    if (what.text.find("exited with status") != what.text.npos) blame_deadlock();
    is_decided_ = true;
    // With spares it is not known which process has the task.
    if (what.task && options_.spares == 0) set_aside_errors(*what.task);
  }
  if (what.kind == kind::joined && is_all && std::exchange(has_failed_join_, false)) {
    first_cause_.clear();
  }
  if (is_decided_ || !first_cause_.empty()) return;
  if (what.kind == kind::stopping) {
    constexpr std::string_view before_reason = "stopping: ";
    auto const reason = what.text.substr(before_reason.size());
    bool const is_by_request = reason.starts_with("stopped by ");
    first_cause_ = (is_by_request ? "the job was " : "the job was stopped: ") + reason;
  } else if (what.kind == kind::round_failed && is_all && is_error) {
    first_cause_ = "the job could not start: " + what.text;
    has_failed_join_ = true;
  }
}

// The others fail because of it, and what they print would hide the cause.
void local_job::set_aside_errors(task_id but_of) {
  auto const spared = fmt::format("[{}] ", name_of(but_of.value));
  if (!options_.log_directory.empty()) {
    errors_aside_ = options_.log_directory;
    return output_.set_aside_errors(spared, nullptr);
  }
  auto kept = keep_output();
  if (!kept.file) return;
  errors_aside_ = std::move(kept.path);
  output_.set_aside_errors(spared, std::move(kept.file));
}

// The calls of deadlocked tasks time out, and their programs end because of it.
void local_job::blame_deadlock() {
  if (is_decided_ || !first_cause_.empty() || deadlock_.text.empty()) return;
  auto const now = std::chrono::steady_clock::now();
  if (now < deadline_after(deadlock_.ended, deadlock_effect)) first_cause_ = deadlock_.text;
}

void local_job::start_relay(asio::io_context& io) {
  listening const at{options_.server, coordinator_.addresses()};
  client_options upstream{reachable(at.own.front())};
  upstream.pass.reset();
  upstream.job = options_.server.core.job;
  upstream.token = core::worker_token(options_.server.core.credentials);
  upstream.tls = options_.server.tls;
  upstream.label = "coxswain run";
  relay::relay_options made{std::move(upstream)};
  made.listen = {options_.relay};
  made.tcp_store_listen = {"127.0.0.1:0"};
  made.log = [write = options_.server.log](core::severity level, std::string const& text) {
    if (write) write({level, "relay: " + text});
  };
  relay_.emplace(io, std::move(made));
  tcp_store_ = relay_->addresses().back();
  asio::co_spawn(io, relay_->run(), asio::detached);
}

local_job::~local_job() = default;

asio::awaitable<void> local_job::run() {
  auto const count = static_cast<std::uint32_t>(endings_.size()) + options_.spares;
  members_.reserve(count);
  for (std::uint32_t i = 0; i < count && interrupts_ == 0; ++i) {
    members_.emplace_back();
    start(i, is_spare(i));
    ++running_;
    // Those that run already are served while the others start.
    co_await asio::post(asio::use_awaitable);
  }
  auto ignore = [](std::exception_ptr) {};
  if (options_.spares > 0) asio::co_spawn(timer_.get_executor(), end_spares(), ignore);
  boost::system::error_code ignored;  // a process was not started again
  for (check_all(); running_ > 0; check_all()) {
    co_await child_ended_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  timer_.cancel();
  forgive_replaced();
  if (coordinator_problem_) std::rethrow_exception(coordinator_problem_);
}

asio::awaitable<void> local_job::stop(std::string reason) {
  signal_all(SIGKILL);  // what the processes left behind
  is_decided_ = true;
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

std::string local_job::name_of(std::uint32_t process) const {
  return is_spare(process) ? fmt::format("spare-{}", process - endings_.size())
                           : std::to_string(process);
}

void local_job::start(std::uint32_t process, bool as_spare) {
  auto const name = name_of(process);
  auto const copy = log_file(options_.log_directory, name);
  member& one = members_[process];
  one.process =
      std::make_unique<child_process>(command_of(process, as_spare), supervisor_.of(process));
  one.runs = true;
  one.was_killed = false;
  auto const prefix = fmt::format("[{}] ", name);
  output_.pass_on(one.process->take_output(), STDOUT_FILENO, prefix, copy);
  output_.pass_on(one.process->take_errors(), STDERR_FILENO, prefix, copy);
}

// Those that the job has not needed should end by themselves.
asio::awaitable<void> local_job::end_spares() {
  co_await coordinator_.job_done();
  if (running_ > 0 && interrupts_ == 0 && !is_failing_) end_processes_after(options_.kill_grace);
}

child_command local_job::command_of(std::uint32_t task, bool as_spare) const {
  auto const& core = options_.server.core;
  listening const at{options_.server, coordinator_.addresses()};
  child_command command;
  command.arguments = options_.command;
  command.descriptors = options_.descriptors;
  command.environment = launcher_variables(at.own, core.num_tasks, task);
  if (as_spare) command.environment[1].second.clear();
  auto const add = [&](environment_variables more) {
    std::move(more.begin(), more.end(), std::back_inserter(command.environment));
  };
  bool const uses_relay = !options_.relay.empty() && !options_.server.xla.strict;
  auto const jax = uses_relay ? options_.relay : jax_address(options_.server, at);
  add(jax_address_variables(jax.empty() ? jax : reachable(jax)));
  add(torch_address_variables(tcp_store_));
  if (!as_spare) {
    add(jax_process_variables(task, core.num_tasks, task));
    add(torch_process_variables(task, core.num_tasks, task));
  }
  add({
      {"COXSWAIN_ADDRESS",
       (options_.relay.empty() ? "" : options_.relay + ',') + reachable(at.own.front())},
      {"COXSWAIN_TASK_ID", as_spare ? "" : std::to_string(task)},
      {"COXSWAIN_MEMBER", as_spare ? name_of(task) : ""},
      {"COXSWAIN_RESTARTS", std::to_string(members_[task].restarts)},
      {"COXSWAIN_NUM_TASKS", std::to_string(core.num_tasks)},
      {"COXSWAIN_JOB", core.job},
      {"COXSWAIN_ATTEMPT", core.attempt ? std::to_string(*core.attempt) : ""},
      {"COXSWAIN_TOKEN", core::worker_token(core.credentials)},
      {"COXSWAIN_TOKEN_FILE", ""},
      {"COXSWAIN_TASK_SOCKET", ""},  // that of a task of another job
  });
  add(tls_variables(options_.server.tls));
  return command;
}

// Signals merge: one may stand for many that have ended.
void local_job::check_all() {
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    if (!members_[i].runs) continue;
    if (auto const how = members_[i].process->look()) has_ended(i, *how);
  }
  control_.look();
}

bool local_job::have_stopped() const {
  return std::all_of(members_.begin(), members_.end(),
                     [](member const& one) { return !one.runs || one.process->has_stopped(); });
}

bool local_job::start_later(std::uint32_t process) {
  member& one = members_[process];
  bool const may = one.restarts < options_.restarts_max && interrupts_ == 0 && !is_failing_ &&
                   !coordinator_.error();
  if (!may) return false;
  auto const wait = std::min(pause_max, pause_min * (1 << std::min(one.restarts, 4U)));
  ++one.restarts;
  ++running_;
  if (!is_spare(process)) endings_[process].reset();
  spdlog::warn("process {} will be started again in {} (restart {} of {})", name_of(process),
               text_of(wait), one.restarts, options_.restarts_max);
  one.pause.emplace(timer_.get_executor(), wait);
  one.pause->async_wait([this, process](boost::system::error_code problem) {
    members_[process].pause.reset();
    if (problem || interrupts_ > 0 || is_failing_ || coordinator_.error()) {
      --running_;
    } else {
      start_again(process);
    }
    child_ended_.cancel();
  });
  return true;
}

// Without its number if a spare has it meanwhile.
void local_job::start_again(std::uint32_t process) {
  bool const as_spare = is_spare(process) || state_of(process) == task_state::connected;
  try {
    start(process, as_spare);
  } catch (program_error const& problem) {
    --running_;
    spdlog::error("process {} cannot be started again: {}", name_of(process), problem.what());
  }
}

void local_job::report_ended(std::uint32_t task, status why) {
  static_cast<void>(coordinator_.put_in(core::process_ended{task_id{task}, std::move(why)}));
}

void local_job::has_ended(std::uint32_t task, ending how) {
  members_[task].runs = false;
  --running_;
  how.after_grace = how.was_killed && how.number == SIGKILL && members_[task].was_killed;
  if (is_spare(task)) {
    if (!how.is_good() && !was_interrupted()) static_cast<void>(start_later(task));
    return;
  }
  endings_[task] = how;
  if (!how.is_good() && !how.was_killed) blame_deadlock();
  ended_with_job_[task] = !first_cause_.empty() || coordinator_.error();
  if (how.is_good()) return report_ended(task, {errc::ok, how.text()});
  if (was_interrupted()) return coordinator_.stop(interruption_);
  report_ended(task, {errc::aborted, how.text()});
  auto const state = state_of(task);
  bool const is_hopeless = state == task_state::never_connected || state == task_state::joining;
  // Only a recoverable task fails without the job.
  bool const is_recoverable = (state == task_state::failed && !coordinator_.error()) ||
                              (is_hopeless && options_.server.core.recoverable);
  if (is_recoverable && start_later(task)) return;
  if (!first_bad_) first_bad_ = task_id{task};
  if (state == task_state::failed && !coordinator_.error()) return;
  // A task that never joined cannot fail for the coordinator: another process might take its place.
  // None does here, so the others would wait until their deadline.
  if (is_hopeless) {
    if (first_cause_.empty()) {
      first_cause_ = fmt::format("task {} failed: {} before it had joined", task, how.text());
    }
    coordinator_.stop(fmt::format("task {} {} before it had joined", task, how.text()));
  }
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

// Another process has finished these tasks.
void local_job::forgive_replaced() {
  if (!first_bad_ || options_.spares == 0 || coordinator_.error()) return;
  auto const tasks = coordinator_.look().tasks;
  first_bad_.reset();
  for (std::uint32_t task = 0; task < endings_.size(); ++task) {
    if (!endings_[task] || endings_[task]->is_good()) continue;
    if (tasks[task].state == task_state::left) {
      endings_[task] = ending{};
    } else if (!first_bad_) {
      first_bad_ = task_id{task};
    }
  }
}

void local_job::signal_groups(int number) const {
  for (auto const& member : members_) {
    if (member.process) member.process->signal(number);
  }
}

void local_job::signal_all(int number) {
  signal_groups(number);
  for (auto& member : members_) {
    member.was_killed |= number == SIGKILL && member.runs;
    if (member.pause) member.pause->cancel();
  }
}

void local_job::end_processes_after(duration grace) {
  if (grace == without_limit) return;
  timer_.expires_after(grace);
  timer_.async_wait([this, grace](boost::system::error_code problem) {
    if (problem || running_ == 0) return;
    spdlog::warn("{} {} still running after {}; sending {}", running_,
                 running_ == 1 ? "process" : "processes", text_of(grace),
                 interrupts_ == 0 ? "SIGTERM" : "SIGKILL");
    end_processes();
  });
}

}  // namespace coxswain::tools
