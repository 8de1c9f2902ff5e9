#include "coxswain/core/membership/guest_verbs.hpp"

#include "coxswain/base/invariant.hpp"
#include "coxswain/core/concerns.hpp"
#include "coxswain/core/kernel/text.hpp"
#include "coxswain/core/model/operations.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::core {
namespace {

answer_ptr sync_answer(std::uint64_t step, bool stops) {
  return stops ? make_ok_answer(sync_point{0, step}) : make_answer({});
}

}  // namespace

guest_verbs::guest_verbs(concerns& all)
    : waiting_concern{
          all, {operation_id<frozen_args>, std::nullopt, wait_traits::party::task, true, true}} {}

void guest_verbs::stopping(time_point, status const&) { grants_.clear(); }

void guest_verbs::cancel(ticket who, parked const&) {
  if (auto* const g = grant_of(*sessions_.find(who.session))) {
    std::erase(g->at_sync_point, who);
  }
}

std::string guest_verbs::missing_text(time_point now, ticket who, parked const& p) {
  return concerns_.preemptions.missing_text(now, who, p);
}

std::size_t guest_verbs::waiting() const {
  std::size_t count = 0;
  for (auto const& [_, g] : grants_) count += g.at_sync_point.size();
  return count;
}

void guest_verbs::check(ticket who, parked const&) const {
  auto const& waiting = grants_.at(sessions_.find(who.session)->guest_of->of).at_sync_point;
  invariant(std::count(waiting.begin(), waiting.end(), who) == 1,
            "a guest at a step waits for an agreement");
}

void guest_verbs::check_invariants() const {
  for (auto const& [by, g] : grants_) {
    invariant(sessions_.find(by.holder) != nullptr, "the session of a grant is there");
    for (session_id const id : g.guests) {
      session const* const s = sessions_.find(id);
      invariant(s && s->guest_of && s->guest_of->of == by,
                "a grant and its guests know each other");
    }
    for (ticket const who : g.leaving) {
      invariant(sessions_.parked_at(who) != nullptr, "a guest that leaves waits");
    }
  }
}

std::size_t guest_verbs::count_leaving() const {
  std::size_t count = 0;
  for (auto const& [_, g] : grants_) count += g.leaving.size();
  return count;
}

void guest_verbs::handle(call const& c, grant_args& args) {
  if (!c.task) return calls_.refuse(c, kernel_.not_joined());
  if (c.by.guest_of) return calls_.refuse<&reasons::not_the_holder>(c, kernel_.who(*c.task));
  std::size_t const size = args.secret.size();
  if (size != 0 && (size < grant_secret_bytes_min || size > grant_secret_bytes_max)) {
    return calls_.refuse<&reasons::secret_has_other_size>(c, grant_secret_bytes_min,
                                                          grant_secret_bytes_max, size);
  }
  host const by{c.from.session, *c.task};
  if (auto const* const before = find(grants_, by)) {
    dismiss(c.now, before->guests, fail<&reasons::command_has_ended>(kernel_.who(by.task)));
    grants_.erase(by);
  }
  if (size != 0) {
    grant& g = grants_[by];
    g.secret = std::move(args.secret);
    // Its holder has answered for it already.
    if (concerns_.preemptions.agreement().answers().contains(by.task))
      g.steps.freeze(concerns_.preemptions.agreement().number());
  }
  calls_.answer_now(c, calls_.share(status{}), true);
}

result<host> guest_verbs::host_of(guest_args const& args) const {
  auto const by = host_of(args.task);
  auto const at = by ? grants_.find(*by) : grants_.end();
  if (at != grants_.end() && equal_in_constant_time(at->second.secret, args.secret)) return *by;
  for (auto const& [other, g] : grants_) {
    if (!equal_in_constant_time(g.secret, args.secret)) continue;
    // The member had this number when its command was started.
    if (options_.elastic && host_of(other.task) == other) return other;
    if (other.task != args.task) continue;
    return fail_as<&reasons::host_was_replaced>(errc::failed_precondition, kernel_.who(args.task));
  }
  return fail<&reasons::secret_is_invalid>(args.task);
}

std::optional<host> guest_verbs::host_of(task_id id) const {
  if (!roster_.has(id)) return std::nullopt;
  task const& t = roster_.at(id);
  if (t.held_by != session_id{}) return host{t.held_by, id};
  return t.last ? std::optional{host{t.last->session, id}} : std::nullopt;
}

grant* guest_verbs::grant_of(session const& s) {
  return s.guest_of ? find(grants_, s.guest_of->of) : nullptr;
}

// The task of the guest while its host holds it, else none. A Join and a Reset are for a task that
// no session holds.
result<std::optional<task_id>> guest_verbs::acting_guest(session const& s,
                                                         client_message const& message) const {
  task_id const id = s.guest_of->of.task;
  if (message.task && *message.task != id && !options_.elastic)
    return fail<&reasons::acts_for_another>(id, *message.task);
  if (host_of(id) != s.guest_of->of) return fail<&reasons::host_was_replaced>(kernel_.who(id));
  if (status left = has_left_its_guests(id); message.task && !left.ok()) return left;
  bool const joins = row_of(message.what).is(trait::takes_task);
  if (roster_.at(id).is_connected() || (joins && message.task)) return std::optional{id};
  return std::optional<task_id>{};
}

// OK unless the task has left, or is to return: not by a guest's leave, but by that of its holder.
status guest_verbs::has_left_its_guests(task_id id) const {
  task_state const now = roster_.at(id).state;
  if (error_ || (now != task_state::left && now != task_state::returning)) return {};
  return fail<&reasons::host_has_left>(kernel_.who(id));
}

void guest_verbs::session_ended(time_point now, session_id holder, status const& why) {
  if (grants_.empty()) return;
  status const ended = fail_as<&reasons::session_of_host_ended>(why.code(), why.message());
  auto at = grants_.lower_bound(host{holder, {}});
  while (at != grants_.end() && at->first.holder == holder) {
    status const left = has_left_its_guests(at->first.task);
    dismiss(now, at->second.guests, left.ok() ? ended : left);
    at = grants_.erase(at);
  }
}

void guest_verbs::dismiss(time_point now, std::vector<session_id> guests, status const& why) {
  if (!guests.empty()) concerns_.failures.push_job_error();
  for (session_id const id : guests) {
    connection_id const at = sessions_.find(id)->attached;
    if (at != connection_id{}) concerns_.connections.say_goodbye(at, why, false);
    concerns_.connections.end_session(now, id, why);
  }
}

void guest_verbs::renumber(time_point now, std::map<task_id, task_id> const& moved) {
  std::vector<session_id> gone;
  for (auto& [by, g] : std::exchange(grants_, {})) {
    auto const at = moved.find(by.task);
    if (at == moved.end() || roster_.at(at->second).held_by != by.holder) {
      gone.insert(gone.end(), g.guests.begin(), g.guests.end());
      continue;
    }
    host const renamed{by.holder, at->second};
    g.steps.end_epoch();
    for (session_id const id : g.guests) sessions_.find(id)->guest_of->of = renamed;
    grants_.emplace(renamed, std::move(g));
  }
  dismiss(now, std::move(gone), fail<&reasons::host_is_not_in_epoch>());
}

// The task itself leaves when its holder does. But others need not wait for it to leave, unless it
// waits to leave itself, or another of its guests has joined and is still there.
void guest_verbs::part(session& by, bool returning) {
  by.guest_of->is_member = false;
  auto const& guests = grant_of(by)->guests;
  task_id const id = by.guest_of->of.task;
  bool const waits =
      concerns_.leaves.together().is_open() && concerns_.leaves.together().arrival_of(id);
  bool const is_last = std::none_of(guests.begin(), guests.end(), [&](session_id other) {
    return sessions_.find(other)->guest_of->is_member;
  });
  if (waits || !is_last) return;
  roster_.set_detached(id, returning ? detachment::returning : detachment::finished);
}

void guest_verbs::take_leaving_guests(task_id id, std::vector<ticket>& into) {
  auto const by = host_of(id);
  grant* const g = by ? find(grants_, *by) : nullptr;
  if (!g) return;
  for (ticket const asker : std::exchange(g->leaving, {})) {
    if (roster_.at(id).is_connected()) part(*sessions_.find(asker.session));
    into.push_back(asker);
  }
}

// A guest asks at each step, so that the steps of several programs count as those of one task.
void guest_verbs::reach_sync_point(call const& c, frozen_args const& args) {
  if (args.agreement != 0) return calls_.refuse<&reasons::guest_cannot_agree>(c);
  grant& g = *grant_of(c.by);
  if (auto const stops = g.reached(args.step)) {
    return calls_.answer_now(c, sync_answer(args.step, *stops), true);
  }
  calls_.park(c, *this, {args.step});
  g.at_sync_point.push_back(c.from);
}

void guest_verbs::end_sync_points(std::optional<std::uint64_t> step) {
  for (auto& [_, g] : grants_) {
    g.steps.agreed(concerns_.preemptions.agreement().number(), step);
    for (ticket const waiting : std::exchange(g.at_sync_point, {})) {
      std::uint64_t const reached = sessions_.parked_at(waiting)->number;
      calls_.answer_parked(waiting, sync_answer(reached, g.reached(reached).value_or(false)));
    }
  }
}

}  // namespace coxswain::core
