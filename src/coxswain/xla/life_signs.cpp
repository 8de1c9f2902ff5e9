#include "coxswain/xla/life_signs.hpp"

#include "coxswain/core/kernel/text.hpp"

#include <algorithm>
#include <string>

namespace coxswain::xla {
namespace {

constexpr int ping_part = 3;
constexpr int report_part = 8;

// jaxlib sends a heartbeat every half of its own timeout. An interval above two thirds of ours
// means that its timeout is longer.
constexpr int late_parts = 2;
constexpr int late_parts_of = 3;

bool speaks_for(client const& c, task_session const& s) {
  return s.is == standing::joined && s.core != connection_id{} &&
         (s.poll != request_id{} || c.tasks.size() == 1);
}

}  // namespace

life_signs::life_signs(duration heartbeat_timeout, core_port& core, session_table const& sessions,
                       std::vector<effect>& effects)
    : heartbeat_timeout_{heartbeat_timeout}, core_{core}, sessions_{sessions}, effects_{effects} {}

void life_signs::watch(time_point now, connection_id on) {
  pings_.emplace(deadline_after(now, heartbeat_timeout_ / ping_part), on);
}

void life_signs::heard(time_point now, client& c) {
  c.heard = now;
  if (now - c.reported >= heartbeat_timeout_ / report_part) report(now, c);
}

void life_signs::answered_ping(time_point now, client& c) {
  c.heard = now;
  report(now, c);
}

void life_signs::report(time_point now, client& c) {
  c.reported = now;
  core_.heard(now, c.core);
  for (task_session* const s : c.tasks) {
    if (speaks_for(c, *s)) core_.heard(now, s->core);
  }
}

void life_signs::beat(time_point now, task_session& s, client const& from) {
  auto const last = std::exchange(s.last_beat, now);
  if (!last || s.has_slow_beats) return;
  duration const interval = now - *last;
  if (interval <= heartbeat_timeout_ / late_parts_of * late_parts) return;
  s.has_slow_beats = true;
  core::event slow;
  slow.level = core::severity::warning;
  slow.task = s.task;
  slow.text =
      "task " + std::to_string(s.task.value) + " from " + from.peer + " sent no heartbeat for " +
      core::in_words(interval) +
      ", but jaxlib sends one every half of its heartbeat timeout, "
      "and the coordinator's is " +
      core::in_words(heartbeat_timeout_) +
      ": set both to the same time (heartbeat_timeout_seconds of jax.distributed.initialize, "
      "--heartbeat-timeout); until then, pings keep the task alive";
  effects_.emplace_back(std::move(slow));
}

std::optional<time_point> life_signs::next_deadline() const {
  if (pings_.empty()) return std::nullopt;
  return pings_.top().first;
}

void life_signs::advance(time_point now) {
  while (!pings_.empty() && pings_.top().first <= now) {
    connection_id const on = pings_.top().second;
    pings_.pop();
    client const* const c = sessions_.find_client(on);
    if (!c || c->is_over) continue;
    duration const period = heartbeat_timeout_ / ping_part;
    if (c->heard + period > now) {
      pings_.emplace(c->heard + period, on);
      continue;
    }
    effects_.emplace_back(ping{on});
    pings_.emplace(deadline_after(now, std::max<duration>(period, 1ms)), on);
  }
}

}  // namespace coxswain::xla
