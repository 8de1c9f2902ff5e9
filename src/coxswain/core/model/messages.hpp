#pragma once
// The inputs and outputs of the coordinator, as plain data: the arguments of each operation and its
// answers. The wire format of the same things is proto/coxswain/v1; wire/codec translates. The
// meaning of each field is written there.

#include "coxswain/base/boxed.hpp"
#include "coxswain/base/bytes.hpp"
#include "coxswain/base/error.hpp"
#include "coxswain/base/ids.hpp"
#include "coxswain/base/status.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/base/wall_time.hpp"
#include "coxswain/core/access/role.hpp"
#include "coxswain/core/model/event.hpp"
#include "coxswain/core/model/topology.hpp"

#include <boost/smart_ptr/local_shared_ptr.hpp>
#include <boost/smart_ptr/make_local_shared.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace coxswain::core {

inline constexpr std::uint32_t protocol_version = 2;

// The largest frame before a successful handshake (semantics D2).
inline constexpr std::size_t hello_frame_bytes_max = 16 * 1024;

// The largest frame of a reader, whose requests carry no values. Decoding one may take ninety times
// its size.
inline constexpr std::size_t reader_frame_bytes_max = 256 * 1024;

// The default timeout of a call (semantics D7).
inline constexpr duration timeout_default = 300s;

using session_secret = std::array<std::uint8_t, 16>;

// `words`: the request in the client's texts, before the name of its key, barrier ...

// Which task a session is a guest of, and the secret that was granted for it.
struct guest_args {
  task_id task{};
  std::string secret;
  friend bool operator==(guest_args const&, guest_args const&) = default;
};

struct hello_args {
  static constexpr std::string_view words = "hello";
  std::uint32_t version{protocol_version};
  std::string job;
  std::optional<std::uint64_t> attempt;
  std::string token;
  std::string label;
  std::optional<guest_args> acts_for{};

  friend bool operator==(hello_args const&, hello_args const&) = default;
};

struct resume_args {
  static constexpr std::string_view words = "resume";
  session_id session{};
  session_secret secret{};
  incarnation coordinator{};
  std::vector<request_id> open;

  friend bool operator==(resume_args const&, resume_args const&) = default;
};

struct bye_args {
  static constexpr std::string_view words = "bye";
  bool abandoned{};
  friend bool operator==(bye_args const&, bye_args const&) = default;
};

struct cancel_args {
  static constexpr std::string_view words = "cancel";
  request_id request{};
  friend bool operator==(cancel_args const&, cancel_args const&) = default;
};

struct ask_waiting_args {
  static constexpr std::string_view words = "ask_waiting";
  request_id request{};
  friend bool operator==(ask_waiting_args const&, ask_waiting_args const&) = default;
};

struct join_args {
  static constexpr std::string_view words = "join";
  incarnation self{};
  duration timeout{timeout_default};
  std::optional<bool> recoverable{};  // none: as config::recoverable says
  bool take_over{};
  friend bool operator==(join_args const&, join_args const&) = default;
};

struct leave_args {
  static constexpr std::string_view words = "leave";
  duration timeout{timeout_default};
  bool returning{};  // expect the next process of this task
  friend bool operator==(leave_args const&, leave_args const&) = default;
};

struct report_error_args {
  static constexpr std::string_view words = "report of an error";
  status what;
  friend bool operator==(report_error_args const&, report_error_args const&) = default;
};

// How a round combines the data of its participants (semantics D15).
enum class reduction : std::uint8_t {
  none,
  sum_int64,
  min_int64,
  max_int64,
  sum_double,
  min_double,
  max_double,
  bit_and,
  bit_or,
  all_equal,
  unknown = 255,  // a newer client's
};

struct barrier_args {
  static constexpr std::string_view words = "barrier";
  std::string name;
  duration timeout{timeout_default};
  std::vector<task_id> participants;  // empty: all tasks
  bool gather{};
  std::string data;
  duration progress_every{};  // zero: no progress is pushed
  reduction reduce{reduction::none};
  bool fail_when_lost{};
  friend bool operator==(barrier_args const&, barrier_args const&) = default;
};

struct cancel_barrier_args {
  static constexpr std::string_view words = "cancelling of barrier";
  std::string name;
  std::optional<round_number> round;
  friend bool operator==(cancel_barrier_args const&, cancel_barrier_args const&) = default;
};

struct count_barrier_args {
  static constexpr std::string_view words = "count barrier";
  std::string name;
  std::uint32_t count{};
  duration timeout{timeout_default};
  friend bool operator==(count_barrier_args const&, count_barrier_args const&) = default;
};

struct put_args {
  static constexpr std::string_view words = "put of key";
  std::string key;
  std::string value;
  bool overwrite{};
  bool ephemeral{};
  friend bool operator==(put_args const&, put_args const&) = default;
};

struct get_args {
  static constexpr std::string_view words = "get of key";
  std::string key;
  duration timeout{timeout_default};
  friend bool operator==(get_args const&, get_args const&) = default;
};

struct try_get_args {
  static constexpr std::string_view words = "try_get of key";
  std::string key;
  friend bool operator==(try_get_args const&, try_get_args const&) = default;
};

struct list_args {
  static constexpr std::string_view words = "list of directory";
  std::string directory;
  std::string after{};                     // the last key of the previous page
  std::optional<std::uint64_t> version{};  // of the first page
  friend bool operator==(list_args const&, list_args const&) = default;
};

struct remove_args {
  static constexpr std::string_view words = "removal of key";
  std::string key;
  friend bool operator==(remove_args const&, remove_args const&) = default;
};

struct remove_tree_args {
  static constexpr std::string_view words = "removal of directory";
  std::string directory;
  bool all{};
  std::string after{};  // the `last` of the previous reply
  friend bool operator==(remove_tree_args const&, remove_tree_args const&) = default;
};

struct increment_args {
  static constexpr std::string_view words = "increment of key";
  std::string key;
  std::int64_t by{};
  friend bool operator==(increment_args const&, increment_args const&) = default;
};

struct inspect_args {
  static constexpr std::string_view words = "inspect";
  task_id first_task{};
  friend bool operator==(inspect_args const&, inspect_args const&) = default;
};

struct preempt_args {
  static constexpr std::string_view words = "notice of a preemption";
  task_id task{};
  duration in{};  // time until the preemption
  friend bool operator==(preempt_args const&, preempt_args const&) = default;
};

struct frozen_args {
  static constexpr std::string_view words = "agreement on a step";
  std::uint64_t agreement{};
  std::uint64_t step{};
  friend bool operator==(frozen_args const&, frozen_args const&) = default;
};

struct reset_args {
  static constexpr std::string_view words = "reset";
  incarnation self{};
  friend bool operator==(reset_args const&, reset_args const&) = default;
};

// What a compare-and-set expects to find: nothing is stated (which is refused), no value, a
// version, or a value.
struct absent_value {
  friend bool operator==(absent_value, absent_value) = default;
};
using expected_value = std::variant<std::monostate, absent_value, std::uint64_t, std::string>;

struct compare_and_set_args {
  static constexpr std::string_view words = "compare_and_set of key";
  std::string key;
  std::string value;
  expected_value expected;
  bool ephemeral{};
  friend bool operator==(compare_and_set_args const&, compare_and_set_args const&) = default;
};

struct append_args {
  static constexpr std::string_view words = "append to key";
  std::string key;
  std::string value;
  friend bool operator==(append_args const&, append_args const&) = default;
};

struct get_all_args {
  std::vector<std::string> keys;
  duration timeout{timeout_default};
  friend bool operator==(get_all_args const&, get_all_args const&) = default;
};

struct put_all_args {
  struct entry {
    std::string key;
    std::string value;
    friend bool operator==(entry const&, entry const&) = default;
  };
  std::vector<entry> entries;
  bool overwrite{};
  friend bool operator==(put_all_args const&, put_all_args const&) = default;
};

struct count_keys_args {
  static constexpr std::string_view words = "count of directory";
  std::string directory;
  friend bool operator==(count_keys_args const&, count_keys_args const&) = default;
};

struct push_args {
  static constexpr std::string_view words = "push to queue";
  std::string queue;
  std::string value;
  friend bool operator==(push_args const&, push_args const&) = default;
};

struct pop_args {
  static constexpr std::string_view words = "pop of queue";
  std::string queue;
  duration timeout{timeout_default};
  friend bool operator==(pop_args const&, pop_args const&) = default;
};

struct lock_args {
  static constexpr std::string_view words = "lock";
  std::string name;
  duration timeout{timeout_default};
  friend bool operator==(lock_args const&, lock_args const&) = default;
};

struct try_lock_args {
  static constexpr std::string_view words = "try_lock";
  std::string name;
  friend bool operator==(try_lock_args const&, try_lock_args const&) = default;
};

struct unlock_args {
  static constexpr std::string_view words = "unlock";
  std::string name;
  std::uint64_t token{};
  friend bool operator==(unlock_args const&, unlock_args const&) = default;
};

struct watch_keys_args {
  static constexpr std::string_view words = "watch of directory";
  std::string directory;
  std::optional<std::uint64_t> after;
  duration timeout{without_limit};
  friend bool operator==(watch_keys_args const&, watch_keys_args const&) = default;
};

struct alive_args {
  static constexpr std::string_view words = "alive query";
  std::vector<task_id> tasks;  // empty: all tasks
  duration timeout{timeout_default};
  friend bool operator==(alive_args const&, alive_args const&) = default;
};

struct watch_tasks_args {
  static constexpr std::string_view words = "watch of the tasks";
  std::optional<std::uint64_t> after;  // none: answer now
  duration timeout{without_limit};
  friend bool operator==(watch_tasks_args const&, watch_tasks_args const&) = default;
};

struct watch_events_args {
  static constexpr std::string_view words = "watch of the events";
  std::optional<std::uint64_t> after;  // none: answer now, from the oldest
  severity at_least{severity::info};
  duration timeout{without_limit};
  std::uint32_t last{};  // without `after`: only so many of each severity; zero: all
  friend bool operator==(watch_events_args const&, watch_events_args const&) = default;
};

struct exchange_topology_args {
  static constexpr std::string_view words = "topology exchange";
  std::string platform;
  local_topology mine;
  duration timeout{timeout_default};
  friend bool operator==(exchange_topology_args const&, exchange_topology_args const&) = default;
};

struct report_progress_args {
  static constexpr std::string_view words = "report of progress";
  std::uint64_t step{};
  friend bool operator==(report_progress_args const&, report_progress_args const&) = default;
};

inline constexpr std::size_t grant_secret_bytes_min = 16;
inline constexpr std::size_t grant_secret_bytes_max = 64;

struct grant_args {
  static constexpr std::string_view words = "a grant";
  std::string secret;  // empty: revokes the grant
  friend bool operator==(grant_args const&, grant_args const&) = default;
};

struct why_args {
  static constexpr std::string_view words = "why";
  friend bool operator==(why_args const&, why_args const&) = default;
};

// std::monostate is a heartbeat.
using request =
    std::variant<std::monostate, hello_args, resume_args, bye_args, cancel_args, ask_waiting_args,
                 join_args, leave_args, report_error_args, barrier_args, cancel_barrier_args,
                 count_barrier_args, put_args, get_args, try_get_args, list_args, remove_args,
                 remove_tree_args, increment_args, inspect_args, preempt_args, frozen_args,
                 reset_args, compare_and_set_args, append_args, get_all_args, put_all_args,
                 count_keys_args, push_args, pop_args, watch_keys_args, alive_args,
                 watch_tasks_args, watch_events_args, exchange_topology_args, report_progress_args,
                 why_args, grant_args, lock_args, try_lock_args, unlock_args>;

struct client_message {
  request_id id{};
  std::uint64_t answered_through{};
  std::optional<task_id> task;
  request what;

  friend bool operator==(client_message const&, client_message const&) = default;
};

struct hello_answer {
  incarnation coordinator{};
  std::string version;
  session_id session{};
  session_secret secret{};
  std::uint32_t num_tasks{};
  duration heartbeat_period{};
  duration heartbeat_timeout{};
  duration reconnect_grace{};
  std::uint64_t frame_bytes_max{};
  std::uint64_t value_bytes_max{};
  std::uint64_t key_bytes_max{};
  std::uint32_t open_requests_max{};
  std::uint32_t open_requests_max_per_task{};
  role given{role::worker};
  duration coordinator_return{};  // zero: not stated
  std::optional<std::uint32_t> hosted_by_task;
  friend bool operator==(hello_answer const&, hello_answer const&) = default;
};

struct resume_answer {
  std::vector<request_id> unknown;
  friend bool operator==(resume_answer const&, resume_answer const&) = default;
};

struct join_answer {
  bool already_started{};
  friend bool operator==(join_answer const&, join_answer const&) = default;
};

struct barrier_answer {
  round_number round{};
  std::vector<bytes> data;
  friend bool operator==(barrier_answer const&, barrier_answer const&) = default;
};

struct value_answer {
  bytes value;
  std::uint64_t version{};
  friend bool operator==(value_answer const&, value_answer const&) = default;
};

struct counter_answer {
  std::int64_t value{};
  std::uint64_t version{};
  friend bool operator==(counter_answer const&, counter_answer const&) = default;
};

struct removed_answer {
  std::uint64_t count{};
  std::string last{};  // more keys follow this one; empty: all have been removed
  friend bool operator==(removed_answer const&, removed_answer const&) = default;
};

struct listing_answer {
  struct entry {
    std::string key;
    bytes value;
    std::uint64_t version{};
    friend bool operator==(entry const&, entry const&) = default;
  };
  std::vector<entry> entries;
  std::uint64_t version{};
  bool more{};  // another page follows
  friend bool operator==(listing_answer const&, listing_answer const&) = default;
};

struct stored_answer {
  std::uint64_t version{};
  friend bool operator==(stored_answer const&, stored_answer const&) = default;
};

struct count_answer {
  std::uint64_t count{};
  friend bool operator==(count_answer const&, count_answer const&) = default;
};

struct key_change {
  std::string key;
  std::uint64_t version{};
  std::optional<bytes> value;  // none: the key was removed
  friend bool operator==(key_change const&, key_change const&) = default;
};

struct key_changes_answer {
  std::vector<key_change> changes;
  std::uint64_t version{};
  friend bool operator==(key_changes_answer const&, key_changes_answer const&) = default;
};

// The last step that a task has reported.
struct task_progress {
  std::uint64_t step{};
  duration age{};  // since the step last advanced
  bool overdue{};  // a warning was logged: it exceeds the progress timeout
  friend bool operator==(task_progress const&, task_progress const&) = default;
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
    friend bool operator==(task const&, task const&) = default;
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
  std::uint64_t locks_held{};
  std::uint64_t waiting_locks{};       // calls that wait for a lock
  std::uint32_t stuck_tasks{};         // that are deadlocked
  std::vector<finished_round> rounds;  // the last ones, oldest first
  std::vector<straggler> stragglers;   // in those; most often last first
  std::optional<task_id> next_task{};  // the first one of the next page, if there is one
  friend bool operator==(snapshot const&, snapshot const&) = default;
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
  friend bool operator==(why_answer const&, why_answer const&) = default;
};

struct goodbye {
  status why;
  bool may_resume{};
  bool restarted{};
  friend bool operator==(goodbye const&, goodbye const&) = default;
};

struct barrier_progress {
  request_id request{};
  round_number round{};
  std::uint32_t arrived{};
  std::uint32_t expected{};
  std::string missing;
  std::uint32_t missing_cut{};
  friend bool operator==(barrier_progress const&, barrier_progress const&) = default;
};

// What an open request waits for, for people.
struct waiting {
  request_id request{};
  std::string text;
  friend bool operator==(waiting const&, waiting const&) = default;
};

struct probe {
  friend bool operator==(probe const&, probe const&) = default;
};

struct freeze_request {
  std::uint64_t agreement{};
  friend bool operator==(freeze_request const&, freeze_request const&) = default;
};

struct sync_point {
  std::uint64_t agreement{};
  std::uint64_t step{};
  friend bool operator==(sync_point const&, sync_point const&) = default;
};

// One answer may go to many requests, and is then encoded once. std::monostate: the outcome says
// everything; with an OK outcome in a push, it answers a heartbeat.
struct answer {
  status outcome;
  std::variant<std::monostate, hello_answer, resume_answer, join_answer, barrier_answer,
               barrier_failure, value_answer, counter_answer, removed_answer, listing_answer,
               boxed<snapshot>, goodbye, job_error, barrier_progress, probe, freeze_request,
               sync_point, stored_answer, count_answer, key_changes_answer, alive_answer,
               tasks_answer, events_answer, global_topology, why_answer, waiting>
      value;
  mutable holders held{};  // see counted_answer

  friend bool operator==(answer const&, answer const&) = default;
};

// An answer may go to many requests. Its holders belong to one thread, as the coordinator does.
using answer_ptr = boost::local_shared_ptr<answer const>;

[[nodiscard]] inline answer_ptr make_answer(answer what) {
  return boost::make_local_shared<answer const>(std::move(what));
}

// An answer with an OK outcome, constructed in place.
template <class Value>
[[nodiscard]] answer_ptr make_ok_answer(Value value) {
  struct made {
    explicit made(Value&& v) : what{{}, std::move(v)} {}
    answer what;
  };
  auto one = boost::make_local_shared<made const>(std::move(value));
  auto const* const what = &one->what;
  return {std::move(one), what};
}

// A message for a connection. Pushes and handshake answers have `in_reply_to` zero. After a
// goodbye, close the connection once everything before it was written.
struct outgoing {
  connection_id to{};
  request_id in_reply_to{};
  answer_ptr what;
};

}  // namespace coxswain::core
