// The processes of a local job: how they start, what their ends mean, and which start again.

#include "process/local_job.hpp"

#include "options/exit_code.hpp"
#include "options/tls.hpp"
#include "options/units.hpp"
#include "process/jax_environment.hpp"
#include "process/job_registry.hpp"
#include "process/torch_environment.hpp"

#include "coxswain/core/kernel/text.hpp"
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
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <system_error>
#include <utility>

namespace coxswain::tools {
namespace {

// When the job cannot begin any more: those that connect too late find no coordinator, and would
// wait for one.
constexpr duration hopeless_grace = 5s;

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

std::string processes_text(std::size_t count) {
  return fmt::format("{} {}", count, count == 1 ? "process" : "processes");
}

// "was killed by signal 9 (SIGKILL)", "exited with status 3", "exited with status 137 (128 +
// SIGKILL)" as coxswain task and shells do for a command that was killed, "has finished"
std::string end_text(ending const& how) {
  if (how.is_good()) return "has finished";
  auto const* const signal = how.was_killed ? nullptr : ::sigabbrev_np(how.number - 128);
  return how.predicate() + (signal == nullptr ? "" : fmt::format(" (128 + SIG{})", signal));
}

std::string restarts_text(std::uint32_t count) {
  if (count == 0) return {};
  return fmt::format(" after {} restart{}", count, count == 1 ? "" : "s");
}

}  // namespace

std::string local_job::name_of(std::uint32_t process) const {
  if (is_elastic()) return fmt::format("m{}", process);
  return is_spare(process) ? fmt::format("spare-{}", process - endings_.size())
                           : std::to_string(process);
}

void local_job::start(std::uint32_t process, bool has_number) {
  auto const name = name_of(process);
  auto const copy = log_file(options_.log_directory, name);
  member& one = members_[process];
  one.process =
      std::make_unique<child_process>(command_of(process, has_number), supervisor_.of(process));
  one.runs = true;
  one.was_killed = false;
  auto const prefix = fmt::format("[{}] ", name);
  output_.pass_on(one.process->take_output(), STDOUT_FILENO, prefix, copy);
  output_.pass_on(one.process->take_errors(), STDERR_FILENO, prefix, copy);
}

child_command local_job::command_of(std::uint32_t task, bool has_number) const {
  auto const& core = options_.server.core;
  listening const at{options_.server, coordinator_.addresses()};
  child_command command;
  command.arguments = options_.command;
  command.descriptors = options_.descriptors;
  command.environment = launcher_variables(at.own, core.num_tasks, task);
  if (!has_number) command.environment[1].second.clear();
  auto const add = [&](environment_variables more) {
    std::move(more.begin(), more.end(), std::back_inserter(command.environment));
  };
  bool const uses_relay = !options_.relay.empty() && !options_.server.xla.strict;
  auto jax = uses_relay ? options_.relay : jax_address(options_.server, at);
  if (is_elastic()) jax.clear();
  add(jax_address_variables(jax.empty() ? jax : reachable(jax)));
  add(torch_address_variables(tcp_store_));
  if (has_number) {
    add(jax_process_variables(task, core.num_tasks, task));
    add(torch_process_variables(task, core.num_tasks, task));
  }
  add({
      {"COXSWAIN_ADDRESS",
       (options_.relay.empty() ? "" : options_.relay + ',') + reachable(at.own.front())},
      {"COXSWAIN_TASK_ID", has_number ? std::to_string(task) : ""},
      {"COXSWAIN_MEMBER", has_number ? "" : name_of(task)},
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

bool local_job::start_later(std::uint32_t process) {
  member& one = members_[process];
  bool const may = one.restarts < options_.restarts_max && running_ < wanted_ && may_start();
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
    if (problem || !may_start() || !start_again(process)) --running_;
    child_ended_.cancel();
  });
  return true;
}

bool local_job::may_start() const {
  bool const is_ending =
      interrupts_ > 0 || is_failing_ || coordinator_.error() || coordinator_.is_draining();
  if (is_ending || running_ > wanted_) return false;
  return !is_elastic() || (first_cause_.empty() && !is_over());
}

// Without its number if a spare has it meanwhile.
bool local_job::start_again(std::uint32_t process) {
  bool const has_number = numbers(process) && state_of(process) != task_state::connected;
  try {
    start(process, has_number);
    return true;
  } catch (program_error const& problem) {
    spdlog::error("process {} cannot be started again: {}", name_of(process), problem.what());
    return false;
  }
}

// An operator has asked for so many: those that are too few are started. Those that are too many
// leave when the next epoch begins; if they have left already and only their processes still run,
// others follow these.
void local_job::resize() {
  auto const job = coordinator_.look();
  wanted_ = std::size_t{job.elastic->tasks_wanted} + options_.spares;
  auto const is_here = [](auto const& t) { return t.state == task_state::connected; };
  auto const here =
      static_cast<std::size_t>(std::ranges::count_if(job.tasks, is_here)) + job.spares_waiting;
  auto const run = static_cast<std::size_t>(std::ranges::count_if(members_, &member::runs));
  leaving_ = run - std::min(run, here);
  auto left = running_;
  for (auto& one : members_) {
    if (left <= wanted_ || !one.pause) continue;
    one.pause->cancel();
    --left;
  }
  for (std::uint32_t i = 0; i < members_.size() && running_ < wanted_ && may_start(); ++i) {
    if (!members_[i].runs && !members_[i].pause) start_anew(i);
  }
}

// As if it had not run before.
void local_job::start_anew(std::uint32_t process) {
  members_[process].restarts = 0;
  endings_[process].reset();
  if (start_again(process)) ++running_;
}

void local_job::take_stacks(core::stacks_wanted const& wanted) {
  std::vector<stack_taker::process> all;
  for (auto const& one : wanted.processes) all.push_back(process_of(one));
  stacks_.take(wanted.number, std::move(all));
}

// With spares, or in an elastic job, any process can have the task: the one whose group its client
// is in.
stack_taker::process local_job::process_of(core::stacks_wanted::process const& wanted) const {
  stack_taker::process found{wanted.task, 0, wanted.name, "its process has ended"};
  if (options_.spares == 0 && !is_elastic()) {
    bool const runs = wanted.task.value < members_.size() && members_[wanted.task.value].runs;
    if (runs) found.root = members_[wanted.task.value].process->pid();
    return found;
  }
  found.why_not = "it is not known which of the processes has the task";
  auto const client = std::atoi(wanted.name.substr(wanted.name.rfind(':') + 1).c_str());
  for (auto const& member : members_) {
    if (client > 0 && member.runs && ::getpgid(client) == member.process->pid())
      found.root = client;
  }
  return found;
}

void local_job::report_ended(std::uint32_t task, status why) {
  static_cast<void>(coordinator_.put_in(core::process_ended{task_id{task}, std::move(why)}));
}

void local_job::has_ended(std::uint32_t task, ending how) {
  members_[task].runs = false;
  --running_;
  how.after_grace = how.was_killed && how.number == SIGKILL && members_[task].was_killed;
  if (is_elastic()) return member_has_ended(task, how);
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
      first_cause_ = fmt::format("task {} {} before it had joined", task, how.predicate());
      spdlog::error("{}; the job cannot begin", first_cause_);
    }
    coordinator_.stop(fmt::format("task {} {} before it had joined", task, how.predicate()));
  }
  if (interrupts_ == 0 && !std::exchange(is_failing_, true)) {
    end_processes_after(is_hopeless ? std::min(options_.failure_grace, hopeless_grace)
                                    : options_.failure_grace);
  }
}

// Others go on without it, as long as they are enough.
void local_job::member_has_ended(std::uint32_t process, ending how) {
  endings_[process] = how;
  bool const had_ended = is_over();
  ended_with_job_[process] = !first_cause_.empty() || coordinator_.error();
  if (was_interrupted() && !how.is_good()) return coordinator_.stop(interruption_);
  if (auto const task = coordinator_.task_of_member(name_of(process))) {
    report_ended(task->value, {how.is_good() ? errc::ok : errc::aborted, how.text()});
  }
  if (had_ended || ended_with_job_[process]) {
    if (how.is_good()) return;
    if (!first_bad_) first_bad_ = task_id{process};
    bool const is_first = !had_ended && interrupts_ == 0 && !std::exchange(is_failing_, true);
    if (is_first) end_processes_after(options_.failure_grace);
    return;
  }
  if (!how.is_good() && start_later(process)) return;
  bool const has_left = how.is_good() && leaving_ > 0;
  if (has_left) --leaving_;
  if (has_left && running_ < wanted_ && may_start()) return start_anew(process);
  bool const are_enough = running_ >= options_.server.core.min_tasks;
  bool const is_bad = running_ > 0 || !how.is_good();
  if (!are_enough && is_bad && !coordinator_.is_draining()) return end_hopeless(process);
  if (how.is_good()) return;
  spdlog::warn("process {} {}; the job continues with {}", name_of(process), end_text(how),
               processes_text(running_));
}

// The members that are left would wait for others, which nobody starts.
void local_job::end_hopeless(std::uint32_t process) {
  auto const& how = *endings_[process];
  auto const restarts = members_[process].restarts;
  auto const left = running_ == 0   ? "no process is left"
                    : running_ == 1 ? "1 process is left"
                                    : processes_text(running_) + " are left";
  first_cause_ =
      fmt::format("process {} {}{}; {}, and the job needs {} (--min-tasks)", name_of(process),
                  end_text(how), restarts_text(restarts), left, options_.server.core.min_tasks);
  spdlog::error(first_cause_);
  first_bad_ = task_id{process};
  coordinator_.stop(first_cause_);
  if (interrupts_ > 0) return;
  is_failing_ = true;
  end_processes_after(std::min(options_.failure_grace, hopeless_grace));
}

bool local_job::is_over() const {
  return have_all_left_ || coordinator_.state().what == core::job_state::kind::over;
}

task_state local_job::state_of(std::uint32_t task) const {
  // It does not matter then, and the check is expensive.
  if (coordinator_.error()) return task_state::failed;
  return coordinator_.look().tasks.at(task).state;
}

// An elastic job that has finished went on without those that ended badly before.
void local_job::blame_member() {
  bool const is_known = first_bad_ || was_interrupted() || coordinator_.error();
  if (is_known || is_over()) return;
  for (std::uint32_t i = 0; i < endings_.size() && !first_bad_; ++i) {
    if (endings_[i] && !endings_[i]->is_good()) first_bad_ = task_id{i};
  }
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

}  // namespace coxswain::tools
