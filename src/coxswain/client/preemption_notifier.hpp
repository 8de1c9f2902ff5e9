#pragma once
// Notices by a signal that this process is about to be taken away, as batch systems and clouds
// announce it (upstream's SIGTERM notifier, semantics 4.1 and 4.2). While one exists, the signal no
// longer ends the process; after the last one it does what it did before the first. In a child that
// is forked meanwhile it does so, too: what is sent to the child is no notice for its parent.
//
//   preemption_notifier notifier{executor};
//   co_await notifier.will_be_preempted_at();
//   co_await job.preempt();
//
// Not thread-safe: everything happens on the executor's thread.

#include "coxswain/net/asio.hpp"

#include <chrono>
#include <csignal>
#include <memory>

namespace coxswain {

class preemption_notifier {
 public:
  // Throws boost::system::system_error: the signal cannot be caught; coxswain::error:
  // FAILED_PRECONDITION, the process was forked by one that has had notifiers.
  explicit preemption_notifier(asio::any_io_executor executor, int signal = SIGTERM);

  // Calls that wait throw CANCELLED.
  ~preemption_notifier();
  preemption_notifier(preemption_notifier const&) = delete;
  preemption_notifier& operator=(preemption_notifier const&) = delete;

  // Waits for the signal and gives the time at which it came, which is the same for all callers; at
  // once if it came before. Throws coxswain::error: CANCELLED, the notifier was destroyed.
  asio::awaitable<std::chrono::system_clock::time_point> will_be_preempted_at() const;

 private:
  struct state;
  static asio::awaitable<std::chrono::system_clock::time_point> wait(std::shared_ptr<state> self);
  std::shared_ptr<state> state_;
};

}  // namespace coxswain
