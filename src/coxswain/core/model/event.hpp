#pragma once
// What the coordinator tells its log, and those who watch: state changes, as they happen. The text
// is for people; the kind and whom it is about are for programs.

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
  round_failed,  // a barrier, the join or the leave: somebody did not come in time
  job_failed,
  waiting,  // a barrier, the join or the leave has waited for long
  refused,  // a connection
  stalled,  // the coordinator's loop stood still
  stopping,
  stuck,        // tasks: none of them can ever go on
  no_progress,  // a task: it has reported no further step for too long
  joining,      // a task: it is here and waits for the others
  credentials_replaced,
  challenged,  // a task: another process asks to be it
  ended,       // a task: its process ended while it joined
  reset,       // a task that had failed: it may join again
  preemption,  // a task is taken away, or the others agree on a step to stop at
  topology,    // an exchange of topologies
  unstuck,     // tasks: they were stuck
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
