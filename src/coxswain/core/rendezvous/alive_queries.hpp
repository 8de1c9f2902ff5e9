#pragma once
// Alive queries (§12.2): calls for a set of tasks, which wait until all connected tasks of
// the set have called. Not here: which tasks are connected, replies and deadlines (coordinator).

#include "coxswain/base/bytes.hpp"
#include "coxswain/base/ids.hpp"
#include "coxswain/core/kernel/ticket.hpp"
#include "coxswain/core/rendezvous/meeting.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace coxswain::core {

class alive_queries {
 public:
  using query_number = std::uint64_t;

  struct query {
    query_number number{};
    task_set_ptr members;
    std::map<task_id, std::vector<ticket>> called;
    // The member checked last: while it has not called, the query waits.
    std::uint32_t looked_at{};
  };

  explicit alive_queries(meter_ptr memory) : memory_{std::move(memory)} {}
  ~alive_queries();
  alive_queries(alive_queries const&) = delete;
  alive_queries& operator=(alive_queries const&) = delete;

  // Whether a query of these members is open, or there is room for one.
  [[nodiscard]] bool has_room(task_set_ptr const& members) const;

  // Adds a call. A task may call several times. The query is open until `cancel` removes its last
  // call.
  query& call(task_set_ptr const& members, task_id task, ticket who);
  void cancel(query_number number, task_id task, ticket who);

  // Whether all connected members have called. Usually O(1).
  template <class IsAwaited>
  [[nodiscard]] static bool is_complete(query& q, IsAwaited is_awaited) {
    std::uint32_t const size = q.members->size();
    for (std::uint32_t i = 0; i < size; ++i) {
      if (is_awaited(q.members->at(q.looked_at))) return false;
      q.looked_at = (q.looked_at + 1) % size;
    }
    return true;
  }

  // All waiting calls, in task order.
  [[nodiscard]] static std::vector<ticket> callers(query const& q);
  [[nodiscard]] std::vector<ticket> callers() const;

  [[nodiscard]] std::map<query_number, query>& all() noexcept { return queries_; }
  [[nodiscard]] std::map<query_number, query> const& all() const noexcept { return queries_; }

  static void fields(auto& a, auto& s);

 private:
  // Adds a loaded one; false if it contradicts what is there.
  [[nodiscard]] bool restore(query q);

  struct by_members {
    bool operator()(task_set_ptr const& a, task_set_ptr const& b) const { return *a < *b; }
  };

  meter_ptr memory_;
  std::map<query_number, query> queries_;
  std::map<task_set_ptr, query_number, by_members> numbers_;
  query_number last_{};
};

}  // namespace coxswain::core
