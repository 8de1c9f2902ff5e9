#pragma once
// PUBLIC. process_monitor for programs without coroutines: reports each change of the tasks on a
// thread of its own.
//
// Threads: every function may be called from any number of threads at once, also from `notify`;
// except the destructor. The monitor's thread handles no signals.
//
// Fork: a child may only destroy the object, which does nothing there.

#include "coxswain/client/blocking_client.hpp"
#include "coxswain/client/process_monitor.hpp"

#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace coxswain {

class blocking_process_monitor {
 public:
  // One call at a time, on the monitor's thread. Changes that occur during a call are reported
  // together by the next. It may block, and use the client. Must not throw.
  using observer = process_monitor::observer;

  // Called once, last, on the same thread, with the reason if the monitor has ended by itself: the
  // client has ended, or has lost the coordinator.
  using ending = std::function<void(status)>;

  // Reports the tasks at once, and then after each change. The client must outlive it. Throws
  // coxswain::error: CANCELLED (the client was closed), FAILED_PRECONDITION (after fork),
  // RESOURCE_EXHAUSTED (no thread can be created).
  blocking_process_monitor(blocking_client& of, observer notify, ending ended = {});

  // Waits for a running call; there is none afterwards. Not from `notify` or `ended`.
  ~blocking_process_monitor();
  blocking_process_monitor(blocking_process_monitor const&) = delete;
  blocking_process_monitor& operator=(blocking_process_monitor const&) = delete;

  // Like process_table::mark_failed; tasks that are lost by it are reported as well, unless the
  // monitor has ended. When it returns, check_current() knows.
  result<std::vector<process>> mark_failed(task_id task, status error);

  // See process_table::check_current. Sends nothing: it is quick, and based on the newest snapshot.
  [[nodiscard]] status check_current(std::span<process const> members) const;

  // Whether this is the monitor's thread, which must not destroy it.
  [[nodiscard]] bool is_telling() const noexcept;

 private:
  class reporter;
  std::unique_ptr<reporter> reporter_;
};

}  // namespace coxswain
