#pragma once
// Routes a session's request to the concern that handles it, after checking whether the session may
// make it now, and for which task (§3.1).

#include "coxswain/core/config.hpp"
#include "coxswain/core/kernel/call.hpp"
#include "coxswain/core/kernel/roster.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/core/model/operation.hpp"

#include <optional>

namespace coxswain::core {

class calls;
class kernel;
struct concerns;

class request_router {
 public:
  explicit request_router(concerns& all);
  request_router(request_router const&) = delete;
  request_router& operator=(request_router const&) = delete;

  // A complete message was received.
  void received(time_point now, connection_id from, client_message&& message);

 private:
  void dispatch(time_point now, session_id by, client_message&& message);
  bool dispatch_unnumbered(time_point now, session_id by, client_message const& message);
  [[nodiscard]] status admissible(session const& s, operation_row const& row) const;
  [[nodiscard]] result<std::optional<task_id>> acting_task(session_id by, session const& s,
                                                           client_message const& message) const;

  concerns& concerns_;
  calls& calls_;
  kernel& kernel_;
  config& options_;
  memory_meter& memory_;
  sessions& sessions_;
  roster& roster_;
};

}  // namespace coxswain::core
