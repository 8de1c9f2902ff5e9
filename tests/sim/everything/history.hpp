#pragma once
// The history of a simulated job, as seen by its processes and by an observer without faults
// (auditor). The rules check it. Not here: the rules, and how it is made (job).

#include "coxswain/client/agent/agent_messages.hpp"
#include "coxswain/core/config.hpp"
#include "coxswain/core/model/messages.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace coxswain::sim {

// A violation of a rule, as text.
using violations = std::vector<std::string>;

struct interval {
  time_point from;
  time_point to{time_point::max()};
};

struct trouble : interval {
  bool is_of_relay{};  // which carries the connection, and not of the process or its host
  bool is_no_fault{};  // but the process has noticed one, or the coordinator has ended
  time_point connected{time_point::max()};  // the next time, perhaps still with the fault
};

struct call_record {
  std::size_t process{};
  std::optional<task_id> task;
  std::uint64_t epoch{};  // that its caller was given; zero: none
  core::request asked;
  duration timeout{};
  time_point made;
  std::optional<time_point> answered;
  std::optional<time_point> cancelled;
  core::answer got;

  [[nodiscard]] bool is_ok() const { return answered && got.outcome.ok(); }
  [[nodiscard]] time_point over() const {
    return answered.value_or(cancelled.value_or(time_point::max()));
  }
  template <class Args>
  [[nodiscard]] Args const* asks() const {
    return std::get_if<Args>(&asked);
  }
  template <class Value>
  [[nodiscard]] Value const* gave() const {
    return answered ? std::get_if<Value>(&got.value) : nullptr;
  }
};

// A process has one session and one incarnation.
struct process_record {
  std::vector<task_id> tasks;  // tasks that it tries to join; none: an observer
  incarnation self{};
  std::optional<std::size_t> host;  // the process whose guest it is
  std::string secret;               // which its host granted
  bool is_brief{};                  // a guest that takes part only in the leave
  bool recoverable{};
  bool is_spare{};      // it joins without a number
  std::string member;   // its name in an elastic job
  std::string machine;  // where that runs
  bool is_hosting{};    // a member for which a guest acts
  time_point born;
  std::optional<time_point> died;      // it was killed
  bool is_silent{};                    // the end of its connection was not noticed
  bool is_certain{};                   // a relay has reported its end
  std::optional<time_point> departed;  // it sent Bye
  std::optional<time_point> ended;     // its session ended, while the process continued
  status why_ended;
  bool is_quiet{};  // its session ended without an error because all its tasks had left
  std::optional<time_point> notified_of_failure;
  std::optional<job_error> failure;
  std::size_t completed_twice{};
  std::optional<time_point> opened;  // its session
  std::vector<time_point> resumed;
  std::vector<trouble> troubles;  // the process, its host or its connection has a fault
  bool has_relay{};               // it connects by one, if it can
  bool has_relays_only{};         // and not the coordinator's address
};

struct key_record {
  time_point at;
  core::key_change what;
};

struct task_sight {
  time_point at;
  core::tasks_answer what;
};

struct event_record {
  time_point at;
  core::events_answer::entry what;
};

// Of a task: the cause, or a consequence.
[[nodiscard]] constexpr bool is_failure(core::event_kind kind) {
  return kind == core::event_kind::failed || kind == core::event_kind::ended_with_job;
}

// A step of a task, and whether it stopped there.
struct step_record {
  std::size_t process{};
  task_id task{};
  std::uint64_t step{};
  time_point at;
  bool stops{};
  std::uint64_t epoch{};  // of an elastic job
};

struct history {
  core::config options;  // as promised to the job
  bool limits_are_small{};
  bool all_are_recoverable{};  // each task declares it when it joins
  duration delay_max{};
  duration seen_within{};  // the auditor's times are at most this late, but for stalls
  time_point begun;
  time_point ended;

  std::vector<call_record> calls;  // in the order in which they were made
  std::vector<process_record> processes;
  std::vector<interval> stalls;    // of the coordinator's loop, with those of restarts
  std::vector<interval> restarts;  // of the coordinator: from its end on

  // The auditor's observations.
  std::vector<key_record> keys;      // all changes, without gaps in the versions
  bool is_blind{};                   // refused for lack of memory: it saw some events late or never
  bool keys_are_whole{true};         // it missed no event
  std::vector<task_sight> tasks;     // versions may be skipped
  std::vector<event_record> events;  // in order
  std::optional<job_error> failure;

  std::vector<step_record> steps;

  // Whether the process, its connection and the coordinator had no fault during this time.
  [[nodiscard]] bool is_calm(std::size_t process, time_point from, time_point to) const;
  // When what the auditor saw at this time may have happened, at the earliest. Before a stall it
  // may have waited for the disk; before an end of the coordinator it may have been lost, and have
  // happened again; and after a restart or a long stall it waits until the auditor is connected.
  [[nodiscard]] time_point earliest(time_point at) const;
  // Whether a restarted coordinator surely knows what reached it by this time: with a disk, what
  // came before a request that it answered.
  [[nodiscard]] bool outlives_restart(time_point at) const;
  // Somebody had asked for the job to drain.
  [[nodiscard]] bool may_drain(time_point by) const;
  // The auditor missed no event.
  [[nodiscard]] bool has_all_events() const;
  // The total time of stalls of the coordinator's loop.
  [[nodiscard]] duration stalled() const;
  [[nodiscard]] bool is_guest(std::size_t process) const {
    return processes[process].host.has_value();
  }
  // In an elastic job: its caller wants the epoch after this one. A guest need not know an epoch.
  [[nodiscard]] bool ends_epoch(call_record const& c, std::uint64_t epoch) const {
    bool const is_of = c.epoch == epoch || (c.epoch == 0 && is_guest(c.process));
    return is_of && c.asks<core::next_epoch_args>();
  }
  // How long a message to the process may wait for room on its route: until earlier messages have
  // reached the relay, and its grant of more room has arrived.
  [[nodiscard]] duration time_for_room(std::size_t process) const;
  // How much longer a message to the process may take, if it was sent at `from` and arrived at
  // `to`. With small limits, replies beyond the limit of a connection's queue wait, and its
  // requests are not read meanwhile. With a disk each reply may wait for the sync in progress and
  // for the next.
  [[nodiscard]] duration time_in_queue(std::size_t process, time_point from, time_point to) const;
  // "1.25 s: process 3 (task 1): get of key 'a'"
  [[nodiscard]] std::string text(call_record const& c) const;
  [[nodiscard]] std::string text(time_point at) const;
};

}  // namespace coxswain::sim
