// The exchange of topologies: each task brings its own, and all receive the whole (semantics 1.3,
// 3.43 to 3.48).

#include "coxswain/core/state.hpp"
#include "coxswain/core/text.hpp"

#include <utility>

namespace coxswain::core {
namespace {

std::string exchange_text(std::string_view platform) {
  return "exchange of topologies " + quoted(platform);
}

status exhausted(std::string_view platform, std::string const& what, std::string_view limit,
                 std::size_t limit_value) {
  return {errc::resource_exhausted, exchange_text(platform) + ": " + what + "; the limit " +
                                        std::string{limit} + " is " + std::to_string(limit_value)};
}

}  // namespace

void coordinator::state::handle(call const& c, exchange_topology_args& args) {
  if (!c.task) return refuse(c, not_joined());
  if (error) return refuse(c, job_failed(errc::failed_precondition));
  if (status why = checked_topology(args); !why.ok()) return refuse(c, std::move(why));
  local_topology const* const before = topologies_.brought_by(args.platform, *c.task);
  if (before) {
    if (std::string const what = difference(*before, args.mine); !what.empty()) {
      return refuse(c, {errc::internal, exchange_text(args.platform) + ": " + who(*c.task) +
                                            " has brought another topology before: " + what});
    }
  }
  auto const* const known = topologies_.find(args.platform);
  if (known && known->outcome) return answer_now(c, known->outcome, true);
  if (status why = all_may_come(args.platform); !why.ok()) return refuse(c, std::move(why));
  if (!before) {
    if (status why = room_for_topology(args); !why.ok()) return refuse(c, std::move(why));
  }
  join_exchange(c, args);
}

status coordinator::state::checked_topology(exchange_topology_args const& args) const {
  std::string const& platform = args.platform;
  if (platform.empty() || platform.find('\0') != platform.npos || !is_utf8(platform)) {
    return {errc::invalid_argument,
            "a platform needs a name in UTF-8 without NUL bytes to exchange topologies"};
  }
  if (platform.size() > options.key_bytes_max) {
    return exhausted(platform, "the name has " + std::to_string(platform.size()) + " bytes",
                     "key_bytes_max", options.key_bytes_max);
  }
  if (args.mine.devices.size() > topology_devices_max) {
    return exhausted(platform, "too many devices in one task", "topology_devices_max",
                     topology_devices_max);
  }
  return {};
}

status coordinator::state::all_may_come(std::string_view platform) const {
  if (roster_.count(task_state::left) == 0) return {};
  std::uint32_t gone = 0;
  while (roster_.at(task_id{gone}).state != task_state::left) ++gone;
  status const why = absence(task_id{gone});
  return {why.code(), exchange_text(platform) + " cannot be completed: " + why.message()};
}

status coordinator::state::room_for_topology(exchange_topology_args const& args) const {
  if (!topologies_.find(args.platform) &&
      topologies_.all().size() >= options.topology_platforms_max) {
    return exhausted(args.platform, "too many platforms", "topology_platforms_max",
                     options.topology_platforms_max);
  }
  std::size_t const more = bytes_of(args.mine);
  std::size_t const all = topologies_.bytes_brought(args.platform) + more;
  // All of it has to fit into one answer.
  if (all > options.frame_bytes_max()) {
    return exhausted(args.platform, "this topology makes " + std::to_string(all) + " bytes",
                     "frame_bytes_max", options.frame_bytes_max());
  }
  if (memory->fits(more + memory->owned_max() / 16)) return {};
  return exhausted(args.platform,
                   "no room for a topology of " + std::to_string(more) +
                       " bytes: " + std::to_string(memory->used()) + " bytes are in use",
                   "memory_bytes_max", memory->limit());
}

void coordinator::state::join_exchange(call const& c, exchange_topology_args& args) {
  parked p;
  p.where = parked::place::topology;
  p.task = c.task;
  p.name = args.platform;
  arm_call(c, p, args.timeout);
  park(c, std::move(p));
  meeting::arrival a;
  a.who = c.from;
  a.deadline = deadline_after(c.now, args.timeout);
  if (auto const older = topologies_.arrive(args.platform, everyone_, c.now, *c.task, std::move(a),
                                            std::move(args.mine))) {
    answer_superseded(*older);
  }
  if (topologies_.find(args.platform)->waiting.complete()) return complete_exchange(args.platform);
  arm_exchange_log(c.now);
}

// The outcome is one answer, shared by all who wait and all who ask again.
void coordinator::state::complete_exchange(std::string const& platform) {
  auto whole = build_topology(topologies_.take_brought(platform));
  if (!whole) {
    status const why{whole.error().code(),
                     exchange_text(platform) + ": " + whole.error().message()};
    log(severity::error, event_kind::topology, why.message());
    return answer_all(topologies_.forget(platform), share(why));
  }
  log(severity::info, event_kind::topology, exchange_text(platform) + " is complete");
  answer_ptr const outcome = share(*std::move(whole));
  answer_all(topologies_.settle(platform, outcome), outcome);
}

// Those that are open cannot be completed any more.
void coordinator::state::fail_open_exchanges(status const& why) {
  std::vector<std::string> open;
  for (auto const& [platform, x] : topologies_.all()) {
    if (!x.outcome) open.push_back(platform);
  }
  for (auto const& platform : open) {
    meeting const& m = topologies_.find(platform)->waiting;
    status const told{why.code(), exchange_text(platform) + " failed: " + why.message() + "; " +
                                      std::to_string(m.arrived()) + " of " +
                                      std::to_string(m.expected().size()) +
                                      " tasks had brought theirs"};
    answer_all(topologies_.forget(platform), share(told));
  }
}

// The outcomes of the others are kept for those who are still there.
void coordinator::state::leave_exchanges(status const& why) {
  if (roster_.count(task_state::connected) + roster_.count(task_state::returning) == 0) {
    return end_exchanges(why);
  }
  fail_open_exchanges(why);
}

void coordinator::state::end_exchanges(status const& why) {
  fail_open_exchanges(why);
  topologies_.clear();
  deadlines_.disarm(topology_log_);
}

void coordinator::state::arm_exchange_log(time_point now) {
  if (topology_log_.armed() || options.waiting_log_period <= 0s) return;
  deadlines_.arm(topology_log_,
                 {deadline_after(now, options.waiting_log_period), due::topology_log});
}

void coordinator::state::log_exchanges(time_point now) {
  deadlines_.disarm(topology_log_);
  for (auto const& [platform, x] : topologies_.all()) {
    if (x.outcome) continue;
    arm_exchange_log(now);
    duration const waited = now - x.waiting.opened();
    if (waited < options.waiting_log_period) continue;
    log(severity::warning, event_kind::waiting,
        exchange_text(platform) + " has waited for " + in_words(waited) + ": " +
            missing_text(now, describe(now, x.waiting, {})));
  }
}

// Only this caller's time is over: the others go on waiting.
answer_ptr coordinator::state::overdue_exchange(time_point now, parked const& p) {
  meeting const& m = topologies_.find(p.name.get())->waiting;
  barrier_failure f = describe(now, m, {});
  std::string text = exchange_text(p.name.get()) + " timed out for " + who(*p.task) + " after " +
                     in_words(now - p.since) + ": " + missing_text(now, f);
  log(severity::warning, event_kind::topology, text);
  return make_answer({status{errc::deadline_exceeded, std::move(text)}, std::move(f)});
}

}  // namespace coxswain::core
