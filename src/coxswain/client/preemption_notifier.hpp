#pragma once
// PUBLIC. Catches the signal by which batch systems and clouds announce a preemption of this
// process (upstream's SIGTERM notifier, §10.2.1 and §10.2.2). While one exists, the signal does
// not end the process; after the last one it has its previous effect again, as it has in a child
// forked meanwhile: a signal to the child is no notice for its parent.
//
//   preemption_notifier notifier{executor};
//   co_await notifier.will_be_preempted_at();
//   co_await job.preempt();
//
// Not thread-safe: everything happens on the executor's thread.

#include "coxswain/client/initiation.hpp"

#include <chrono>
#include <csignal>
#include <memory>

namespace coxswain {

class preemption_notifier {
 public:
  // Throws boost::system::system_error: the signal cannot be caught; coxswain::error:
  // FAILED_PRECONDITION, the process was forked by one that had notifiers.
  explicit preemption_notifier(asio::any_io_executor executor, int signal = SIGTERM);

  // Waiting calls end with CANCELLED.
  ~preemption_notifier();
  preemption_notifier(preemption_notifier const&) = delete;
  preemption_notifier& operator=(preemption_notifier const&) = delete;

  // Waits for the signal and returns the time of its arrival, the same for all callers; returns at
  // once if it has arrived before. CANCELLED: the notifier was destroyed. Completion tokens
  // and cancellation as for the calls of a client.
  template <detail::token_for<std::chrono::system_clock::time_point>... Token>
  auto will_be_preempted_at(Token&&... token) const {
    return detail::initiate(detail::initiation{executor_}, wait(state_),
                            std::forward<Token>(token)...);
  }

 private:
  struct state;
  static asio::awaitable<std::chrono::system_clock::time_point> wait(std::shared_ptr<state> self);
  asio::any_io_executor executor_;
  std::shared_ptr<state> state_;
};

}  // namespace coxswain
