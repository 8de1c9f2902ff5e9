#pragma once
// One command that this process wraps: it gets our standard streams, and both end, stop and
// continue together. Not here: which signals are passed on to it.
//
// Not thread-safe; one at a time in a process, because it takes SIGCHLD.

#include "child/child_process.hpp"
#include "child/job_control.hpp"
#include "child/supervisor.hpp"

#include "coxswain/base/time.hpp"
#include "coxswain/net/asio.hpp"

#include <functional>
#include <memory>
#include <string>

namespace coxswain::tools {

class command_run {
 public:
  // `wrapper` names us in messages. Throws program_error: those of child_process.
  command_run(asio::any_io_executor const& executor, std::string wrapper, child_command command);

  // Waits until it has ended. The rest of its group runs until this object is destroyed.
  asio::awaitable<ending> ended();

  [[nodiscard]] pid_t pid() const noexcept { return process_.pid(); }

  // To all of its group.
  void signal(int number) const noexcept { process_.signal(number); }

  // Sends the signal, and SIGKILL after the grace that begins with the first call.
  void end(int number, duration kill_grace);

  // Instead of its SIGCONT when we were stopped and continue.
  void on_continue(std::function<void()> act) { control_.on_continue(std::move(act)); }

 private:
  void kill(int number, duration kill_grace);

  std::string wrapper_;
  child_command command_;
  asio::signal_set child_changed_;
  asio::steady_timer grace_;
  bool is_ending_{};
  bool was_killed_{};  // by us
  supervisor supervisor_;
  job_control control_;
  child_process process_;
  std::shared_ptr<bool> alive_{std::make_shared<bool>(true)};  // for what outlives it
};

}  // namespace coxswain::tools
