#pragma once
// xla_service's state of connections and of incarnations of tasks. A connection is not a task:
// several agents of a process share one, and a task's calls can move to another. So each
// incarnation of a task has a session in the core, and each connection has one for calls without a
// caller. Private to xla.

#include "coxswain/base/fifo.hpp"
#include "coxswain/base/ids.hpp"
#include "coxswain/base/status.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/xla/methods.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
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
  core::session_secret secret{};  // those of its tasks are derived from it; never sent
  std::uint64_t sessions_made{};
  boost::unordered_flat_map<std::int32_t, request_id> calls;  // by stream
  std::vector<task_session*> tasks;
  time_point heard;     // the last sign of life
  time_point reported;  // the last one that was passed to the core for the tasks
  bool is_over{};       // it got a goodbye
};

enum class standing : std::uint8_t { joining, joined, left, ended };

// The outcome of a barrier of this task.
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
  std::optional<time_point> last_beat;
  bool has_slow_beats{};  // which was logged
  fifo<done_round> done;  // a few
  status why_ended;
};

}  // namespace coxswain::xla
