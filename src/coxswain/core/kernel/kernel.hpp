#pragma once
// State shared by all concerns: options, clock, sessions, tasks, deadlines, the event log and
// counters, and texts derived from these alone. Not here: replies to requests (calls), rules (the
// concerns).

#include "coxswain/base/bytes.hpp"
#include "coxswain/base/error.hpp"
#include "coxswain/core/config.hpp"
#include "coxswain/core/kernel/alarms.hpp"
#include "coxswain/core/kernel/deadlines.hpp"
#include "coxswain/core/kernel/lateness.hpp"
#include "coxswain/core/kernel/liveness.hpp"
#include "coxswain/core/kernel/roster.hpp"
#include "coxswain/core/kernel/sessions.hpp"
#include "coxswain/core/observe/event_log.hpp"
#include "coxswain/core/observe/statistics.hpp"
#include "coxswain/core/rendezvous/meeting.hpp"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coxswain::core {

class kernel {
 public:
  kernel(config given, incarnation self, time_point now);

  config options;
  meter_ptr const memory;
  incarnation const self;
  time_point const started;
  std::vector<outgoing> out;
  std::size_t unsent_bytes{};  // of large answers made since `out` was taken
  core::deadlines deadlines;
  core::sessions sessions;
  core::roster roster;
  task_set_ptr everyone;      // the tasks of the roster
  std::vector<event> events;  // since they were taken
  core::event_log event_log;
  statistics tally;
  core::lateness lateness;
  std::optional<job_error> error;
  bool stopping{};
  std::uint64_t term;           // see config::term
  std::string refuses_storing;  // why requests that store something are refused, if they are

  // Free for a request that may wait.
  static constexpr std::size_t memory_per_request = 8 * 1024;
  // One part in this many of the core's memory is reserved for requests that synchronize tasks.
  static constexpr std::size_t part_for_tasks = 32;

  // How often the loop is expected to run (§4.2).
  static constexpr duration tick = 50ms;

  // The latest time of an input.
  [[nodiscard]] time_point observed() const noexcept { return observed_; }
  void observe(time_point now);
  // The coordinator did not exist since the last input: that time is credited like a stall.
  void pass_over(time_point now);
  [[nodiscard]] liveness alive_since(time_point now) const { return {now, stalled_}; }
  // When the time `allowed` since a sign of life ends. Stalls of the loop since then are credited,
  // up to one heartbeat timeout.
  [[nodiscard]] time_point credited(liveness const& l, duration allowed) const;
  void arm_deadline(alarms& of, time_point deadline, due_item item);
  void arm_log(alarms& of, time_point now, due_item item);
  void disarm(alarms& of);
  // Records how long after its deadline a request was answered.
  void note_lateness(duration late);
  // For texts, which may be read much later: "14:03:07.2".
  [[nodiscard]] std::string moment(time_point now, time_point at) const;

  void log(severity level, event_kind kind, std::string text, std::optional<task_id> task = {},
           std::string_view barrier = {});
  // An event about this task. Its text is `who` followed by these parts: {" has left"}. The label
  // of an unmodified JAX program, which is a long one, is only in the events of its joining.
  void log_task(severity level, event_kind kind, task_id task,
                std::initializer_list<std::string_view> rest);

  // "task 12 (b12:3391)"
  [[nodiscard]] std::string who(task_id id) const;
  // "task 12 (b12:3391)", "tasks 0-3 (b12:3391)", "a program of task 12 (b12:3391)" or "client
  // b12:3391".
  [[nodiscard]] std::string whose(session const& s) const;
  // "b12:3391", or else its address.
  [[nodiscard]] static std::string const& label_of(session const& s);
  // The name of whoever makes a request: its task, or the label of a client without one.
  [[nodiscard]] std::string requester(session const& s, std::optional<task_id> task) const;
  // "the relay of task 12 (b12:3391) at 10.0.0.7:51234"
  [[nodiscard]] std::string relay_of(session const& s) const;
  // The label of the session that holds the task, or held it last.
  [[nodiscard]] origin const& from_of(task const& t) const;
  [[nodiscard]] bool is_suspect(task const& t) const;
  [[nodiscard]] std::optional<time_point> last_heard(task const& t) const;
  // Whether reading from its connection is paused.
  [[nodiscard]] bool is_paused(session const& s) const;

  // "task 12 (b12:3391) failed: ABORTED: killed by signal 9 (SIGKILL)"
  [[nodiscard]] std::string has_failed(task_id id) const;
  [[nodiscard]] std::string has_failed(task_id id, std::string_view why) const;
  // The job's failure as the outcome of a call.
  [[nodiscard]] status job_failed(errc code) const;
  // The error of a call that needs a task, in a session that acts for none.
  [[nodiscard]] status not_joined() const;
  // Of a task that has failed or left, as the outcome of a call that needs it.
  [[nodiscard]] status absence(task_id id) const;
  // OK if a request of the session may wait and hold this many bytes.
  [[nodiscard]] status room_to_wait(session const& s, std::size_t bytes) const;
  [[nodiscard]] status out_of_memory() const;

  // OK unless requests that store something are refused (storing_refused).
  [[nodiscard]] status room_to_store() const;

  // The roster has another size.
  void resize_everyone();

  static void fields(auto& a, auto& s);

 private:
  void log_stall(time_point now);
  void add_event(event what);
  void append_who(std::string& to, task_id id) const;

  time_point observed_;
  duration stalled_{};  // all stalls of the loop so far
  std::optional<time_point> stall_reported_;
  std::string subject_;  // of the last event
};

}  // namespace coxswain::core
