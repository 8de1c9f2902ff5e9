#pragma once
// Barriers at which any client may wait (§6.5). Not here: the arrivals (count_barriers).

#include "coxswain/core/kernel/call.hpp"
#include "coxswain/core/kernel/concern.hpp"
#include "coxswain/core/rendezvous/count_barriers.hpp"

#include <string>
#include <vector>

namespace coxswain::core {

class count_barrier_verbs final : public blocking_concern, public timed_concern {
 public:
  explicit count_barrier_verbs(concerns& all);

  void handle(call const& c, count_barrier_args& args);
  [[nodiscard]] count_barriers const& all() const noexcept { return count_barriers_; }

  void save(state_writer& to) const override;
  void load(state_reader& from) override;
  void job_failed(time_point, status const&, barrier_failure const*) override {}
  void stopping(time_point now, status const& why) override;
  void check_invariants() const override;

  void cancel(ticket who, parked const& p) override;
  [[nodiscard]] answer_ptr overdue(time_point now, parked const& p) override;
  [[nodiscard]] std::string missing_text(time_point now, ticket who, parked const& p) override;
  [[nodiscard]] std::string goal_text(parked const& p) const override;
  [[nodiscard]] std::string stuck_text(parked const& p) const override;
  [[nodiscard]] std::vector<task_id> awaited(parked const&) const override { return {}; }
  [[nodiscard]] std::size_t waiting() const override;
  void check(ticket who, parked const& p) const override;

 private:
  static void fields(auto& a, auto& s) { a(1, s.count_barriers_); }

  count_barriers count_barriers_;
};

}  // namespace coxswain::core
