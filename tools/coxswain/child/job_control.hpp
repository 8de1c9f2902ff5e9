#pragma once
// Ctrl-Z: commands run in process groups of their own, which the terminal does not reach. SIGTSTP
// is passed on to them; when they have stopped, this process stops, too; SIGCONT continues all.
// Not here: SIGSTOP, which a process cannot notice; waiting for SIGCHLD.

#include "coxswain/net/asio.hpp"

#include <functional>
#include <memory>

namespace coxswain::tools {

class job_control {
 public:
  struct commands {
    std::function<void(int)> signal;     // sends it to all
    std::function<bool()> have_stopped;  // all that have not ended
  };

  // As long as it exists. A SIGTSTP that is ignored stays so.
  job_control(asio::any_io_executor const& executor, commands all);

  // After each SIGCHLD.
  void look();

  // Instead of the SIGCONT for the commands.
  void on_continue(std::function<void()> act) { continue_ = std::move(act); }

 private:
  void await_signal();

  commands all_;
  std::function<void()> continue_;
  asio::signal_set signals_;
  bool is_stopping_{};
  std::shared_ptr<bool> alive_{std::make_shared<bool>(true)};  // for what outlives it
};

}  // namespace coxswain::tools
