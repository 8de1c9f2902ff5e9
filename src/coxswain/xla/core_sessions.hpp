#pragma once
// xla_service's sessions in the core: opens, resumes and ends them, and sends requests of theirs.
// Private to xla. Not thread-safe. Not here: which sessions there are (session_table).

#include "coxswain/base/ids.hpp"
#include "coxswain/base/status.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/core/model/loss.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/xla/arrived_call.hpp"
#include "coxswain/xla/core_port.hpp"
#include "coxswain/xla/open_call_table.hpp"
#include "coxswain/xla/outcome.hpp"
#include "coxswain/xla/reply_writer.hpp"
#include "coxswain/xla/session_table.hpp"
#include "coxswain/xla/task_session.hpp"
#include "coxswain/xla/xla_service_options.hpp"

#include <optional>
#include <string>

namespace coxswain::xla {

class core_sessions {
 public:
  // All of them must outlive it. `self` is the coordinator's.
  core_sessions(xla_service_options const& options, incarnation self, core_port& core,
                session_table& sessions, open_call_table& calls, reply_writer const& replies);

  // A connection's own session, for calls without a caller.
  void open(time_point now, client& c);
  // A session of the task that registers.
  task_session& open(arrived_call const& a);

  // The caller, with a connection of the core if it has joined. Null: the call was refused.
  [[nodiscard]] task_session* caller(arrived_call const& a);
  // The session for a request about keys: the caller's if it has joined, else the connection's.
  [[nodiscard]] carrier& key_carrier(arrived_call const& a);

  // Binds a session to this connection, and resumes it if its connection was lost. One that has
  // left or ended stays as it is.
  void bind(time_point now, task_session& s, client& to);

  // The connection of the core is lost: a joined task becomes suspect.
  void detach(time_point now, task_session& s, core::loss how);

  // The session has ended, or ends now. Its open calls are answered; it is still known for a while.
  void end(time_point now, task_session& s, standing as, status const& why);
  // Ends the session in the core, and forgets it and its open calls.
  void drop(time_point now, task_session& s);
  // Drops the sessions that were not resumed in time.
  void drop_detached(time_point now);

  // A call that waits for this request. `task`: for which it is made.
  void submit(time_point now, open_call call, std::optional<task_id> task, core::request&& what);
  // A request whose call is open already; zero: nothing waits for it.
  void send(time_point now, carrier& by, request_id id, std::optional<task_id> task,
            core::request&& what);

  // Does nothing if the task does not poll.
  void answer_poll(task_session& s, outcome how);
  // An open call is answered. `why` may be OK: the session has ended.
  void fail_call(request_id id, status const& why);

 private:
  void resume(time_point now, task_session& s, client const& by);
  void say_hello(time_point now, carrier& by, std::string label);

  xla_service_options const& options_;
  incarnation self_;
  core_port& core_;
  session_table& sessions_;
  open_call_table& calls_;
  reply_writer const& replies_;
};

}  // namespace coxswain::xla
