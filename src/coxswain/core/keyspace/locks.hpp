#pragma once
// Locks by name, owned by sessions (§9.1). A lock's token is not a version of a key.

#include "coxswain/core/kernel/call.hpp"
#include "coxswain/core/kernel/concern.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::core {

class locks final : public blocking_concern, public timed_concern {
 public:
  explicit locks(concerns& all);
  ~locks() override;

  void handle(call const& c, lock_args& args);
  void handle(call const& c, try_lock_args& args);
  void handle(call const& c, unlock_args& args);

  void save(state_writer& to) const override;
  void load(state_reader& from) override;
  void job_failed(time_point now, status const& why, barrier_failure const* missing) override;
  void stopping(time_point now, status const& why) override;
  void session_ended(time_point, session_id id, status const&) override { release_all_of(id); }
  void check_invariants() const override;
  void release_all_of(session_id owner);

  void cancel(ticket who, parked const& p) override;
  void put_back(std::vector<undelivered> grants) override;
  [[nodiscard]] answer_ptr overdue(time_point now, parked const& p) override;
  [[nodiscard]] std::string missing_text(time_point now, ticket who, parked const& p) override;
  [[nodiscard]] std::string goal_text(parked const& p) const override;
  [[nodiscard]] std::string stuck_text(parked const& p) const override;
  [[nodiscard]] std::vector<task_id> awaited(parked const& p) const override;
  void describe(parked const& p, why_answer::wait& in) const override;
  void add_to(wait_graph& g, picture_budget& budget) const override;
  [[nodiscard]] std::size_t waiting() const override;
  [[nodiscard]] std::size_t held() const { return held_.size(); }
  void check(ticket who, parked const& p) const override;

 private:
  static void fields(auto& a, auto& s) { a.members(s.held_, s.token_, s.waiter_); }

  // A lock that is held; free ones have no entry.
  struct lock {
    std::uint64_t token{};
    session_id owner{};
    std::map<std::uint64_t, ticket> waiting;  // by number, oldest first

    static void fields(auto& a, auto& s) { a.members(s.token, s.owner, s.waiting); }
  };
  using by_name = std::map<std::string, lock>;

  [[nodiscard]] static std::size_t cost(std::string const& name) { return 2 * name.size() + 256; }
  // OK: the name is normal, and there is room for the lock.
  [[nodiscard]] status admissible(call const& c, std::string& name) const;
  void grant(by_name::iterator at, ticket to, operation asked);
  // Unlocks: the lock passes to its oldest waiter, if any.
  void release(by_name::iterator at);
  // Null: it acts for no task, or for several.
  [[nodiscard]] std::optional<task_id> task_of(lock const& of) const;
  [[nodiscard]] std::string held_text(std::string const& name) const;

  by_name held_;
  std::set<std::pair<session_id, std::string>> owned_;  // the same, by owner
  std::uint64_t token_{};
  std::uint64_t waiter_{};
};

}  // namespace coxswain::core
