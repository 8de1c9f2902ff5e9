#pragma once
// Blocks all signals in this thread for its lifetime; threads started meanwhile keep them blocked.

#include <pthread.h>
#include <signal.h>

namespace coxswain::net {

class signals_blocked {
 public:
  signals_blocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~signals_blocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  signals_blocked(signals_blocked const&) = delete;
  signals_blocked& operator=(signals_blocked const&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace coxswain::net
