#pragma once
// Topology exchanges: each task contributes its devices and gets those of all. Not here:
// contributions (topology_exchanges), the global topology (topology).

#include "coxswain/core/kernel/call.hpp"
#include "coxswain/core/kernel/concern.hpp"
#include "coxswain/core/rendezvous/topology_exchanges.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace coxswain::core {

class topology_verbs final : public blocking_concern, public timed_concern {
 public:
  explicit topology_verbs(concerns& all);

  void handle(call const& c, exchange_topology_args& args);
  // Whatever else such a call says, it can only open an exchange: there is none.
  [[nodiscard]] bool may_only_open(std::string_view platform) const {
    return !exchanges_.find(platform);
  }
  // Open exchanges can no longer be completed.
  void fail_open_exchanges(status const& why);
  // A task has left: open exchanges cannot be completed any more.
  void task_left(status const& why);
  // The job drains: ends those that wait for a task which is not there.
  void fail_unreachable_exchanges();
  // Exchanges may have waited for long.
  void log_due(time_point now);
  [[nodiscard]] topology_exchanges const& all() const noexcept { return exchanges_; }

  void save(state_writer& to) const override;
  void load(state_reader& from) override;
  void job_failed(time_point now, status const& why, barrier_failure const* missing) override;
  void stopping(time_point now, status const& why) override { job_failed(now, why, nullptr); }
  void check_invariants() const override;
  [[nodiscard]] std::size_t armed() const override;

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
  static void fields(auto& a, auto& s) { a.members(s.exchanges_, s.log_alarm_); }

  [[nodiscard]] status checked_topology(exchange_topology_args const& args) const;
  [[nodiscard]] status all_may_come(std::string_view platform) const;
  [[nodiscard]] status room_for_topology(exchange_topology_args const& args) const;
  void join_exchange(call const& c, exchange_topology_args& args);
  void complete_exchange(std::string const& platform);
  // The outcomes of the others are no longer needed either.
  void end_exchanges(status const& why);
  void arm_exchange_log(time_point now);

  topology_exchanges exchanges_;
  alarm log_alarm_;  // one for all that are open
};

}  // namespace coxswain::core
