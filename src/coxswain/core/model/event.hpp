#pragma once
// Events for the coordinator's log and for watches: state changes, as they happen. The text is for
// people; the kind and the tasks are for programs.

#include "coxswain/base/ids.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace coxswain::core {

enum class severity : std::uint8_t { info, warning, error };

enum class event_kind : std::uint8_t {
  other,
  joined,        // a task, or all of them
  left,          // likewise
  failed,        // a task
  suspect,       // a task: its connection was lost
  back,          // a task: it was suspect
  round_failed,  // a barrier, the join or the leave timed out
  job_failed,
  waiting,  // a barrier, the join or the leave has waited for long
  refused,  // a connection
  stalled,  // the coordinator's event loop stalled
  stopping,
  stuck,        // tasks: they are deadlocked
  no_progress,  // a task: it has reported no further step for too long
  joining,      // a task: it waits for the others to join
  credentials_replaced,
  challenged,      // a task: another incarnation asks to join
  ended,           // a task: its process ended while it joined
  reset,           // a task that had failed: it may join again
  preemption,      // a task will be preempted, or the tasks agreed on a step to stop at
  topology,        // a topology exchange
  unstuck,         // tasks: their deadlock has ended
  restarted,       // the coordinator, with its state; or its sessions have resumed since
  ended_with_job,  // a task: it failed because the job had failed or its epoch was over
  draining,        // the job: nobody may join any more
};

struct event {
  severity level{severity::info};
  std::string text;
  event_kind kind{event_kind::other};
  std::optional<task_id> task{};
  std::string barrier{};  // its name

  friend bool operator==(event const&, event const&) = default;
};

}  // namespace coxswain::core
