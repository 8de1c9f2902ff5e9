// Alive queries: who of a set of tasks is there, answered to all of them alike (semantics D21).

#include "coxswain/core/state.hpp"
#include "coxswain/core/text.hpp"

#include <algorithm>
#include <utility>

namespace coxswain::core {

void coordinator::state::handle(call const& c, alive_args& args) {
  if (!c.task) return refuse(c, not_joined());
  if (error) return refuse(c, job_failed(errc::failed_precondition));
  auto const members = participants(*c.task, args.tasks, std::nullopt);
  if (!members) return refuse(c, members.error());
  if (!alive_queries_.has_room(*members)) {
    return refuse(c, {errc::resource_exhausted,
                      "no room for an alive query among " + std::to_string((*members)->size()) +
                          " tasks: memory_bytes_max is " + std::to_string(memory->limit())});
  }
  auto& q = alive_queries_.call(*members, *c.task, c.from);
  parked p;
  p.where = parked::place::alive;
  p.task = c.task;
  p.number = q.number;
  arm_call(c, p, args.timeout);
  park(c, std::move(p));
  answer_if_complete(q);
}

// A suspect task is waited for even if it has called: it may be dead already.
bool coordinator::state::is_awaited(alive_queries::query const& q, task_id id) const {
  task const& t = roster_.at(id);
  return t.is_connected() && (is_suspect(t) || !q.called.contains(id));
}

std::vector<task_id> coordinator::state::awaited(alive_queries::query const& q) const {
  std::vector<task_id> missing;
  for (std::uint32_t i = 0; i < q.members->size(); ++i) {
    if (is_awaited(q, q.members->at(i))) missing.push_back(q.members->at(i));
  }
  return missing;
}

void coordinator::state::answer_if_complete(alive_queries::query& q) {
  if (!alive_queries::is_complete(q, [&](task_id id) { return is_awaited(q, id); })) return;
  alive_answer a;
  for (std::uint32_t i = 0; i < q.members->size(); ++i) {
    task_id const id = q.members->at(i);
    if (task const& t = roster_.at(id); t.is_connected()) a.tasks.push_back({id, t.self});
  }
  answer_all(alive_queries::callers(q), share(std::move(a)));
}

void coordinator::state::look_at_queries_again() {
  auto& all = alive_queries_.all();
  for (auto at = all.begin(); at != all.end();) {
    alive_queries::query& q = at->second;
    ++at;  // first: a query that is answered is gone
    answer_if_complete(q);
  }
}

// Only this caller gives up.
answer_ptr coordinator::state::alive_overdue(time_point now, parked const& p) const {
  barrier_failure f = describe(now, alive_queries_.all().at(p.number));
  status why{errc::deadline_exceeded, "Alive query timed out after " + in_words(now - p.since) +
                                          ": " + missing_text(now, f)};
  return make_answer({std::move(why), std::move(f)});
}

barrier_failure coordinator::state::describe(time_point now, alive_queries::query const& q) const {
  return describe(now, awaited(q), q.members->size());
}

}  // namespace coxswain::core
