#pragma once
// A restart of the coordinator (§18.1): its sessions are restored without connections, and
// have a grace in which to resume. Not here: how the state is restored (server/journal).

#include "coxswain/core/kernel/concern.hpp"
#include "coxswain/core/kernel/deadlines.hpp"
#include "coxswain/core/kernel/sessions.hpp"
#include "coxswain/core/model/owner_input.hpp"

#include <cstddef>

namespace coxswain::core {

class restart_verbs final : public concern {
 public:
  using concern::concern;

  // The process will end and be restarted: all connections get a goodbye after which they may
  // resume.
  void suspend(time_point now, suspended const& what);

  // This is the new process.
  void restart(time_point now, restarted const& what);

  [[nodiscard]] bool is_suspended() const noexcept { return is_suspended_; }

  // A session that was restored (session::is_restored) resumes, or ends.
  void resumed(time_point now, session& s);
  void ended(time_point now, session& s);

  // When the grace of the last restart ends; zero without one.
  [[nodiscard]] time_point grace_end() const;

  void grace_due(time_point now);

  void save(state_writer& to) const override;
  void load(state_reader& from) override;
  void job_failed(time_point, status const&, barrier_failure const*) override {}
  void stopping(time_point now, status const& why) override;
  void check_invariants() const override;
  [[nodiscard]] std::size_t armed() const override { return grace_over_.armed() ? 1 : 0; }

 private:
  static void fields(auto& a, auto& s) {
    a.members(s.is_suspended_, s.restarted_at_, s.restored_, s.resumed_, s.awaited_, s.grace_over_);
  }

  void no_longer_awaits(time_point now, session& s);
  void report_outcome(time_point now);

  bool is_suspended_{};
  liveness restarted_at_{};  // the last time
  std::size_t restored_{};   // sessions, by that restart
  std::size_t resumed_{};    // of these
  std::size_t awaited_{};    // of these
  alarm grace_over_;
};

}  // namespace coxswain::core
