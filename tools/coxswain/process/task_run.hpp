#pragma once
// A COMMAND that is one task of a job: this process joins, runs it, lets the programs that it
// starts act for the task, and leaves or reports its failure when it has ended, unless the COMMAND
// joins by itself. When the job fails, the COMMAND is ended. Not here: the command line (task.cpp),
// the programs' messages (forwarder).
//
// Not thread-safe; one at a time in a process, because it takes SIGCHLD and the signals that end
// programs.

#include "child/command_run.hpp"
#include "process/forwarder.hpp"
#include "stacks/stack_taker.hpp"

#include "coxswain/client/client.hpp"
#include "coxswain/net/asio.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace coxswain::tools {

struct task_run_options {
  explicit task_run_options(client_options as) : client{std::move(as)} {}

  client_options client;  // has a task, or gets one
  join_options join;
  leave_options leave;
  std::vector<std::string> command;
  rlimit descriptors{};  // the COMMAND's limits of open files; zero: as ours

  // The COMMAND is an unmodified JAX program, which joins and leaves as the task by itself.
  bool joins_itself{};
  std::string jax_address;        // where it connects to; empty: what our own environment says
  std::string tcp_store_address;  // likewise, with torch
  std::uint32_t local_task{};     // the task's number on this machine

  // How long after SIGTERM the COMMAND of a job that failed is killed; and how long it is left
  // alone before that, if it was this task that failed.
  duration kill_grace{5s};
};

class task_run {
 public:
  task_run(asio::io_context& io, task_run_options options);

  // From the join to the leave. Signals that end programs are passed on to the COMMAND; while there
  // is none, they end this with operation_aborted. Throws program_error, error.
  asio::awaitable<void> run();

  // Makes `run` end with operation_aborted, whatever it waits for.
  void abandon() { cancel_.emit(asio::cancellation_type::terminal); }

  // Ends everything. Call it when `run` has ended, in any way.
  void end() noexcept;

  asio::cancellation_slot slot() { return cancel_.slot(); }

  // That of the COMMAND, or 128 + the signal that ended this without one.
  [[nodiscard]] std::optional<int> code() const noexcept { return code_; }

 private:
  void await_signal();
  asio::awaitable<bool> has_joined();
  asio::awaitable<void> let_programs_act();
  [[nodiscard]] child_command command() const;
  void start_command();
  asio::awaitable<void> end_with_job();
  asio::awaitable<void> pause();
  asio::awaitable<void> end_grant();
  asio::awaitable<void> leave();
  asio::awaitable<void> report_end(ending how);
  asio::awaitable<status> report(status what);
  void take_stacks(core::stacks_wanted const& wanted);
  asio::awaitable<void> report_stack(core::report_stack_args what);

  task_run_options options_;
  asio::signal_set signals_;
  asio::steady_timer timer_;
  asio::cancellation_signal cancel_;
  client job_;
  std::shared_ptr<forwarder> forwarder_;  // null: this program acts for a task itself
  std::string secret_;                    // of the programs that act for the task
  std::optional<command_run> command_;
  stack_taker stacks_;
  bool has_failed_{};  // the job's failure, as reported to us
  bool is_away_{};     // our connection is lost
  std::optional<int> code_;
};

}  // namespace coxswain::tools
