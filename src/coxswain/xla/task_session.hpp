#pragma once
// What the door knows of its clients: of connections, of incarnations of tasks, and of open calls.
// A connection is no task: several agents of a process share one, and a task's calls may move to
// another. So each incarnation of a task has a session of the core, and each connection one more,
// for calls that name nobody. Private to xla.

#include "coxswain/base/bytes.hpp"
#include "coxswain/base/fifo.hpp"
#include "coxswain/base/ids.hpp"
#include "coxswain/base/status.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/xla/effects.hpp"
#include "coxswain/xla/messages.hpp"
#include "coxswain/xla/methods.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace coxswain::xla {

struct task_session;

// A session of the core.
struct carrier {
  connection_id core{};          // zero: its connection is lost, or it has ended
  std::uint64_t received{};      // replies, which the core may forget
  std::vector<request_id> open;  // requests that the core has
  task_session* of_task{};       // null: a connection's own
};

// A connection.
struct client : carrier {
  std::string peer;
  core::session_secret secret{};  // of which its tasks' are made: nobody is told them
  std::uint64_t sessions_made{};
  boost::unordered_flat_map<std::int32_t, request_id> calls;  // by stream
  std::vector<task_session*> tasks;
  time_point heard;  // the last sign of life
  time_point told;   // the same, as far as the core knows of it for the tasks
  bool is_over{};    // it was said goodbye
};

enum class standing : std::uint8_t { joining, joined, left, ended };

// How a barrier ended that this task was at.
struct done_round {
  std::string name;
  std::int64_t counter{};
  core::answer_ptr what;
};

// An incarnation of a task.
struct task_session : carrier {
  task_id task{};
  incarnation self{};
  generation of{};
  bool recoverable{};
  standing is{standing::joining};
  connection_id bound{};  // the connection on which it registered, polled or sent a heartbeat last
  session_id id{};
  core::session_secret secret{};
  request_id join{};                   // the call that waits for the others, zero: none
  request_id poll{};                   // the call that waits for an error, zero: none
  time_point detached;                 // when its connection was lost
  bool resumes{};                      // whether the core still knows the session is not known yet
  std::vector<request_id> heartbeats;  // that wait for that
  fifo<done_round> done;               // a few
  status why_ended;
};

// A directory that is listed or removed page by page.
struct paged {
  explicit paged(memory_meter* meter) noexcept : counted{meter} {}
  std::string directory;
  std::string reply;
  std::string after;
  std::uint64_t version{};
  int restarts{};
  transit_bytes counted;
};

// A call that is not answered. If `to.stream` is zero nobody waits for it.
struct open_call {
  call_id to{};
  method_path of{};
  carrier* by{};
  std::string name{};              // of its key, directory or barrier
  std::int64_t counter{};          // of its barrier
  std::vector<task_name> asked{};  // by GetAliveTasks; or the caller, for its job's name
  std::unique_ptr<paged> pages{};
};

}  // namespace coxswain::xla
