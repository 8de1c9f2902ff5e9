#pragma once
// SIGINT and SIGTERM for the process that the user started: they end its waits with an exception,
// so that everything that was started and made is put away on the way out. One object, made first.

namespace coxswain::bench {

class interrupts {
 public:
  // From here on both signals are held back except during `wait_readable`.
  interrupts();
  ~interrupts();
  interrupts(interrupts const&) = delete;
  interrupts& operator=(interrupts const&) = delete;

  // Waits until `fd` has something to read or has been closed by the other side. Throws bench_error
  // (interrupted) when one of the signals has come.
  void wait_readable(int fd) const;
};

// Gives a freshly forked child the usual handling back, but for SIGINT: a terminal sends it to all
// processes, and the parent alone decides what it means.
void reset_signals_in_child();

}  // namespace coxswain::bench
