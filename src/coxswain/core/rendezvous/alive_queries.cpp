#include "coxswain/core/rendezvous/alive_queries.hpp"

#include "coxswain/core/model/messages.hpp"

#include <algorithm>

namespace coxswain::core {
namespace {

// Of a query, including the room for its answer.
std::size_t bytes_of(task_set const& members) {
  return sizeof(alive_queries::query) + 256 +
         (sizeof(task_id) + sizeof(alive_answer::task)) * members.size();
}

}  // namespace

alive_queries::~alive_queries() {
  for (auto const& [_, q] : queries_) memory_->subtract(bytes_of(*q.members));
}

bool alive_queries::has_room(task_set_ptr const& members) const {
  return numbers_.contains(members) || memory_->fits(bytes_of(*members));
}

alive_queries::query& alive_queries::call(task_set_ptr const& members, task_id task, ticket who) {
  auto const [at, is_new] = numbers_.try_emplace(members, last_ + 1);
  if (is_new) {
    query& opened = queries_[++last_];
    opened.number = last_;
    opened.members = members;
    memory_->add(bytes_of(*members));
  }
  query& q = queries_.at(at->second);
  q.called[task].push_back(who);
  return q;
}

bool alive_queries::restore(query q) {
  if (!q.members || q.called.empty() || !numbers_.emplace(q.members, q.number).second) return false;
  memory_->add(bytes_of(*q.members));
  return queries_.emplace(q.number, std::move(q)).second;
}

void alive_queries::cancel(query_number number, task_id task, ticket who) {
  query& q = queries_.at(number);
  auto const at = q.called.find(task);
  std::erase(at->second, who);
  if (at->second.empty()) q.called.erase(at);
  if (!q.called.empty()) return;
  memory_->subtract(bytes_of(*q.members));
  numbers_.erase(q.members);
  queries_.erase(number);
}

std::vector<ticket> alive_queries::callers(query const& q) {
  std::vector<ticket> all;
  for (auto const& [_, tickets] : q.called) all.insert(all.end(), tickets.begin(), tickets.end());
  return all;
}

std::vector<ticket> alive_queries::callers() const {
  std::vector<ticket> all;
  for (auto const& [_, q] : queries_) {
    auto const some = callers(q);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace coxswain::core
