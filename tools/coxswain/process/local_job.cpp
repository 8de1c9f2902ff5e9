#include "process/local_job.hpp"

#include "options/units.hpp"
#include "process/job_registry.hpp"
#include "process/keep_recording.hpp"
#include "process/torch_environment.hpp"
#include "text/job_words.hpp"

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
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

namespace coxswain::tools {
namespace {

// After a stop on request: time to report that, and to end.
constexpr duration stop_grace = 1s;

// So long after a deadlock has ended, an exit is its effect.
constexpr duration deadlock_effect = 10s;

constexpr std::string_view before_reason = "stopping: ";
}  // namespace

bool is_stop_on_request(core::event const& what) {
  return what.kind == core::event_kind::stopping && what.text.starts_with("stopping: by ");
}

local_job::local_job(asio::io_context& io, local_job_options options)
    : options_{completed(std::move(options))},
      coordinator_{io, options_.server},
      child_ended_{io, SIGCHLD},
      control_{io.get_executor(),
               {[this](int number) { signal_groups(number); }, [this] { return have_stopped(); }}},
      supervisor_{options_.server.core.num_tasks + std::size_t{options_.spares}},
      timer_{io},
      coordinator_ended_{io, time_point::max()},
      stacks_{io.get_executor(), directory_of_program(options_.command),
              [this](core::report_stack_args what) {
                static_cast<void>(coordinator_.put_in(std::move(what)));
              }},
      endings_(options_.server.core.num_tasks + (is_elastic() ? options_.spares : 0)),
      ended_with_job_(endings_.size()),
      wanted_{options_.server.core.num_tasks + std::size_t{options_.spares}} {
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
  options.server.wants_stacks = [this](core::stacks_wanted const& wanted) { take_stacks(wanted); };
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
  if (is_all && what.kind == kind::left) have_all_left_ = true;
  if (is_all && what.kind == kind::joined) have_all_left_ = false;
  if (is_elastic() && what.kind == kind::other && what.text.find(" asks for ") != what.text.npos) {
    asio::post(timer_.get_executor(), [this, text = what.text] {
      auto const wanted = coordinator_.look().elastic->tasks_wanted;
      if (text.ends_with(" asks for " + counted(wanted, "task"))) resize();
    });
  }
  bool const is_known = is_decided_ || !first_cause_.empty();
  if (what.kind == kind::stopping) {
    note_stop(what, is_known);
  } else if (what.kind == kind::round_failed && is_all && is_error && !is_known) {
    first_cause_ = "the job could not start: " + what.text;
    has_failed_join_ = true;
  }
}

void local_job::note_stop(core::event const& what, bool is_cause_known) {
  if (!is_cause_known) {
    first_cause_ = "the job was stopped: " + what.text.substr(before_reason.size());
  }
  if (!is_stop_on_request(what)) return;
  was_stopped_ = !is_cause_known;
  is_failing_ = true;
  if (interrupts_ == 0) end_processes_after(std::min(options_.failure_grace, stop_grace));
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
  auto const count = static_cast<std::uint32_t>(wanted_);
  members_.reserve(count);
  for (std::uint32_t i = 0; i < count && interrupts_ == 0; ++i) {
    members_.emplace_back();
    start(i, numbers(i));
    ++running_;
    // Those that run already are served while the others start.
    co_await asio::post(asio::use_awaitable);
  }
  auto ignore = [](std::exception_ptr) {};
  if (options_.spares > 0 || is_elastic())
    asio::co_spawn(timer_.get_executor(), end_spares(), ignore);
  boost::system::error_code ignored;  // a process was not started again
  for (check_all(); running_ > 0; check_all()) {
    co_await child_ended_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  timer_.cancel();
  if (is_elastic()) {
    blame_member();
  } else {
    forgive_replaced();
  }
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

// Those that the job has not needed should end by themselves.
asio::awaitable<void> local_job::end_spares() {
  co_await coordinator_.job_done();
  if (is_elastic()) {
    for (auto& one : members_) {
      if (one.pause) one.pause->cancel();
    }
    co_return;
  }
  if (running_ > 0 && interrupts_ == 0 && !is_failing_) end_processes_after(options_.kill_grace);
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
