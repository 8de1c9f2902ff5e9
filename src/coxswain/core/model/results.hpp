#pragma once
// The results of calls that users of the client see, too: a snapshot of the job, its
// tasks, events and waits. Not here: the messages that carry them (messages). The meaning of each
// field is written in proto/coxswain/v1, too.

#include "coxswain/base/error.hpp"
#include "coxswain/base/ids.hpp"
#include "coxswain/base/status.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/base/wall_time.hpp"
#include "coxswain/core/model/event.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace coxswain::core {

// The default timeout of a call (§2.3).
inline constexpr duration timeout_default = 300s;

// How long the holder of a queue's item has to finish it, unless it states another time.
inline constexpr duration lease_default = 60s;

struct barrier_progress {
  request_id request{};
  round_number round{};
  std::uint32_t arrived{};
  std::uint32_t expected{};
  std::string missing;
  std::uint32_t missing_cut{};
  friend bool operator==(barrier_progress const&, barrier_progress const&) = default;
};

// The last step that a task has reported.
struct task_progress {
  std::uint64_t step{};
  duration age{};  // since the step last advanced
  bool overdue{};  // a warning was logged: it exceeds the progress timeout
  friend bool operator==(task_progress const&, task_progress const&) = default;
};

// How the job is, as data and as a sentence (proto: JobState).
struct job_state {
  enum class kind : std::uint8_t {
    unknown,  // its coordinator is older
    running,
    slow,
    waiting,
    deadlock,
    gathering,
    not_started,
    failed,
    stopped,
    over,
    draining
  };
  kind what{};
  std::string headline;
  std::optional<wall_time> since;  // when it began, as far as that is known
  std::string tasks;               // that are missing or to blame, as ranges
  std::uint32_t tasks_cut{};       // how many `tasks` leaves out
  friend bool operator==(job_state const&, job_state const&) = default;
};

// A picture of the whole job at one moment (proto: JobStatus).
struct snapshot {
  struct task {
    task_id id{};
    task_state state{};
    bool suspect{};
    incarnation self{};
    std::optional<duration> last_heard;  // how long ago
    std::string label;
    std::string peer;
    status error;
    bool recoverable{};
    std::optional<task_progress> progress{};  // none: it has reported no step
    std::optional<wall_time> returns_by{};    // of one that left to return, if there is a limit
    bool ended_with_job{};  // it failed because the job had failed or its epoch was over
    friend bool operator==(task const&, task const&) = default;
  };
  // A process that has asked for a task's number and waits for one.
  struct spare {
    std::string member;
    std::string label;
    std::string peer;
    duration age{};
    bool suspect{};
    friend bool operator==(spare const&, spare const&) = default;
  };
  // A relay that is connected.
  struct relay {
    std::string label;
    std::string peer;
    std::uint32_t clients{};         // sessions whose connections it carries
    std::uint32_t clients_paused{};  // of these: those that do not read, so that messages wait
    duration at{};                   // the uptime of the coordinator when it connected
    friend bool operator==(relay const&, relay const&) = default;
  };
  // An item that was taken from a queue, and is not finished yet. Times are uptimes of the
  // coordinator.
  struct lease {
    std::string queue;
    std::uint64_t item{};
    std::uint32_t redeliveries{};     // how often it was taken before and came back
    std::string holder;               // for people
    duration at{};                    // taken or extended
    std::optional<duration> expires;  // none: when its session ends
    friend bool operator==(lease const&, lease const&) = default;
  };
  struct elastic_state {
    std::uint64_t epoch{};  // zero: none has begun
    std::uint32_t tasks_min{};
    std::uint32_t tasks_max{};
    std::uint32_t tasks_wanted{};
    std::string ending;  // why the epoch is to end; empty: it is not
    bool over{};         // the calls of its members fail
    std::uint32_t ready{};
    duration age{};
    friend bool operator==(elastic_state const&, elastic_state const&) = default;
  };
  enum class kind : std::uint8_t { tasks, count, join, leave, topology };
  struct barrier {
    std::string name;
    kind what{kind::tasks};
    round_number round{};
    std::uint32_t arrived{};
    std::uint32_t expected{};
    std::string missing;
    std::uint32_t missing_cut{};
    duration age{};
    std::optional<duration> remaining;  // none: without limit
    friend bool operator==(barrier const&, barrier const&) = default;
  };
  // A round of a barrier of tasks that has ended.
  struct finished_round {
    std::uint64_t number{};  // of all rounds of the job, from one
    std::string name;        // may be cut
    round_number round{};
    duration at{};  // the uptime of the coordinator
    std::uint32_t tasks{};
    errc outcome{};
    duration spread{};  // from the first arrival to the last, of the participants at the end
    duration lag{};     // from the median arrival to the last
    std::optional<task_id> last_task{};  // none: it failed, or there was only one task
    friend bool operator==(finished_round const&, finished_round const&) = default;
  };
  // A task that came last.
  struct straggler {
    task_id task{};
    std::uint32_t times_last{};
    duration lag_mean{};
    duration lag_max{};
    std::uint32_t of{};  // in how many rounds some task came last
    friend bool operator==(straggler const&, straggler const&) = default;
  };
  // The coordinator that leads a job with standbys, and the inputs that their journal has not
  // confirmed yet. The core does not know it.
  struct leadership {
    std::string address;
    std::uint64_t term{};
    std::uint64_t lag_entries{};
    std::uint64_t lag_bytes{};
    duration lag{};  // the age of the oldest one
    friend bool operator==(leadership const&, leadership const&) = default;
  };

  std::string job;
  incarnation coordinator{};
  std::string version;
  duration uptime{};
  std::vector<task> tasks;
  std::vector<barrier> barriers;
  std::uint64_t more_barriers{};  // open ones that are not listed
  std::optional<job_error> error;
  std::uint64_t keys{};
  std::uint64_t key_bytes{};
  std::uint64_t sessions{};
  std::uint64_t waiting_gets{};
  std::uint64_t memory_bytes{};      // that the coordinator's core owns
  std::uint64_t memory_bytes_max{};  // that it may own
  duration lateness_p99{};
  duration lateness_max{};
  std::uint64_t deadlines_answered{};
  std::uint64_t queued_items{};
  std::uint64_t waiting_pops{};
  std::uint64_t waiting_key_watches{};
  std::uint64_t leased_items{};  // taken from queues, and not finished yet
  std::uint64_t locks_held{};
  std::uint64_t waiting_locks{};       // calls that wait for a lock
  std::uint32_t stuck_tasks{};         // that are deadlocked
  std::vector<finished_round> rounds;  // the last ones, oldest first
  std::vector<straggler> stragglers;   // in those; most often last first
  std::optional<task_id> next_task{};  // the first one of the next page, if there is one
  std::optional<leadership> leader{};  // none: the job has no standbys
  std::vector<spare> spares{};         // the first ones, in the order in which they asked
  std::uint64_t spares_waiting{};      // all of them
  std::vector<relay> relays{};         // the first ones, in the order in which they connected
  std::uint64_t more_relays{};         // that are not listed
  std::optional<elastic_state> elastic{};
  std::vector<lease> leases{};  // the first ones, in the order in which the items were pushed
  job_state state{};
  std::vector<missing_task> missing{};  // the first ones that others have waited for at least 1 s
  friend bool operator==(snapshot const&, snapshot const&) = default;
};

// An epoch of an elastic job, from the view of one of its members.
struct epoch_answer {
  std::uint64_t number{};
  std::uint32_t size{};    // tasks
  task_id rank{};          // the member's number
  std::string address;     // where the coordinator sees task 0
  std::uint32_t lost{};    // members of the epoch before that are no longer there
  std::uint32_t joined{};  // new ones
  friend bool operator==(epoch_answer const&, epoch_answer const&) = default;
};

struct epoch_members_answer {
  struct member {
    std::string name;
    incarnation self{};
    std::string label;
    std::string peer;
    bool survivor{};  // of the epoch before
    friend bool operator==(member const&, member const&) = default;
  };
  std::uint64_t epoch{};
  std::vector<member> members;  // by task, from the one that was asked for
  // Where the next page begins, if there is one; none of what a client gives its caller.
  std::optional<task_id> next_task{};
  friend bool operator==(epoch_members_answer const&, epoch_members_answer const&) = default;
};

// Why an epoch is to end.
struct epoch_ends {
  enum class cause : std::uint8_t { lost, joiners, asked };
  static constexpr cause last_cause = cause::asked;
  std::uint64_t epoch{};
  cause why{};
  std::string text;
  std::uint32_t joiners{};
  friend bool operator==(epoch_ends const&, epoch_ends const&) = default;
};

// Those of the members that were connected when all of these had asked.
struct alive_answer {
  struct task {
    task_id id{};
    incarnation self{};
    friend bool operator==(task const&, task const&) = default;
  };
  std::vector<task> tasks;  // in task order
  friend bool operator==(alive_answer const&, alive_answer const&) = default;
};

// All tasks at one version, which rises with every change of any of them.
struct tasks_answer {
  std::uint64_t version{};
  std::vector<snapshot::task> tasks;  // in task order; without the times of their last heartbeat
  friend bool operator==(tasks_answer const&, tasks_answer const&) = default;
};

struct events_answer {
  // An event, or the last one of many that are alike.
  struct entry {
    std::uint64_t number{};
    duration at{};  // the uptime of the coordinator
    event what;
    wall_time time{};        // the same moment on the coordinator's wall clock
    std::uint64_t first{};   // the first event that is alike; several lines may have it in common
    std::uint64_t count{1};  // more than one: this line represents all lines with that `first`
    duration first_at{};     // when the first of them happened
    std::string tasks{};     // if it represents several: their tasks, as ranges
    std::uint32_t tasks_cut{};  // how many tasks `tasks` leaves out
    friend bool operator==(entry const&, entry const&) = default;
  };
  std::vector<entry> entries;
  std::uint64_t through{};  // all events up to this number were looked at: ask for those after it
  // How many of the requested lines are no longer kept; a lower bound for very old ones.
  std::uint64_t lost{};
  friend bool operator==(events_answer const&, events_answer const&) = default;
};

// What tasks wait for, and which are deadlocked (proto: WhyReply).
struct why_answer {
  enum class kind : std::uint8_t {
    barrier,
    count_barrier,
    join,
    leave,
    topology,
    alive,
    preemption,
    get,
    get_all,  // listed under the key that it waits for first
    pop,
    lock  // whose `missing` has the owner as its text
  };
  static constexpr kind last_kind = kind::lock;
  struct wait {
    kind what{kind::barrier};
    std::string name;        // of the barrier, the platform, the key or the queue
    std::string waiting;     // the tasks that wait, as ranges
    std::uint32_t cut{};     // how many `waiting` leaves out
    std::uint32_t others{};  // the number of callers outside the job
    // A get or a pop waits for no particular task.
    std::optional<barrier_failure> missing;
    duration age{};                     // of the oldest call
    std::optional<duration> remaining;  // until the first one ends; none: without limit
    bool stuck{};                       // one of the tasks is deadlocked
    friend bool operator==(wait const&, wait const&) = default;
  };
  std::vector<wait> waits;
  std::uint64_t more{};  // waits that are not listed
  std::string stuck;     // the deadlocked tasks, and why; empty: none
  job_state state{};
  friend bool operator==(why_answer const&, why_answer const&) = default;
};

// The stacks of processes that hold up others (proto: StacksReply).
struct stacks_answer {
  // Tasks whose processes have the same stack; or about which there is the same to say instead.
  struct group {
    std::string tasks;  // as ranges
    std::uint32_t tasks_cut{};
    std::uint32_t count{};
    duration missing_for{};  // the longest time that others had waited for one of them
    bool is_taken{};         // else `stack` says why there is none
    std::string stack;       // of the main thread, innermost frame first
    std::string rest;        // what else the first of these processes does
    friend bool operator==(group const&, group const&) = default;
  };
  std::uint64_t number{};  // zero: none were taken
  bool complete{};         // no further stack will come
  duration age{};          // since they were asked for
  std::uint32_t wanted{};  // tasks whose stacks were asked for
  std::uint32_t more{};    // further ones that would have to be asked
  std::vector<group> groups;
  friend bool operator==(stacks_answer const&, stacks_answer const&) = default;
};

}  // namespace coxswain::core
