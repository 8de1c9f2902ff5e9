#pragma once
// The inputs and outputs of the coordinator, as plain data: the arguments of each operation and its
// answers. The wire format of the same things is proto/coxswain/v1; wire/codec translates. The
// meaning of each field is written there.

#include "coxswain/base/boxed.hpp"
#include "coxswain/base/bytes.hpp"
#include "coxswain/base/error.hpp"
#include "coxswain/base/ids.hpp"
#include "coxswain/base/recycling_allocator.hpp"
#include "coxswain/base/status.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/base/wall_time.hpp"
#include "coxswain/core/access/role.hpp"
#include "coxswain/core/model/event.hpp"
#include "coxswain/core/model/results.hpp"
#include "coxswain/core/model/topology.hpp"

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

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

// The largest frame before a successful handshake (§2.1).
inline constexpr std::size_t hello_frame_bytes_max = 16 * 1024;

// The largest frame of a reader, whose requests carry no values. Decoding one may take ninety times
// its size.
inline constexpr std::size_t reader_frame_bytes_max = 256 * 1024;

using session_secret = std::array<std::uint8_t, 16>;

// Which task a session is a guest of, and the secret that was granted for it.
struct guest_args {
  task_id task{};
  std::string secret;
  friend bool operator==(guest_args const&, guest_args const&) = default;
};

struct hello_args {
  std::uint32_t version{protocol_version};
  std::string job;
  std::optional<std::uint64_t> attempt;
  std::string token;
  std::string label;
  std::optional<guest_args> acts_for{};
  bool relay{};
  std::optional<std::uint32_t> num_tasks{};
  std::optional<task_id> supervises{};  // it reports how the process of this task ends
  bool takes_stacks{};                  // of the processes of its tasks, when it is asked

  friend bool operator==(hello_args const&, hello_args const&) = default;
};

struct resume_args {
  session_id session{};
  session_secret secret{};
  incarnation coordinator{};
  std::vector<request_id> open;
  std::uint64_t term_seen{};     // zero: none
  std::uint32_t resume_count{};  // zero: not counted

  friend bool operator==(resume_args const&, resume_args const&) = default;
};

struct bye_args {
  bool abandoned{};
  friend bool operator==(bye_args const&, bye_args const&) = default;
};

struct cancel_args {
  request_id request{};
  friend bool operator==(cancel_args const&, cancel_args const&) = default;
};

struct ask_waiting_args {
  request_id request{};
  friend bool operator==(ask_waiting_args const&, ask_waiting_args const&) = default;
};

struct join_args {
  incarnation self{};
  duration timeout{timeout_default};
  std::optional<bool> recoverable{};  // none: as config::recoverable says
  bool take_over{};
  bool any{};  // as any task: the coordinator assigns a number
  std::string member{};
  std::vector<std::string> placement{};
  bool with_hello{};  // sent before the reply to the first Hello of this incarnation
  bool is_jax{};      // the task of an unmodified JAX program
  friend bool operator==(join_args const&, join_args const&) = default;
};

struct leave_args {
  duration timeout{timeout_default};
  bool returning{};  // expect the next process of this task
  friend bool operator==(leave_args const&, leave_args const&) = default;
};

struct next_epoch_args {
  duration timeout{timeout_default};
  std::uint64_t after{};  // the epoch that the caller was given
  bool shrink_only{};
  friend bool operator==(next_epoch_args const&, next_epoch_args const&) = default;
};

struct epoch_members_args {
  task_id first_task{};
  friend bool operator==(epoch_members_args const&, epoch_members_args const&) = default;
};

struct resize_args {
  std::uint32_t num_tasks{};
  friend bool operator==(resize_args const&, resize_args const&) = default;
};

// How a job ends on request: at once, or when all tasks have left.
enum class job_end : std::uint8_t { stop, drain, unknown = 255 };

struct end_job_args {
  job_end how{};
  std::string reason;
  friend bool operator==(end_job_args const&, end_job_args const&) = default;
};

struct report_error_args {
  status what;
  friend bool operator==(report_error_args const&, report_error_args const&) = default;
};

// How a round combines the data of its participants (§6.3).
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
  std::string name;
  duration timeout{timeout_default};
  std::vector<task_id> participants;  // empty: all tasks
  bool gather{};
  std::string data;
  duration progress_every{};  // zero: no progress is pushed
  reduction reduce{reduction::none};
  bool fail_when_lost{};
  bool of_jax_tasks{};  // the participants are the tasks of JAX programs; none are listed
  friend bool operator==(barrier_args const&, barrier_args const&) = default;
};

struct cancel_barrier_args {
  std::string name;
  std::optional<round_number> round;
  friend bool operator==(cancel_barrier_args const&, cancel_barrier_args const&) = default;
};

struct count_barrier_args {
  std::string name;
  std::uint32_t count{};
  duration timeout{timeout_default};
  friend bool operator==(count_barrier_args const&, count_barrier_args const&) = default;
};

struct put_args {
  std::string key;
  std::string value;
  bool overwrite{};
  bool ephemeral{};
  bool replaces_predecessor{};  // a value of an earlier incarnation of the task, whatever it is
  friend bool operator==(put_args const&, put_args const&) = default;
};

struct get_args {
  std::string key;
  duration timeout{timeout_default};
  friend bool operator==(get_args const&, get_args const&) = default;
};

struct try_get_args {
  std::string key;
  friend bool operator==(try_get_args const&, try_get_args const&) = default;
};

struct list_args {
  std::string directory;
  std::string after{};                     // the last key of the previous page
  std::optional<std::uint64_t> version{};  // of the first page
  friend bool operator==(list_args const&, list_args const&) = default;
};

struct remove_args {
  std::string key;
  friend bool operator==(remove_args const&, remove_args const&) = default;
};

struct remove_tree_args {
  std::string directory;
  bool all{};
  std::string after{};  // the `last` of the previous reply
  friend bool operator==(remove_tree_args const&, remove_tree_args const&) = default;
};

struct increment_args {
  std::string key;
  std::int64_t by{};
  friend bool operator==(increment_args const&, increment_args const&) = default;
};

struct inspect_args {
  task_id first_task{};
  friend bool operator==(inspect_args const&, inspect_args const&) = default;
};

struct preempt_args {
  task_id task{};
  duration in{};  // time until the preemption
  friend bool operator==(preempt_args const&, preempt_args const&) = default;
};

struct frozen_args {
  std::uint64_t agreement{};
  std::uint64_t step{};
  bool abstains{};  // the task agrees on a step elsewhere; it has none here
  friend bool operator==(frozen_args const&, frozen_args const&) = default;
};

struct reset_args {
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
  std::string key;
  std::string value;
  expected_value expected;
  bool ephemeral{};
  friend bool operator==(compare_and_set_args const&, compare_and_set_args const&) = default;
};

struct append_args {
  std::string key;
  std::string value;
  friend bool operator==(append_args const&, append_args const&) = default;
};

struct get_all_args {
  std::vector<std::string> keys;
  duration timeout{timeout_default};
  bool without_values{};  // the caller only wants to know that they exist
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
  std::string directory;
  bool of_queue{};  // `directory` names a queue, whose items are counted
  friend bool operator==(count_keys_args const&, count_keys_args const&) = default;
};

struct push_args {
  std::string queue;
  std::string value;
  friend bool operator==(push_args const&, push_args const&) = default;
};

struct pop_args {
  std::string queue;
  duration timeout{timeout_default};
  friend bool operator==(pop_args const&, pop_args const&) = default;
};

struct take_args {
  std::string queue;
  duration timeout{timeout_default};
  duration lease{lease_default};  // without_limit: until the session ends
  friend bool operator==(take_args const&, take_args const&) = default;
};

enum class lease_change : std::uint8_t { finish, release, extend, unknown = 255 };

struct update_lease_args {
  std::uint64_t item{};
  std::uint32_t redeliveries{};
  lease_change change{};
  duration lease{lease_default};  // of extend: from now on
  friend bool operator==(update_lease_args const&, update_lease_args const&) = default;
};

struct lock_args {
  std::string name;
  duration timeout{timeout_default};
  friend bool operator==(lock_args const&, lock_args const&) = default;
};

struct try_lock_args {
  std::string name;
  friend bool operator==(try_lock_args const&, try_lock_args const&) = default;
};

struct unlock_args {
  std::string name;
  std::uint64_t token{};
  friend bool operator==(unlock_args const&, unlock_args const&) = default;
};

struct watch_keys_args {
  std::string directory;
  std::optional<std::uint64_t> after;
  duration timeout{without_limit};
  friend bool operator==(watch_keys_args const&, watch_keys_args const&) = default;
};

struct alive_args {
  std::vector<task_id> tasks;  // empty: all tasks
  duration timeout{timeout_default};
  friend bool operator==(alive_args const&, alive_args const&) = default;
};

struct watch_tasks_args {
  std::optional<std::uint64_t> after;  // none: answer now
  duration timeout{without_limit};
  friend bool operator==(watch_tasks_args const&, watch_tasks_args const&) = default;
};

struct watch_events_args {
  std::optional<std::uint64_t> after;  // none: answer now, from the oldest
  severity at_least{severity::info};
  duration timeout{without_limit};
  std::uint32_t last{};  // without `after`: only so many of each severity; zero: all
  friend bool operator==(watch_events_args const&, watch_events_args const&) = default;
};

struct exchange_topology_args {
  std::string platform;
  local_topology mine;
  duration timeout{timeout_default};
  friend bool operator==(exchange_topology_args const&, exchange_topology_args const&) = default;
};

struct report_progress_args {
  std::uint64_t step{};
  friend bool operator==(report_progress_args const&, report_progress_args const&) = default;
};

inline constexpr std::size_t grant_secret_bytes_min = 16;
inline constexpr std::size_t grant_secret_bytes_max = 64;

struct grant_args {
  std::string secret;  // empty: revokes the grant
  friend bool operator==(grant_args const&, grant_args const&) = default;
};

struct why_args {
  friend bool operator==(why_args const&, why_args const&) = default;
};

// Take the stacks of the processes that hold up others; or, with the number of an earlier request,
// look at the answer to that.
struct stacks_args {
  std::uint64_t number{};  // zero: take them
  friend bool operator==(stacks_args const&, stacks_args const&) = default;
};

// The stack of the process of a task, as was wanted.
struct report_stack_args {
  std::uint64_t number{};
  task_id task{};
  std::string stack;  // of the main thread, innermost frame first; equal ones become one group
  std::string rest;   // what else is known: other threads, the kernel's view
  friend bool operator==(report_stack_args const&, report_stack_args const&) = default;
};

// std::monostate is a heartbeat.
using request = std::variant<
    std::monostate, hello_args, resume_args, bye_args, cancel_args, ask_waiting_args, join_args,
    leave_args, report_error_args, barrier_args, cancel_barrier_args, count_barrier_args, put_args,
    get_args, try_get_args, list_args, remove_args, remove_tree_args, increment_args, inspect_args,
    preempt_args, frozen_args, reset_args, compare_and_set_args, append_args, get_all_args,
    put_all_args, count_keys_args, push_args, pop_args, watch_keys_args, alive_args,
    watch_tasks_args, watch_events_args, exchange_topology_args, report_progress_args, why_args,
    grant_args, lock_args, try_lock_args, unlock_args, next_epoch_args, epoch_members_args,
    resize_args, take_args, update_lease_args, end_job_args, stacks_args, report_stack_args>;

struct client_message {
  request_id id{};
  std::uint64_t answered_through{};
  std::optional<task_id> task;
  request what;
  std::uint64_t epoch{};  // that its caller was given; zero: none

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
  duration restart_grace{};       // zero: a restarted coordinator restores no sessions
  std::optional<std::uint32_t> hosted_by_task;
  std::uint64_t term{};  // zero: not stated
  bool relayed{};
  duration suspect_after{};  // zero: not stated
  friend bool operator==(hello_answer const&, hello_answer const&) = default;
};

struct resume_answer {
  std::vector<request_id> unknown;
  std::uint64_t term{};      // zero: not stated
  duration suspect_after{};  // likewise
  friend bool operator==(resume_answer const&, resume_answer const&) = default;
};

struct join_answer {
  bool already_started{};
  std::optional<task_id> task{};        // if the Join asked for any
  std::optional<epoch_answer> epoch{};  // of an elastic job
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
  std::optional<std::uint32_t> redeliveries{};  // of an item that was taken
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
  bool is_volatile{};
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

struct goodbye {
  status why;
  bool may_resume{};
  bool restarted{};
  std::string address{};  // where the coordinator may be; empty: unknown
  friend bool operator==(goodbye const&, goodbye const&) = default;
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
  duration in{};  // time until the first preemption
  friend bool operator==(freeze_request const&, freeze_request const&) = default;
};

struct sync_point {
  std::uint64_t agreement{};
  std::uint64_t step{};
  friend bool operator==(sync_point const&, sync_point const&) = default;
};

// To whoever takes stacks: those of these processes are wanted, each in a report_stack_args.
struct stacks_wanted {
  struct process {
    task_id task{};
    std::string name;  // that of its client, usually "host:pid"; to a relay that of its peer
    friend bool operator==(process const&, process const&) = default;
  };
  std::uint64_t number{};
  std::vector<process> processes;
  friend bool operator==(stacks_wanted const&, stacks_wanted const&) = default;
};

// One answer may go to many requests, and is then encoded once. std::monostate: the outcome says
// everything; with an OK outcome in a push, it answers a heartbeat.
struct answer {
  status outcome;
  std::variant<std::monostate, boxed<hello_answer>, resume_answer, join_answer, barrier_answer,
               barrier_failure, value_answer, counter_answer, removed_answer, listing_answer,
               boxed<snapshot>, goodbye, job_error, barrier_progress, probe, freeze_request,
               sync_point, stored_answer, count_answer, key_changes_answer, alive_answer,
               tasks_answer, events_answer, global_topology, why_answer, waiting, epoch_answer,
               epoch_members_answer, epoch_ends, stacks_wanted, stacks_answer>
      value;
  mutable holders held{};  // see counted_answer

  friend bool operator==(answer const&, answer const&) = default;
};

// An answer may go to many requests. All its references belong to one thread, as the coordinator
// does.
struct shared_answer final
    : answer,
      boost::intrusive_ref_counter<shared_answer, boost::thread_unsafe_counter> {
  template <class... Parts>
  explicit shared_answer(Parts&&... parts) : answer{std::forward<Parts>(parts)...} {}

  static void* operator new(std::size_t) {
    return recycling_allocator<shared_answer>{}.allocate(1);
  }
  static void operator delete(void* at) noexcept {
    recycling_allocator<shared_answer>{}.deallocate(static_cast<shared_answer*>(at), 1);
  }
};
using answer_ptr = boost::intrusive_ptr<shared_answer const>;

[[nodiscard]] inline answer_ptr make_answer(answer what) {
  return new shared_answer{std::move(what)};
}

// An answer with an OK outcome, constructed in place.
template <class Value>
[[nodiscard]] answer_ptr make_ok_answer(Value value) {
  return new shared_answer{status{}, std::move(value)};
}

// A message for a connection. Pushes and handshake answers have `in_reply_to` zero. After a
// goodbye, close the connection once everything before it was written.
struct outgoing {
  connection_id to{};
  request_id in_reply_to{};
  answer_ptr what;
};

}  // namespace coxswain::core
