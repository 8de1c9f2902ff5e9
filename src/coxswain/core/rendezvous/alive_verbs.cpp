#include "coxswain/core/rendezvous/alive_verbs.hpp"

#include "coxswain/base/invariant.hpp"
#include "coxswain/core/concerns.hpp"
#include "coxswain/core/observe/picture_budget.hpp"
#include "coxswain/core/observe/wait_graph.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace coxswain::core {
namespace {

// Tasks of a query, which are looked at quickly; and queries of which one task is.
constexpr std::size_t query_tasks_per_step = 16;
constexpr std::size_t queries_per_step = 16;

// The steps after which other work comes first.
constexpr std::uint64_t steps_per_look = 1024;

}  // namespace

alive_verbs::alive_verbs(concerns& all)
    : blocking_concern{all, {operation_id<alive_args>, blocking_calls::wait::for_tasks}},
      queries_{kernel_.memory} {}

void alive_verbs::job_failed(time_point, status const& why, barrier_failure const*) {
  to_check_ = 0;
  calls_.answer_all(queries_.callers(), calls_.share(why));
}

void alive_verbs::cancel(ticket who, parked const& p) { queries_.cancel(p.number, *p.task, who); }

// Only this caller gives up.
answer_ptr alive_verbs::overdue(time_point now, parked const& p) {
  auto const& q = queries_.all().at(p.number);
  barrier_failure f = concerns_.missing.describe_shared(now, awaited(q), q.members->size());
  status why = fail<&reasons::alive_query_timed_out>(now - p.since, concerns_.missing.text(now, f));
  return make_answer({std::move(why), std::move(f)});
}

std::string alive_verbs::missing_text(time_point now, ticket, parked const& p) {
  auto const& q = queries_.all().at(p.number);
  return concerns_.missing.brief(now, p, q.members->size(), [&] { return awaited(q); });
}

std::string alive_verbs::goal_text(parked const&) const { return "an alive query"; }

std::string alive_verbs::stuck_text(parked const&) const { return "in an alive query"; }

std::vector<task_id> alive_verbs::awaited(parked const& p) const {
  return awaited(queries_.all().at(p.number));
}

void alive_verbs::add_to(wait_graph& g, picture_budget& budget) const {
  for (auto const& [_, q] : queries_.all()) {
    if (!budget.take(q.members->size())) break;
    std::vector<task_id> asking;
    for (auto const& [id, calls] : q.called) asking.push_back(id);
    g.wait_for_all(std::move(asking), awaited(q));
  }
}

std::size_t alive_verbs::waiting() const { return queries_.callers().size(); }

void alive_verbs::check(ticket who, parked const& p) const {
  auto const& called = queries_.all().at(p.number).called.at(*p.task);
  invariant(std::count(called.begin(), called.end(), who) == 1, "who asks has called");
}

void alive_verbs::check_invariants() const {
  for (auto const& [_, q] : queries_.all()) {
    invariant(!q.called.empty() && (!awaited(q).empty() || to_check_ > 0),
              "an open alive query waits for somebody");
  }
  invariant(!error_ || queries_.all().empty(), "nobody asks who is alive once the job has failed");
}

void alive_verbs::handle(call const& c, alive_args& args) {
  if (!c.task) return calls_.refuse(c, kernel_.not_joined());
  if (error_) return calls_.refuse(c, kernel_.job_failed(errc::failed_precondition));
  // Listed tasks are sorted, and compared with those of other queries.
  kernel_.tally.steps += args.tasks.size() / query_tasks_per_step;
  auto const members = concerns_.barriers.participants(*c.task, args.tasks, std::nullopt);
  if (!members) return calls_.refuse(c, members.error());
  if (!queries_.has_room(*members))
    return calls_.refuse<&reasons::no_room_for_alive_query>(c, (*members)->size(), memory_.limit());
  auto& q = queries_.call(*members, *c.task, c.from);
  calls_.park(c, *this, {q.number}, args.timeout);
  answer_if_complete(q);
}

void alive_verbs::end_queries_awaiting(task_id id, status const& why) {
  auto& all = queries_.all();
  for (auto at = all.begin(); at != all.end();) {
    auto const& q = (at++)->second;
    if (!q.members->index_of(id) || !is_awaited(q, id)) continue;
    calls_.answer_all(alive_queries::callers(q), calls_.share(why));
  }
}

// A suspect task is waited for even if it has called: it may be dead already.
bool alive_verbs::is_awaited(alive_queries::query const& q, task_id id) const {
  task const& t = roster_.at(id);
  return t.is_connected() && (kernel_.is_suspect(t) || !q.called.contains(id));
}

std::vector<task_id> alive_verbs::awaited(alive_queries::query const& q) const {
  std::vector<task_id> missing;
  for (std::uint32_t i = 0; i < q.members->size(); ++i) {
    if (is_awaited(q, q.members->at(i))) missing.push_back(q.members->at(i));
  }
  return missing;
}

void alive_verbs::answer_if_complete(alive_queries::query& q) {
  std::size_t looks = 0;
  auto const is_awaited_too = [&](task_id id) {
    ++looks;
    return is_awaited(q, id);
  };
  bool const is_complete = alive_queries::is_complete(q, is_awaited_too);
  kernel_.tally.steps += looks / query_tasks_per_step;
  if (!is_complete) return;
  charge(q);
  alive_answer a;
  a.tasks.reserve(q.members->size());
  for (std::uint32_t i = 0; i < q.members->size(); ++i) {
    task_id const id = q.members->at(i);
    if (task const& t = roster_.at(id); t.is_connected()) a.tasks.push_back({id, t.self});
  }
  calls_.answer_all(alive_queries::callers(q), calls_.share(std::move(a)));
}

// Its members are copied into an answer, and its calls are answered.
void alive_verbs::charge(alive_queries::query const& q) const {
  kernel_.tally.steps += q.members->size() / query_tasks_per_step + q.called.size();
}

void alive_verbs::check_some() {
  auto& all = queries_.all();
  auto const most = kernel_.tally.steps + steps_per_look;
  std::size_t looks = 0;
  while (to_check_ > 0 && !all.empty() && kernel_.tally.steps < most) {
    --to_check_;
    auto next = all.upper_bound(looked_at_);
    if (next == all.end()) next = all.begin();
    looked_at_ = next->first;
    if (++looks % queries_per_step == 0) ++kernel_.tally.steps;
    answer_if_complete(next->second);
  }
  if (all.empty()) to_check_ = 0;
}

barrier_failure alive_verbs::missing_from(time_point now, alive_queries::query const& q) const {
  return concerns_.missing.describe(now, awaited(q), q.members->size());
}

}  // namespace coxswain::core
