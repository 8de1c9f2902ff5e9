#pragma once
// Queues: push, pop, and items whose consumer died before it had them. Not here: the items
// (queues).

#include "coxswain/core/kernel/call.hpp"
#include "coxswain/core/kernel/concern.hpp"
#include "coxswain/core/kernel/sessions.hpp"
#include "coxswain/core/keyspace/queues.hpp"

#include <string>
#include <vector>

namespace coxswain::core {

class queue_verbs final : public blocking_concern, public timed_concern {
 public:
  explicit queue_verbs(concerns& all);

  void handle(call const& c, push_args& args);
  void handle(call const& c, pop_args& args);
  [[nodiscard]] queues const& all() const noexcept { return queues_; }

  void save(state_writer& to) const override;
  void load(state_reader& from) override;
  void job_failed(time_point now, status const& why, barrier_failure const* missing) override;
  void stopping(time_point now, status const& why) override { job_failed(now, why, nullptr); }
  void check_invariants() const override;

  void cancel(ticket who, parked const& p) override;
  void put_back(std::vector<undelivered> items) override;
  [[nodiscard]] answer_ptr overdue(time_point now, parked const& p) override;
  [[nodiscard]] std::string missing_text(time_point now, ticket who, parked const& p) override;
  [[nodiscard]] std::string goal_text(parked const& p) const override;
  [[nodiscard]] std::string stuck_text(parked const& p) const override;
  [[nodiscard]] std::vector<task_id> awaited(parked const&) const override { return {}; }
  [[nodiscard]] std::size_t waiting() const override;
  void check(ticket who, parked const& p) const override;

 private:
  static void fields(auto& a, auto& s) { a(1, s.queues_); }

  void serve(std::string const& queue);
  void hand_over(ticket who, std::string const& queue, queues::item item);

  queues queues_;
};

}  // namespace coxswain::core
