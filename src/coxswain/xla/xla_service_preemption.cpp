// Passes notices of preemptions between JAX and the core. Each agrees on a step by itself.

#include "coxswain/xla/xla_service.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace coxswain::xla {
namespace {

using std::chrono::milliseconds;

// JAX begins to agree at most this long before the preemption.
constexpr duration jax_lead = 15min;

// A request that no client waits for.
open_call silent(carrier& by, generation of) {
  open_call call;
  call.of = {method::insert_key_value, of};
  call.by = &by;
  return call;
}

duration between(wall_time from, wall_time to) {
  auto const most = std::chrono::floor<milliseconds>(duration::max()).count();
  return milliseconds{std::clamp(to.unix_ms - from.unix_ms, std::int64_t{0}, most)};
}

}  // namespace

wall_time xla_service::wall_clock(time_point now) const {
  return options_.started.plus(now - options_.start);
}

// The value of the key is the time of the preemption, or an earlier one, so that JAX agrees at once
// as well.
void xla_service::freeze(time_point now, task_session& s, core::freeze_request const& asked) {
  auto const when = wall_clock(now).plus(std::min(asked.in, jax_lead));
  core_.submit(now, silent(s, s.of), std::nullopt,
               core::put_args{std::string{preemption_key}, rfc3339(when), false, false});
  core_.submit(now, silent(s, s.of), s.task, core::frozen_args{asked.agreement, 0, true});
}

// A JAX process that is to be preempted sets the key itself. A call that names no task is about
// all tasks of its connection, since they are in one process.
void xla_service::give_notice(arrived_call const& a, std::string const& when) {
  auto const then = parse_rfc3339(when);
  duration const in = then ? between(wall_clock(a.now), *then) : duration::zero();
  std::vector<task_id> about;
  if (auto const* const s = sessions_.find(a.asked, a.by)) {
    about.push_back(s->task);
  } else {
    for (auto const* const task : a.by.tasks) {
      if (task->is == standing::joined) about.push_back(task->task);
    }
  }
  for (task_id const task : about) {
    core_.submit(a.now, silent(a.by, a.of.of), std::nullopt, core::preempt_args{task, in});
  }
}

}  // namespace coxswain::xla
