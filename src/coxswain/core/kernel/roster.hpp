#pragma once
// The tasks of the job: state, incarnation, and which session acts for each. Not here: what follows
// when a task fails (coordinator).

#include "coxswain/base/brief_text.hpp"
#include "coxswain/base/error.hpp"
#include "coxswain/base/ids.hpp"
#include "coxswain/core/kernel/blocking_calls.hpp"
#include "coxswain/core/kernel/deadlines.hpp"
#include "coxswain/core/kernel/liveness.hpp"
#include "coxswain/core/kernel/origin.hpp"
#include "coxswain/core/kernel/ticket.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/core/observe/statistics.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace coxswain::core {

// A claimant, which waits while another incarnation is probed (§1.2).
struct claimant {
  ticket who;
  join_args asked;
};

// The progress a task has reported.
struct progress {
  std::uint64_t step{};
  liveness rose;             // when the step last advanced
  time_point waits_since{};  // if a call of it waits
  duration excused{};        // time since then in which it waited for others, or was unreachable
  bool reported{};           // that the lack of progress was reported
};

// While there are claimants, the holder owes a sign of life.
struct holder_probe {
  std::vector<claimant> by;  // oldest first
  liveness probed;           // since when
  alarm probe;
  bool holder_heard{};  // since then; the alarm is that of the verdict
};

// What is known about a task that no session holds any more.
struct last_holder {
  session_id session{};
  origin from;
  std::optional<time_point> heard;  // as it was when its session ended
  status failure;                   // why the task failed; ok: it has not
  bool ended_with_job{};            // that was because the job had failed or its epoch was over
  alarm return_due;                 // armed while the task is returning
};

// The last request of a task. Its name is cut to what fits here: it is noted with each request.
struct last_call {
  time_point at{};  // none: there was none
  operation what{};
  brief_text<29> name;
};

// What the last guest of a task to leave stated about its task.
enum class detachment : std::uint8_t { none, finished, returning };

// There are many, so fields that few of them need are stored elsewhere.
struct task {
  task_state state{task_state::never_connected};  // changed by roster::set_state only
  bool recoverable{};  // its failure does not fail the job; changed by roster only
  bool came_late{};    // the job had started when it joined
  bool is_jax{};       // its present incarnation, or its last one, is a JAX program
  // A guest of it has left: it leaves when its holder does. If it has finished, no task waits for
  // it to leave. Changed by roster only.
  detachment detached{};
  std::uint32_t place{};  // in the `tasks` of the session that holds it
  alarm progress_due;
  incarnation self{};
  session_id held_by{};               // acts for it while it is joining or connected
  std::unique_ptr<last_holder> last;  // null: it is held, or it never was

  // Its waiting requests (barriers, alive queries, keys, leaving), oldest first: those of the
  // session that holds it, and of its guests.
  std::vector<ticket> waits;
  blocking_calls blocked;
  core::last_call last_call;  // of this incarnation

  std::unique_ptr<core::progress> progress;          // of this incarnation; null: it reports none
  std::unique_ptr<core::holder_probe> holder_probe;  // null: there is no claimant

  // A call of it has begun or ended waiting. While one waits, the task counts as not holding up
  // others: another of its threads may hang, but blaming a waiting task would be worse.
  void begin_wait(time_point now, blocking_calls::wait how) {
    if (progress && blocked.open() == 0) progress->waits_since = now;
    blocked.begin(now, how);
  }
  void end_wait(time_point now, blocking_calls::wait how) {
    blocked.end(how);
    if (!progress || blocked.open() > 0) return;
    progress->excused += now - std::max(progress->waits_since, progress->rose.since);
  }

  [[nodiscard]] bool is_connected() const noexcept { return state == task_state::connected; }
  [[nodiscard]] bool is_probed() const noexcept {
    return holder_probe && holder_probe->probe.armed();
  }
  [[nodiscard]] status error() const { return last ? last->failure : status{}; }
};

class roster {
 public:
  // `recoverable`: the default for tasks that have not joined.
  roster(std::uint32_t num_tasks, bool recoverable);

  [[nodiscard]] std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(tasks_.size());
  }
  [[nodiscard]] bool has(task_id id) const noexcept { return id.value < tasks_.size(); }
  [[nodiscard]] task& at(task_id id) { return tasks_[id.value]; }
  [[nodiscard]] task const& at(task_id id) const { return tasks_[id.value]; }

  // Then it is not detached.
  void set_state(task_id id, task_state state);

  void set_detached(task_id id, detachment how);
  // How many are detached because they have finished.
  [[nodiscard]] std::uint32_t detached() const noexcept { return detached_; }

  void set_recoverable(task_id id, bool recoverable);
  [[nodiscard]] bool all_recoverable() const noexcept { return unrecoverable_ == 0; }

  // Another set of tasks: task i was `from[i]`, or is new. The others are forgotten.
  void rearrange(std::vector<std::optional<task_id>> const& from);

  // Rises with every visible change of a task. Callers that change anything but the state must call
  // `changed`.
  [[nodiscard]] std::uint64_t version() const noexcept { return version_; }
  void changed() noexcept { ++version_; }

  // How many tasks are in this state.
  [[nodiscard]] std::uint32_t count(task_state state) const {
    return counts_[static_cast<std::size_t>(state)];
  }

  static void fields(auto& a, auto& s);

 private:
  void count_all();

  std::vector<task> tasks_;
  std::array<std::uint32_t, 6> counts_{};
  std::uint32_t detached_{};
  std::uint32_t unrecoverable_{};
  std::uint64_t version_{};
};

}  // namespace coxswain::core
