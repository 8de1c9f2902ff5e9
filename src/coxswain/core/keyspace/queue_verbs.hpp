#pragma once
// Queues: push, pop, take, leases, and items whose consumer died before it had finished them. Not
// here: the items (queues, leases).

#include "coxswain/core/kernel/call.hpp"
#include "coxswain/core/kernel/concern.hpp"
#include "coxswain/core/kernel/sessions.hpp"
#include "coxswain/core/keyspace/leases.hpp"
#include "coxswain/core/keyspace/queues.hpp"

#include <string>
#include <vector>

namespace coxswain::core {

class queue_verbs final : public blocking_concern, public timed_concern {
 public:
  explicit queue_verbs(concerns& all);

  void handle(call const& c, push_args& args);
  void handle(call const& c, pop_args& args);
  void handle(call const& c, take_args& args);
  void handle(call const& c, update_lease_args& args);
  // Answers with the number of items in the queue.
  void count(call const& c, std::string& queue);
  [[nodiscard]] queues const& all() const noexcept { return queues_; }
  // The items that are leased.
  void show(snapshot& in) const;

  // The process of a session has ended, or the session has.
  void return_items_of(session_id owner);
  void lease_due(time_point now, std::uint64_t item);

  void save(state_writer& to) const override;
  void load(state_reader& from) override;
  void job_failed(time_point now, status const& why, barrier_failure const* missing) override;
  void stopping(time_point now, status const& why) override;
  void session_ended(time_point, session_id id, status const&) override { return_items_of(id); }
  void check_invariants() const override;
  [[nodiscard]] std::size_t armed() const override;

  void cancel(ticket who, parked const& p) override;
  void put_back(std::vector<undelivered> items) override;
  [[nodiscard]] answer_ptr overdue(time_point now, parked const& p) override;
  [[nodiscard]] std::string missing_text(time_point now, ticket who, parked const& p) override;
  [[nodiscard]] std::string goal_text(parked const& p) const override;
  [[nodiscard]] std::string stuck_text(parked const& p) const override;
  [[nodiscard]] std::vector<task_id> awaited(parked const&) const override { return {}; }
  [[nodiscard]] operation request_of(parked const& p) const override;
  void describe(parked const& p, why_answer::wait& in) const override;
  void add_to(wait_graph& g, picture_budget& budget) const override;
  [[nodiscard]] std::size_t waiting() const override;
  void check(ticket who, parked const& p) const override;

 private:
  static void fields(auto& a, auto& s) { a.members(s.queues_, s.leases_); }

  // Takes an item, or waits for one.
  void take(call const& c, std::string& queue, duration timeout, std::optional<duration> lease);
  void serve(std::string const& queue);
  void hand_over(queues::waiter to, std::string const& queue, queues::item item);
  void lend(queues::waiter const& to, std::string const& queue, queues::item const& item);
  void arm(leases::number item, leases::lease& lease);
  // Ends the lease; its item is gone unless it is put back.
  queues::item end_lease(leases::number item);
  void return_item(leases::number item);
  // Null, and the call is refused: the session does not hold the item.
  [[nodiscard]] leases::lease* held(call const& c, update_lease_args const& args);
  [[nodiscard]] std::string holder_text(leases::lease const& of) const;
  [[nodiscard]] std::string leased_text(std::string const& queue) const;

  queues queues_;
  leases leases_;
};

}  // namespace coxswain::core
