#include "interrupts.hpp"

#include "bench_error.hpp"

#include <cerrno>

#include <poll.h>
#include <signal.h>

namespace coxswain::bench {
namespace {

volatile sig_atomic_t signal_seen = 0;

void note_signal(int number) { signal_seen = number; }

void on_signal(int number, void (*action)(int)) {
  struct sigaction how {};
  how.sa_handler = action;
  sigemptyset(&how.sa_mask);
  sigaction(number, &how, nullptr);
}

void mask_both(int how) {
  sigset_t both;
  sigemptyset(&both);
  sigaddset(&both, SIGINT);
  sigaddset(&both, SIGTERM);
  sigprocmask(how, &both, nullptr);
}

}  // namespace

interrupts::interrupts() {
  mask_both(SIG_BLOCK);
  on_signal(SIGINT, note_signal);
  on_signal(SIGTERM, note_signal);
}

interrupts::~interrupts() {
  on_signal(SIGINT, SIG_DFL);
  on_signal(SIGTERM, SIG_DFL);
  mask_both(SIG_UNBLOCK);
}

void interrupts::wait_readable(int fd) const {
  sigset_t mask_during_wait;
  sigprocmask(SIG_BLOCK, nullptr, &mask_during_wait);
  sigdelset(&mask_during_wait, SIGINT);
  sigdelset(&mask_during_wait, SIGTERM);
  pollfd waited{fd, POLLIN, 0};
  for (;;) {
    auto const ready = ppoll(&waited, 1, nullptr, &mask_during_wait);
    if (signal_seen != 0) throw bench_error{"interrupted", exit_code::interrupted};
    if (ready > 0) return;
    if (ready < 0 && errno != EINTR) throw system_failure("cannot wait for a child process");
  }
}

void reset_signals_in_child() {
  on_signal(SIGINT, SIG_IGN);
  on_signal(SIGTERM, SIG_DFL);
  mask_both(SIG_UNBLOCK);
}

}  // namespace coxswain::bench
