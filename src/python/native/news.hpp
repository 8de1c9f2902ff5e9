#pragma once
// What a session has to say in Python's log (the logger "coxswain"): its connection was lost, a
// call waits for long. The client's thread puts it here and goes on; whoever waits for the client
// and can have the GIL hands it to `logging`. Not here: who that is (waiting, mailbox).

#include "coxswain/client/options.hpp"
#include "python/native/python.hpp"

#include <atomic>
#include <deque>
#include <mutex>

namespace coxswain::python {

class news {
 public:
  // From any thread. The oldest go when there are many. True: there was nothing before.
  bool put(client_event const& what);

  [[nodiscard]] bool empty() const noexcept { return empty_; }

  // Hands everything to `logging`. With the GIL. False: an exception that is no failure of a log
  // handler, such as KeyboardInterrupt, is set.
  [[nodiscard]] bool log();

 private:
  std::mutex mutex_;
  std::deque<client_event> all_;
  std::atomic<bool> empty_{true};
};

}  // namespace coxswain::python
