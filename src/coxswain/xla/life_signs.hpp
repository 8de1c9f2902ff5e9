#pragma once
// Signs of life of the connections, and the pings that ask for them: a client that is silent for a
// third of the heartbeat timeout is pinged. Heartbeats of tasks are only observed here. Private to
// xla. Not thread-safe.

#include "coxswain/base/ids.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/xla/core_port.hpp"
#include "coxswain/xla/effects.hpp"
#include "coxswain/xla/session_table.hpp"
#include "coxswain/xla/task_session.hpp"

#include <functional>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

namespace coxswain::xla {

class life_signs {
 public:
  // Pings and events for the log are appended to `effects`. All references must outlive it.
  life_signs(duration heartbeat_timeout, core_port& core, session_table const& sessions,
             std::vector<effect>& effects);

  // A connection has been opened.
  void watch(time_point now, connection_id on);

  // The connection is alive, and so are the tasks it speaks for. The core hears of it at once if
  // the client answered a ping, else at most once every eighth of the timeout.
  void heard(time_point now, client& c);
  void answered_ping(time_point now, client& c);

  // A heartbeat of the task, from that connection. If the interval shows that the client's
  // heartbeat timeout is longer than ours, that is logged, once for each session.
  void beat(time_point now, task_session& s, client const& from);

  // None: nothing is ever due.
  [[nodiscard]] std::optional<time_point> next_deadline() const;
  void advance(time_point now);

 private:
  void report(time_point now, client& c);

  using planned = std::pair<time_point, connection_id>;

  duration heartbeat_timeout_;
  core_port& core_;
  session_table const& sessions_;
  std::vector<effect>& effects_;
  std::priority_queue<planned, std::vector<planned>, std::greater<>> pings_;
};

}  // namespace coxswain::xla
