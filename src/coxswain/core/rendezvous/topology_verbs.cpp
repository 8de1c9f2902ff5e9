#include "coxswain/core/rendezvous/topology_verbs.hpp"

#include "coxswain/base/invariant.hpp"
#include "coxswain/core/concerns.hpp"
#include "coxswain/core/kernel/text.hpp"
#include "coxswain/core/observe/picture_budget.hpp"
#include "coxswain/core/observe/wait_graph.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::core {
namespace {

std::string exchange_text(std::string_view platform) {
  return "topology exchange " + in_quotes(platform);
}

}  // namespace

topology_verbs::topology_verbs(concerns& all)
    : blocking_concern{all,
                       {operation_id<exchange_topology_args>, blocking_calls::wait::for_tasks}},
      exchanges_{kernel_.memory} {}

void topology_verbs::job_failed(time_point, status const& why, barrier_failure const*) {
  end_exchanges(why);
}

void topology_verbs::cancel(ticket, parked const& p) { exchanges_.cancel(p.name.get(), *p.task); }

// Only this caller times out: the others keep waiting.
answer_ptr topology_verbs::overdue(time_point now, parked const& p) {
  meeting const& m = exchanges_.find(p.name.get())->waiting;
  barrier_failure f = concerns_.missing.describe_shared(now, m, {});
  status why = fail<&reasons::exchange_timed_out>(p.name.get(), kernel_.who(*p.task), now - p.since,
                                                  concerns_.missing.text(now, f));
  kernel_.log(severity::warning, event_kind::topology, why.message());
  return make_answer({std::move(why), std::move(f)});
}

std::string topology_verbs::missing_text(time_point now, ticket, parked const& p) {
  return concerns_.missing.brief(now, p, exchanges_.find(p.name.get())->waiting);
}

std::string topology_verbs::goal_text(parked const& p) const {
  return "topology exchange " + in_quotes(p.name.get());
}

std::string topology_verbs::stuck_text(parked const& p) const { return "in the " + goal_text(p); }

std::vector<task_id> topology_verbs::awaited(parked const& p) const {
  return concerns_.missing.from(exchanges_.find(p.name.get())->waiting);
}

void topology_verbs::add_to(wait_graph& g, picture_budget& budget) const {
  for (auto const& [_, x] : exchanges_.all()) {
    if (x.outcome) continue;
    if (!budget.take(x.waiting.expected().size())) break;
    g.wait_for_all(x.waiting.present(), concerns_.missing.from(x.waiting));
  }
}

std::size_t topology_verbs::waiting() const {
  std::size_t waiting = 0;
  for (auto const& [_, x] : exchanges_.all()) waiting += x.outcome ? 0 : x.brought.size();
  return waiting;
}

void topology_verbs::check(ticket who, parked const& p) const {
  auto const* const x = exchanges_.find(p.name.get());
  invariant(x && x->waiting.arrival_of(*p.task)->who == who, "an exchange's call has arrived");
}

void topology_verbs::check_invariants() const {
  invariant(exchanges_.all().size() <= options_.topology_platforms_max,
            "there are not too many platforms");
  for (auto const& [_, x] : exchanges_.all()) {
    invariant(x.waiting.is_open() == !x.outcome, "an exchange is open until it is complete");
    if (x.outcome) continue;
    invariant(!x.brought.empty() && !x.waiting.complete(), "an open exchange waits for somebody");
    invariant(x.waiting.arrived() == x.brought.size(), "who waits in an exchange has brought");
  }
  invariant(!error_ || exchanges_.all().empty(), "no topologies are kept of a job that has failed");
}

std::size_t topology_verbs::armed() const { return log_alarm_.armed() ? 1 : 0; }

void topology_verbs::handle(call const& c, exchange_topology_args& args) {
  if (!c.task) return calls_.refuse(c, kernel_.not_joined());
  if (error_) return calls_.refuse(c, kernel_.job_failed(errc::failed_precondition));
  // As in barrier_verbs.
  if (may_only_open(args.platform)) {
    if (status why = kernel_.room_to_store(); !why.ok()) return calls_.refuse(c, std::move(why));
  }
  if (status why = checked_topology(args); !why.ok()) return calls_.refuse(c, std::move(why));
  local_topology const* const before = exchanges_.brought_by(args.platform, *c.task);
  if (before) {
    if (std::string const what = difference(*before, args.mine); !what.empty()) {
      return calls_.refuse<&reasons::topology_has_changed>(c, args.platform, kernel_.who(*c.task),
                                                           what);
    }
  }
  auto const* const known = exchanges_.find(args.platform);
  if (known && known->outcome) return calls_.answer_now(c, known->outcome, true);
  if (status why = all_may_come(args.platform); !why.ok()) return calls_.refuse(c, std::move(why));
  if (!before) {
    if (status why = room_for_topology(args); !why.ok()) return calls_.refuse(c, std::move(why));
  }
  join_exchange(c, args);
}

status topology_verbs::checked_topology(exchange_topology_args const& args) const {
  std::string const& platform = args.platform;
  if (platform.empty() || platform.find('\0') != platform.npos || !is_utf8(platform))
    return fail<&reasons::platform_is_malformed>();
  if (platform.size() > options_.key_bytes_max)
    return fail<&reasons::platform_is_too_long>(platform, platform.size(), options_.key_bytes_max);
  if (args.mine.devices.size() > topology_devices_max)
    return fail<&reasons::too_many_devices>(platform, topology_devices_max);
  return {};
}

status topology_verbs::all_may_come(std::string_view platform) const {
  bool const is_draining = concerns_.ends.is_draining();
  bool const may_miss_some = is_draining ? roster_.count(task_state::connected) < roster_.size()
                                         : roster_.count(task_state::left) > 0;
  if (!may_miss_some) return {};
  auto const is_gone = [&](task const& t) {
    return is_draining ? !t.is_connected() : t.state == task_state::left;
  };
  std::uint32_t gone = 0;
  while (!is_gone(roster_.at(task_id{gone}))) ++gone;
  status const why = kernel_.absence(task_id{gone});
  return fail_as<&reasons::exchange_is_incompletable>(why.code(), platform, why.message());
}

status topology_verbs::room_for_topology(exchange_topology_args const& args) const {
  if (!exchanges_.find(args.platform) && exchanges_.all().size() >= options_.topology_platforms_max)
    return fail<&reasons::too_many_platforms>(args.platform, options_.topology_platforms_max);
  std::size_t const more = bytes_of(args.mine);
  std::size_t const all = exchanges_.bytes_brought(args.platform) + more;
  // All of it has to fit into one answer.
  if (all > options_.frame_bytes_max())
    return fail<&reasons::topologies_are_too_large>(args.platform, all, options_.frame_bytes_max());
  if (memory_.fits(more + memory_.owned_max() / 16)) return {};
  return fail<&reasons::no_room_for_topology>(args.platform, more, memory_.used(), memory_.limit());
}

void topology_verbs::join_exchange(call const& c, exchange_topology_args& args) {
  calls_.park(c, *this, {0, args.platform}, args.timeout);
  meeting::arrival a;
  a.who = c.from;
  a.deadline = deadline_after(c.now, args.timeout);
  if (auto const older = exchanges_.arrive(args.platform, kernel_.everyone, c.now, *c.task,
                                           std::move(a), std::move(args.mine))) {
    calls_.answer_superseded(*older);
  }
  if (exchanges_.find(args.platform)->waiting.complete()) return complete_exchange(args.platform);
  arm_exchange_log(c.now);
}

// The outcome is one answer, shared by all waiting and later calls.
void topology_verbs::complete_exchange(std::string const& platform) {
  auto whole = build_topology(exchanges_.take_brought(platform));
  if (!whole) {
    status const why = fail_as<&reasons::topologies_contradict>(whole.error().code(), platform,
                                                                whole.error().message());
    kernel_.log(severity::error, event_kind::topology, why.message());
    return calls_.answer_all(exchanges_.forget(platform), calls_.share(why));
  }
  kernel_.log(severity::info, event_kind::topology, exchange_text(platform) + " is complete");
  answer_ptr const outcome = calls_.share(*std::move(whole));
  calls_.answer_all(exchanges_.settle(platform, outcome), outcome);
}

void topology_verbs::fail_open_exchanges(status const& why) {
  std::vector<std::string> open;
  for (auto const& [platform, x] : exchanges_.all()) {
    if (!x.outcome) open.push_back(platform);
  }
  for (auto const& platform : open) {
    meeting const& m = exchanges_.find(platform)->waiting;
    status const notice = fail_as<&reasons::exchange_failed>(why.code(), platform, why.message(),
                                                             m.arrived(), m.expected().size());
    calls_.answer_all(exchanges_.forget(platform), calls_.share(notice));
  }
}

// The outcomes of the others are kept for the remaining tasks.
void topology_verbs::task_left(status const& why) {
  if (roster_.count(task_state::connected) + roster_.count(task_state::returning) == 0) {
    return end_exchanges(why);
  }
  fail_open_exchanges(why);
}

void topology_verbs::fail_unreachable_exchanges() {
  for (std::uint32_t i = 0; i < roster_.size(); ++i) {
    if (!roster_.at(task_id{i}).is_connected())
      return fail_open_exchanges(kernel_.absence(task_id{i}));
  }
}

void topology_verbs::end_exchanges(status const& why) {
  fail_open_exchanges(why);
  exchanges_.clear();
  deadlines_.disarm(log_alarm_);
}

void topology_verbs::arm_exchange_log(time_point now) {
  if (log_alarm_.armed() || options_.waiting_log_period <= 0s) return;
  deadlines_.arm(log_alarm_, {deadline_after(now, options_.waiting_log_period), due::topology_log});
}

void topology_verbs::log_due(time_point now) {
  deadlines_.disarm(log_alarm_);
  for (auto const& [platform, x] : exchanges_.all()) {
    if (x.outcome) continue;
    arm_exchange_log(now);
    duration const waited = now - x.waiting.opened();
    if (waited < options_.waiting_log_period) continue;
    auto const f = concerns_.missing.describe_shared(now, x.waiting, {});
    kernel_.log(severity::warning, event_kind::waiting,
                exchange_text(platform) + " has waited for " + in_words(waited) + ": " +
                    concerns_.missing.text(now, f));
  }
}

}  // namespace coxswain::core
