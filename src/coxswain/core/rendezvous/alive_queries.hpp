#pragma once
// Alive queries (semantics D21): who asks among which set of tasks, until all of the set that are
// there have asked. Not here: who is there, replies and deadlines (coordinator).

#include "coxswain/base/bytes.hpp"
#include "coxswain/base/ids.hpp"
#include "coxswain/core/kernel/ticket.hpp"
#include "coxswain/core/rendezvous/meeting.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace coxswain::core {

class alive_queries {
 public:
  using query_number = std::uint64_t;

  struct query {
    query_number number{};
    task_set_ptr members;
    std::map<task_id, std::vector<ticket>> called;
    // Where the members were looked at last: as long as that one is waited for, the query waits.
    std::uint32_t looked_at{};
  };

  explicit alive_queries(std::shared_ptr<memory_meter> memory) : memory_{std::move(memory)} {}
  ~alive_queries();
  alive_queries(alive_queries const&) = delete;
  alive_queries& operator=(alive_queries const&) = delete;

  // Whether a query among these members is there, or has room.
  [[nodiscard]] bool has_room(task_set_ptr const& members) const;

  // Notes a call. A task may call several times. The query is there until `cancel` takes its
  // last call back.
  query& call(task_set_ptr const& members, task_id task, ticket who);
  void cancel(query_number number, task_id task, ticket who);

  // Whether none of the members is waited for any more. Costs nothing for most calls.
  template <class IsAwaited>
  [[nodiscard]] static bool is_complete(query& q, IsAwaited is_awaited) {
    std::uint32_t const size = q.members->size();
    for (std::uint32_t i = 0; i < size; ++i) {
      if (is_awaited(q.members->at(q.looked_at))) return false;
      q.looked_at = (q.looked_at + 1) % size;
    }
    return true;
  }

  // All who wait, in the order of the tasks.
  [[nodiscard]] static std::vector<ticket> callers(query const& q);
  [[nodiscard]] std::vector<ticket> callers() const;

  [[nodiscard]] std::map<query_number, query>& all() noexcept { return queries_; }
  [[nodiscard]] std::map<query_number, query> const& all() const noexcept { return queries_; }

 private:
  struct by_members {
    bool operator()(task_set_ptr const& a, task_set_ptr const& b) const { return *a < *b; }
  };

  std::shared_ptr<memory_meter> memory_;
  std::map<query_number, query> queries_;
  std::map<task_set_ptr, query_number, by_members> numbers_;
  query_number last_{};
};

}  // namespace coxswain::core
