#include "coxswain/core/keyspace/multi_get_verbs.hpp"

#include "coxswain/base/invariant.hpp"
#include "coxswain/core/concerns.hpp"
#include "coxswain/core/kernel/text.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::core {
namespace {

constexpr std::uint64_t looks_per_step = 4;

}  // namespace

multi_get_verbs::multi_get_verbs(concerns& all)
    : blocking_concern{all,
                       {operation_id<get_all_args>, blocking_calls::wait::for_anybody,
                        wait_traits::party::task, false, true, why_answer::kind::get_all}},
      joint_gets_{kernel_.memory} {}

void multi_get_verbs::job_failed(time_point, status const& why, barrier_failure const*) {
  cancel_woken(why);
}

// Gets that have not been woken wait at a key, and end with its other waiters.
void multi_get_verbs::cancel_woken(status const& why) {
  check_woken(joint_gets::looks_per_removal);
  answer_ptr const cancelled = calls_.share(status{errc::cancelled, why.message()});
  auto& woken = joint_gets_.woken();
  for (; !woken.empty(); woken.pop_front()) {
    if (is_woken(woken.front())) calls_.answer_parked(woken.front(), cancelled);
  }
}

void multi_get_verbs::cancel(ticket who, parked const& p) {
  joint_gets::get const& g = joint_gets_.at(p.number);
  sessions_.let_go(*sessions_.find(who.session), g.bytes);
  if (!g.is_woken) concerns_.keys.store().cancel(g.keys[g.at], g.waiter);
  joint_gets_.erase(p.number);
}

answer_ptr multi_get_verbs::overdue(time_point now, parked const& p) {
  kernel_.tally.steps += joint_gets::looks_per_text / looks_per_step;
  return calls_.share(
      fail<&reasons::no_values_in_time>(now - p.since, missing_text(joint_gets_.at(p.number))));
}

std::string multi_get_verbs::missing_text(time_point, ticket, parked const& p) {
  return goal_text(p) + " has no value" + concerns_.keys.similar_text(listed_name(p));
}

// The key that it waits at.
std::string const& multi_get_verbs::listed_name(parked const& p) const {
  joint_gets::get const& g = joint_gets_.at(p.number);
  return g.keys[g.at];
}

std::string multi_get_verbs::goal_text(parked const& p) const {
  return "key " + in_quotes(listed_name(p));
}

std::string multi_get_verbs::stuck_text(parked const& p) const {
  return "for " + goal_text(p) + ", which no task is left to set";
}

std::size_t multi_get_verbs::waiting() const { return joint_gets_.size(); }

void multi_get_verbs::check(ticket, parked const& p) const {
  joint_gets::get const& g = joint_gets_.at(p.number);
  invariant(g.is_woken || !concerns_.keys.store().find(g.keys[g.at]),
            "who waits for several keys waits at one that is missing");
}

bool multi_get_verbs::is_woken(ticket who) const {
  auto const* const p = sessions_.parked_at(who);
  return p && p->at == index() && joint_gets_.at(p->number).is_woken;
}

void multi_get_verbs::wake(ticket who, parked const& p, std::size_t& looks) {
  joint_gets_.at(p.number).is_woken = true;
  if (!look_again(p.number, who, looks)) joint_gets_.wake(p.number, who);
}

void multi_get_verbs::handle(call const& c, get_all_args& args) {
  kernel_.tally.steps += args.keys.size();
  if (status why = concerns_.keys.checked_count(c.by, args.keys.size()); !why.ok())
    return calls_.refuse(c, std::move(why));
  for (std::string& key : args.keys) {
    if (status why = concerns_.keys.checked_key(key); !why.ok())
      return calls_.refuse(c, std::move(why));
    concerns_.keys.remove_if_ended(key);
  }
  std::size_t const at = missing_from(args.keys, 0);
  if (at == args.keys.size()) {
    return calls_.answer_now(c, listing(args.keys, args.without_values), false);
  }
  if (error_) return calls_.refuse(c, kernel_.job_failed(errc::cancelled));
  std::size_t const more = joint_gets::overhead(args.keys);
  if (status why = kernel_.room_to_wait(c.by, more); !why.ok())
    return calls_.refuse(c, std::move(why));
  joint_gets::number const which = joint_gets_.add(std::move(args.keys), args.without_values);
  sessions_.hold(c.by, more);
  wait_at(which, at, c.from);
  calls_.park(c, *this, {which}, args.timeout);
}

// The first key without a value, beginning at `begin` and going round; the number of keys if there
// is none. So a get whose keys come in their order looks at each once or twice.
std::size_t multi_get_verbs::missing_from(std::vector<std::string> const& keys,
                                          std::size_t begin) const {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    std::size_t const at = (begin + i) % keys.size();
    if (!concerns_.keys.store().find(keys[at])) return at;
  }
  return keys.size();
}

void multi_get_verbs::wait_at(joint_gets::number which, std::size_t at, ticket who) {
  joint_gets::get& g = joint_gets_.at(which);
  g.at = at;
  g.looked = 0;
  g.is_woken = false;
  g.waiter = concerns_.keys.store().wait(g.keys[at], who);
}

// The keys must exist.
answer_ptr multi_get_verbs::listing(std::vector<std::string> const& keys,
                                    bool without_values) const {
  listing_answer found{{}, concerns_.keys.store().version()};
  if (without_values) return calls_.share(std::move(found));
  std::size_t encoded = 0;
  std::size_t copied = 0;
  for (std::string const& key : keys) {
    auto const& held = *concerns_.keys.store().find(key);
    encoded += key.size() + held.value.size() + 32;
    copied += key.size() + sizeof(listing_answer::entry);
    if (status const why = concerns_.keys.checked_listing(encoded, copied); !why.ok())
      return calls_.share(fail<&reasons::values_exceed>(keys.size(), why.message()));
    found.entries.push_back({key, held.value, held.version});
  }
  return calls_.share(std::move(found));
}

std::string multi_get_verbs::missing_text(joint_gets::get const& g) const {
  constexpr std::size_t named_max = 16;
  std::string names;
  std::size_t count = 0;
  std::size_t const looks = std::min(g.keys.size(), joint_gets::looks_per_text);
  for (std::size_t i = 0; i < looks; ++i) {
    std::string const& key = g.keys[looks == g.keys.size() ? i : (g.at + i) % g.keys.size()];
    if (concerns_.keys.store().find(key)) continue;
    if (++count <= named_max) names += (count == 1 ? "" : ", ") + in_quotes(key);
  }
  if (count > named_max) names += " and " + std::to_string(count - named_max) + " more";
  bool const is_partial = looks < g.keys.size();
  return (is_partial ? "at least " : "") + std::to_string(count) + " of " +
         std::to_string(g.keys.size()) + " keys: " + names;
}

// The key that it waited at has come. False if it used up the looks: there are more keys.
bool multi_get_verbs::look_again(joint_gets::number which, ticket who, std::size_t& looks) {
  joint_gets::get& g = joint_gets_.at(which);
  for (; g.looked < g.keys.size(); ++g.looked) {
    if (looks == 0) return false;
    --looks;
    if (!concerns_.keys.store().find(g.keys[g.at])) {
      wait_at(which, g.at, who);
      return true;
    }
    g.at = (g.at + 1) % g.keys.size();
  }
  // Keys checked some time ago may be gone.
  std::size_t const at = missing_from(g.keys, g.at);
  looks -= std::min(looks, g.keys.size());
  if (at == g.keys.size()) {
    calls_.answer_parked(who, listing(g.keys, g.without_values));
  } else {
    wait_at(which, at, who);
  }
  return true;
}

void multi_get_verbs::check_woken(std::size_t looks) {
  auto& woken = joint_gets_.woken();
  while (!woken.empty()) {
    ticket const who = woken.front();
    bool const waits = is_woken(who);
    if (waits && !look_again(sessions_.parked_at(who)->number, who, looks)) return;
    woken.pop_front();
  }
}

}  // namespace coxswain::core
