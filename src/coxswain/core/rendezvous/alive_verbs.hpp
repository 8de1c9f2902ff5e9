#pragma once
// Alive queries: which tasks of a set are alive, with the same reply to all of them (
// §12.2). Not here: the waiting calls (alive_queries).

#include "coxswain/core/kernel/call.hpp"
#include "coxswain/core/kernel/concern.hpp"
#include "coxswain/core/rendezvous/alive_queries.hpp"

#include <string>
#include <vector>

namespace coxswain::core {

class alive_verbs final : public blocking_concern, public timed_concern {
 public:
  explicit alive_verbs(concerns& all);

  void handle(call const& c, alive_args& args);
  // Queries that wait for the task to ask end.
  void end_queries_awaiting(task_id id, status const& why);
  // Tasks have changed: queries may be complete.
  void check_queries_again() { to_check_ = queries_.all().size(); }
  // Looks at some of these; the others are for the next call.
  void check_some();
  [[nodiscard]] bool has_queries_to_check() const noexcept { return to_check_ > 0; }

  [[nodiscard]] alive_queries const& all() const noexcept { return queries_; }
  [[nodiscard]] std::vector<task_id> awaited(alive_queries::query const& q) const;
  [[nodiscard]] barrier_failure missing_from(time_point now, alive_queries::query const& q) const;

  void save(state_writer& to) const override;
  void load(state_reader& from) override;
  void job_failed(time_point now, status const& why, barrier_failure const* missing) override;
  void stopping(time_point now, status const& why) override { job_failed(now, why, nullptr); }
  void check_invariants() const override;

  void cancel(ticket who, parked const& p) override;
  [[nodiscard]] answer_ptr overdue(time_point now, parked const& p) override;
  [[nodiscard]] std::string missing_text(time_point now, ticket who, parked const& p) override;
  [[nodiscard]] std::string goal_text(parked const& p) const override;
  [[nodiscard]] std::string stuck_text(parked const& p) const override;
  [[nodiscard]] std::vector<task_id> awaited(parked const& p) const override;
  void add_to(wait_graph& g, picture_budget& budget) const override;
  [[nodiscard]] std::size_t waiting() const override;
  void check(ticket who, parked const& p) const override;

 private:
  static void fields(auto& a, auto& s) { a.members(s.queries_, s.to_check_, s.looked_at_); }

  [[nodiscard]] bool is_awaited(alive_queries::query const& q, task_id id) const;
  void answer_if_complete(alive_queries::query& q);

  void charge(alive_queries::query const& q) const;

  alive_queries queries_;
  // Queries that have not been looked at since the last change of tasks, at most: those after
  // `looked_at_`, then from the first one on.
  std::size_t to_check_{};
  alive_queries::query_number looked_at_{};
};

}  // namespace coxswain::core
