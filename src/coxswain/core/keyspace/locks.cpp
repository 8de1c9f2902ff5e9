#include "coxswain/core/keyspace/locks.hpp"

#include "coxswain/base/invariant.hpp"
#include "coxswain/core/concerns.hpp"
#include "coxswain/core/kernel/text.hpp"
#include "coxswain/core/observe/picture_budget.hpp"
#include "coxswain/core/observe/wait_graph.hpp"

namespace coxswain::core {

locks::locks(concerns& all)
    : blocking_concern{all,
                       {operation_id<lock_args>, blocking_calls::wait::for_tasks,
                        wait_traits::party::task, true, true, why_answer::kind::lock}} {}

locks::~locks() {
  for (auto const& [name, _] : held_) memory_.subtract(cost(name));
}

void locks::job_failed(time_point, status const& why, barrier_failure const*) {
  std::vector<ticket> waiting;
  for (auto& [_, held] : held_) {
    for (auto const& [number, who] : std::exchange(held.waiting, {})) waiting.push_back(who);
  }
  calls_.answer_all(waiting, calls_.share(status{errc::cancelled, why.message()}));
}

void locks::stopping(time_point now, status const& why) {
  job_failed(now, why, nullptr);
  while (!held_.empty()) release(held_.begin());
}

void locks::release_all_of(session_id owner) {
  for (auto at = owned_.lower_bound({owner, {}}); at != owned_.end() && at->first == owner;
       at = owned_.lower_bound({owner, {}})) {
    release(held_.find(at->second));
  }
}

void locks::cancel(ticket, parked const& p) { held_.at(p.name.get()).waiting.erase(p.number); }

void locks::put_back(std::vector<undelivered> grants) {
  for (undelivered const& grant : grants) {
    auto const at = held_.find(grant.name);
    bool const is_held =
        at != held_.end() && at->second.token == std::get<stored_answer>(grant.what->value).version;
    if (is_held) release(at);
  }
}

answer_ptr locks::overdue(time_point now, parked const& p) {
  return calls_.share(fail<&reasons::not_locked_in_time>(now - p.since, held_text(p.name.get())));
}

std::string locks::missing_text(time_point, ticket, parked const& p) {
  return held_text(p.name.get());
}

std::string locks::goal_text(parked const& p) const { return "lock " + in_quotes(p.name.get()); }

std::string locks::stuck_text(parked const& p) const { return "for " + goal_text(p); }

std::vector<task_id> locks::awaited(parked const& p) const {
  auto const task = task_of(held_.at(p.name.get()));
  return task ? std::vector{*task} : std::vector<task_id>{};
}

void locks::describe(parked const& p, why_answer::wait& in) const {
  in.missing = concerns_.missing.describe(kernel_.observed(), awaited(p), 1);
  in.missing->arrived = 0;
  in.missing->missing = kernel_.whose(*sessions_.find(held_.at(p.name.get()).owner));
}

// Deadlock detection cannot follow a session that acts for no task, or for several.
void locks::add_to(wait_graph& g, picture_budget& budget) const {
  for (auto const& [_, held] : held_) {
    if (held.waiting.empty()) continue;
    if (!budget.take(held.waiting.size())) break;
    std::vector<task_id> tasks;
    for (auto const& [number, who] : held.waiting) {
      if (auto const task = sessions_.parked_at(who)->task) tasks.push_back(*task);
    }
    auto const task = task_of(held);
    g.wait_for_all(std::move(tasks), task ? std::vector{*task} : std::vector<task_id>{});
  }
}

std::size_t locks::waiting() const {
  std::size_t count = 0;
  for (auto const& [_, held] : held_) count += held.waiting.size();
  return count;
}

void locks::check(ticket who, parked const& p) const {
  invariant(held_.at(p.name.get()).waiting.at(p.number) == who,
            "who waits for a lock waits for one that is held");
}

void locks::check_invariants() const {
  invariant(owned_.size() == held_.size(), "every lock that is held has one owner");
  for (auto const& [name, held] : held_) {
    invariant(owned_.contains({held.owner, name}), "an owner knows its lock");
    invariant(sessions_.find(held.owner) || kernel_.stopping, "the owner of a lock is there");
    invariant(held.token <= token_ && (!error_ || held.waiting.empty()),
              "nobody waits for a lock once the job has failed");
  }
}

status locks::admissible(call const& c, std::string& name) const {
  if (status why = concerns_.keys.checked_key(name, "lock's name"); !why.ok()) return why;
  return kernel_.room_to_wait(c.by, kernel::memory_per_request);
}

void locks::handle(call const& c, lock_args& args) {
  if (status why = admissible(c, args.name); !why.ok()) return calls_.refuse(c, std::move(why));
  auto const [at, is_free] = held_.try_emplace(args.name);
  if (is_free) return grant(at, c.from, c.what);
  if (error_) return calls_.refuse(c, kernel_.job_failed(errc::cancelled));
  at->second.waiting.emplace(++waiter_, c.from);
  calls_.park(c, *this, {waiter_, std::move(args.name)}, args.timeout);
}

void locks::handle(call const& c, try_lock_args& args) {
  if (status why = admissible(c, args.name); !why.ok()) return calls_.refuse(c, std::move(why));
  auto const [at, is_free] = held_.try_emplace(args.name);
  if (is_free) return grant(at, c.from, c.what);
  calls_.refuse(c, {errc::already_exists, held_text(args.name)});
}

void locks::handle(call const& c, unlock_args& args) {
  if (status why = concerns_.keys.checked_key(args.name, "lock's name"); !why.ok()) {
    return calls_.refuse(c, std::move(why));
  }
  auto const at = held_.find(args.name);
  if (at == held_.end()) return calls_.refuse<&reasons::lock_is_free>(c, args.name, args.token);
  if (at->second.token != args.token)
    return calls_.refuse<&reasons::other_token>(c, held_text(args.name), args.token);
  if (at->second.owner != c.from.session)
    return calls_.refuse<&reasons::not_the_owner>(c, held_text(args.name));
  release(at);
  calls_.answer_now(c, calls_.share(status{}), true);
}

void locks::grant(by_name::iterator at, ticket to, operation asked) {
  auto& [name, held] = *at;
  held.token = ++token_;
  held.owner = to.session;
  owned_.emplace(held.owner, name);
  memory_.add(cost(name));
  sessions_.hold(*sessions_.find(held.owner), cost(name));
  kernel_.tally.count_request(asked, errc::ok);
  sessions_.hand_over(to, calls_.share(stored_answer{held.token}), index(), name);
}

void locks::release(by_name::iterator at) {
  auto& [name, held] = *at;
  owned_.erase({held.owner, name});
  memory_.subtract(cost(name));
  if (session* const owner = sessions_.find(held.owner)) sessions_.let_go(*owner, cost(name));
  if (held.waiting.empty()) {
    held_.erase(at);
    return;
  }
  ticket const next = held.waiting.begin()->second;
  calls_.release(next);
  grant(at, next, traits().request);
}

std::optional<task_id> locks::task_of(lock const& of) const {
  session const* const s = sessions_.find(of.owner);
  if (s && s->guest_of) return s->guest_of->of.task;
  return s && s->tasks.size() == 1 ? std::optional{s->tasks.front()} : std::nullopt;
}

std::string locks::held_text(std::string const& name) const {
  lock const& held = held_.at(name);
  session const& owner = *sessions_.find(held.owner);
  bool const is_lost = owner.attached == connection_id{};
  return text_of<&reasons::lock_is_held>(name, kernel_.whose(owner),
                                         is_lost ? ", whose connection is lost," : "", held.token);
}

}  // namespace coxswain::core
