#pragma once
// The state of the job as one sentence, which is the same wherever the job is shown (§12.8). The
// worst comes first. Not here: everything else that is known about waits (why_verbs).

#include "coxswain/core/kernel/call.hpp"
#include "coxswain/core/model/results.hpp"
#include "coxswain/core/rendezvous/meeting.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace coxswain::core {

struct concerns;
class kernel;
class roster;
class wait_graph;

// How long a round is open before the tasks that it lacks count as missing. In the first moments
// most are still on their way: they are missing once half of the others wait for them, or the first
// one has waited for long.
[[nodiscard]] duration missing_after(std::size_t arrived, std::size_t expected) noexcept;

class headline {
 public:
  // `with` is the present graph of waits; null: it is made if it is needed, and what that takes is
  // added to `steps`.
  headline(concerns const& all, time_point now, std::uint64_t& steps,
           wait_graph const* with = nullptr);

  [[nodiscard]] job_state state() const;

 private:
  using kind = job_state::kind;
  using maybe = std::optional<job_state>;

  [[nodiscard]] maybe failed() const;
  [[nodiscard]] maybe over() const;
  [[nodiscard]] maybe stopped() const;
  [[nodiscard]] maybe deadlocked() const;
  [[nodiscard]] maybe waits_at_meeting() const;
  [[nodiscard]] maybe waits_for_connection() const;
  [[nodiscard]] maybe waits_for_progress() const;
  [[nodiscard]] maybe draining() const;
  [[nodiscard]] maybe nothing_joined() const;
  [[nodiscard]] maybe gathers_processes() const;
  [[nodiscard]] maybe gathers_tasks() const;
  [[nodiscard]] maybe waits_for_next_process() const;
  [[nodiscard]] maybe slow() const;
  [[nodiscard]] job_state running() const;

  // "14:03:05"
  [[nodiscard]] std::string second_of(time_point at) const;
  [[nodiscard]] job_state found(kind what, std::string text, std::optional<time_point> since,
                                std::vector<task_id> const& tasks = {}) const;
  [[nodiscard]] bool is_overdue(meeting const& m) const;
  [[nodiscard]] std::optional<time_point> time_of(event_kind kind) const;
  [[nodiscard]] std::string begins_text(std::optional<time_point> at) const;
  [[nodiscard]] std::string timeout_text(time_point deadline) const;
  [[nodiscard]] std::string applicants_text() const;
  [[nodiscard]] std::string host_of(task_id id) const;
  [[nodiscard]] bool has_several_hosts() const;
  template <class Is>
  [[nodiscard]] std::vector<task_id> tasks_that(Is is) const;

  concerns const& all_;
  kernel const& kernel_;
  roster const& roster_;
  time_point now_;
  std::uint64_t& steps_;
  wait_graph const* with_;
};

}  // namespace coxswain::core
