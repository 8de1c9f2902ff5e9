#pragma once
// A session's log entries for Python (the logger "coxswain"): a lost connection, a long wait. The
// client's thread puts them here and continues; a waiting thread that can take the GIL passes them
// to `logging`. Not here: those threads (waiting, mailbox).

#include "coxswain/client/options.hpp"
#include "python/native/python.hpp"

#include <atomic>
#include <deque>
#include <mutex>

namespace coxswain::python {

class log_queue {
 public:
  // From any thread. Drops the oldest above a limit. Returns true if it was empty before.
  bool put(client_event const& what);

  [[nodiscard]] bool empty() const noexcept { return empty_; }

  // Passes all entries to `logging`. With the GIL. False if an exception is set that is no failure
  // of a log handler, such as KeyboardInterrupt.
  [[nodiscard]] bool log();

 private:
  std::mutex mutex_;
  std::deque<client_event> all_;
  std::atomic<bool> empty_{true};
};

}  // namespace coxswain::python
