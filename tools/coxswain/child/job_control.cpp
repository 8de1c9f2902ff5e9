#include "child/job_control.hpp"

#include "child/ending_signals.hpp"

#include <csignal>
#include <utility>

namespace coxswain::tools {

job_control::job_control(asio::any_io_executor const& executor, commands all)
    : all_{std::move(all)}, continue_{[this] { all_.signal(SIGCONT); }}, signals_{executor} {
  if (is_ignored(SIGTSTP)) return;
  signals_.add(SIGTSTP);
  signals_.add(SIGCONT);
  await_signal();
}

void job_control::await_signal() {
  signals_.async_wait(
      [this, alive = std::weak_ptr{alive_}](boost::system::error_code problem, int number) {
        if (problem || alive.expired()) return;
        is_stopping_ = number == SIGTSTP;
        if (is_stopping_) {
          all_.signal(SIGTSTP);
          look();
        } else {
          continue_();
        }
        await_signal();
      });
}

// A command that ignores SIGTSTP goes on, and so do we: what it needs of us stays there.
void job_control::look() {
  if (!is_stopping_ || !all_.have_stopped()) return;
  is_stopping_ = false;
  ::raise(SIGSTOP);
}

}  // namespace coxswain::tools
