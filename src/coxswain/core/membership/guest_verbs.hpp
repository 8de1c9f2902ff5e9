#pragma once
// Guests: which sessions may act for a task held by another session, and how that differs from the
// holder's own requests.

#include "coxswain/core/kernel/call.hpp"
#include "coxswain/core/kernel/concern.hpp"
#include "coxswain/core/membership/guests.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace coxswain::core {

class guest_verbs final : public waiting_concern {
 public:
  explicit guest_verbs(concerns& all);

  void handle(call const& c, grant_args& args);
  // UNAUTHENTICATED, FAILED_PRECONDITION: it may not act for the task.
  [[nodiscard]] result<host> host_of(guest_args const& args) const;
  [[nodiscard]] grant* grant_of(session const& s);
  // Null if there is none.
  [[nodiscard]] grant* grant_of(host const& by) { return find(grants_, by); }
  [[nodiscard]] grant const* grant_of(host const& by) const {
    auto const at = grants_.find(by);
    return at == grants_.end() ? nullptr : &at->second;
  }
  // The task the guest acts for with this message.
  [[nodiscard]] result<std::optional<task_id>> acting_guest(session const& s,
                                                            client_message const& message) const;
  [[nodiscard]] bool empty() const noexcept { return grants_.empty(); }
  // How many guests wait to leave.
  [[nodiscard]] std::size_t count_leaving() const;

  // The guest leaves alone.
  void part(session& by, bool returning = false);
  // Answers the guests that wait to leave with the task.
  void take_leaving_guests(task_id id, std::vector<ticket>& into);
  // A guest reports its step.
  void reach_sync_point(call const& c, frozen_args const& args);
  // An epoch begins: each task in `moved` has its new number, and all others are gone with their
  // guests.
  void renumber(time_point now, std::map<task_id, task_id> const& moved);
  // An agreement has ended, with the step at which all stop, or without one.
  void end_sync_points(std::optional<std::uint64_t> step);

  void save(state_writer& to) const override;
  void load(state_reader& from) override;
  void job_failed(time_point, status const&, barrier_failure const*) override {}
  void stopping(time_point now, status const& why) override;
  // Its grants end as well.
  void session_ended(time_point now, session_id holder, status const& why) override;
  void check_invariants() const override;

  void cancel(ticket who, parked const& p) override;
  [[nodiscard]] std::string missing_text(time_point now, ticket who, parked const& p) override;
  [[nodiscard]] std::size_t waiting() const override;
  void check(ticket who, parked const& p) const override;

 private:
  static void fields(auto& a, auto& s) { a(1, s.grants_); }

  [[nodiscard]] std::optional<host> host_of(task_id id) const;
  [[nodiscard]] status has_left_its_guests(task_id id) const;
  void dismiss(time_point now, std::vector<session_id> guests, status const& why);

  grants grants_;
};

}  // namespace coxswain::core
