#pragma once
// What tasks wait for, and which are deadlocked. Not here: the detection (wait_graph).

#include "coxswain/core/kernel/call.hpp"
#include "coxswain/core/kernel/concern.hpp"
#include "coxswain/core/kernel/roster.hpp"
#include "coxswain/core/observe/kept_answer.hpp"
#include "coxswain/core/observe/stuck.hpp"
#include "coxswain/core/observe/wait_graph.hpp"
#include "coxswain/core/rendezvous/alive_queries.hpp"
#include "coxswain/core/rendezvous/count_barriers.hpp"
#include "coxswain/core/rendezvous/meeting.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::core {

class why_verbs final : public concern {
 public:
  using concern::concern;

  void handle(call const& c, why_args&);
  [[nodiscard]] why_answer why(time_point now, std::uint64_t& steps) const;

  // Schedules a search for deadlocks.
  void plan_review();
  void review_due(time_point now);
  // A task no longer waits: a deadlock may have ended.
  void wait_has_ended() {
    if (!stuck_reported_.empty()) plan_review();
  }
  [[nodiscard]] std::size_t stuck_tasks() const noexcept { return stuck_reported_.size(); }
  // Those that were reported and still are: "deadlock: tasks 0-1 are blocked on each other ...",
  // and when the last of them began to wait. Makes the graph, and adds what that takes to `steps`,
  // unless it is given.
  struct deadlock {
    std::string text;
    std::vector<task_id> tasks;
    time_point since;
  };
  [[nodiscard]] std::optional<deadlock> known_deadlock(time_point now, wait_graph const* with,
                                                       std::uint64_t& steps) const;

  void save(state_writer& to) const override;
  void load(state_reader& from) override;
  void job_failed(time_point, status const&, barrier_failure const*) override {}
  void stopping(time_point now, status const& why) override;
  void check_invariants() const override;
  [[nodiscard]] std::size_t armed() const override { return review_.armed() ? 1 : 0; }

 private:
  static void fields(auto& a, auto& s) {
    a.members(s.review_, s.review_pause_, s.stuck_reported_, s.stuck_reported_at_, s.kept_);
  }

  [[nodiscard]] bool may_act(time_point now, task const& t) const;
  [[nodiscard]] wait_graph graph_of_waits(time_point now) const;
  [[nodiscard]] std::vector<stuck_call> stuck_in(wait_graph const& g) const;
  void report_stuck(wait_graph const& g, std::vector<stuck_call> stuck);
  [[nodiscard]] bool wait_alike(parked const& a, parked const& b) const;
  [[nodiscard]] std::string stuck_text(wait_graph const& g,
                                       std::vector<stuck_call> const& stuck) const;
  [[nodiscard]] std::string stuck_text(wait_graph const& g, stuck_group const& group) const;
  [[nodiscard]] why_answer::wait wait_in(time_point now, wait_graph const& g, why_answer::kind what,
                                         std::string name, meeting const& m) const;
  [[nodiscard]] why_answer::wait wait_in(time_point now, wait_graph const& g,
                                         std::string const& name,
                                         count_barriers::waiting const& waiting) const;
  [[nodiscard]] why_answer::wait wait_in(time_point now, wait_graph const& g,
                                         alive_queries::query const& q) const;
  [[nodiscard]] why_answer::wait wait_for_agreement(time_point now, wait_graph const& g) const;
  void add_listed(time_point now, wait_graph const& g, why_answer& to, std::uint64_t& steps) const;
  void add_call(time_point now, why_answer::wait& w, ticket who) const;

  alarm review_;
  duration review_pause_{};  // before the next one; grows with the size of the graph
  std::vector<stuck_call> stuck_reported_;
  time_point stuck_reported_at_;
  kept_answer kept_;
};

}  // namespace coxswain::core
