#pragma once
// PUBLIC. The client as coroutines: a process's membership in a job, its barriers and its keys.
// Not here: the session's rules (agent), sockets (connection), use from several threads
// (blocking_client).
//
//   asio::awaitable<void> work() {
//     client c = co_await client::connect(client_options::from_environment());
//     co_await c.join();
//     co_await c.put("address/3", "10.0.0.7:5000");
//     std::string first = co_await c.get("address/0");
//     co_await c.barrier("epoch-1", 60s);
//     co_await c.leave();
//   }
//
// Errors are thrown as coxswain::error. Those of every call: UNAVAILABLE (the coordinator is lost
// for good; the text says whether the call may have taken effect), RESOURCE_EXHAUSTED (a limit;
// the text names it), PERMISSION_DENIED (the token's role does not suffice), FAILED_PRECONDITION
// (not joined; or this client has left), ABORTED (a newer incarnation of the task has taken its
// place), CANCELLED (the client was destroyed meanwhile), DEADLINE_EXCEEDED. Further ones stand
// beside the call.
//
// Connection loss: a call that is open goes on. The client reconnects by itself and resumes its
// session, each call takes effect exactly once, and deadlines keep running. Calls made meanwhile
// wait for the connection, up to 64 MiB of them.
//
// Deadlines are kept by the coordinator and answered within milliseconds. If it cannot answer, the
// client ends the call by itself, 1 s later while it is connected, exactly in time while it is
// not. Calls without a `timeout` argument have one of 300 s. A timeout of zero or less asks for an
// answer now; `without_limit`, and anything above 292 years (hours::max()), waits for ever.
//
// Cancellation: each call honours the cancellation slot of its coroutine for every kind of
// cancellation: it is taken back at the coordinator, other calls notice nothing, and the awaiting
// coroutine gets boost::system::system_error(operation_aborted). So `c.get(k) || timer.async_wait(
// use_awaitable)` works. A call that was cancelled may nevertheless have taken effect.
//
// Threads: none of its own (but Asio has one that looks up host names), no locks. All work is done
// on the executor of the coroutine that awaited `connect`, which must run on one thread (or be a
// strand), and every function must be called there. It must not be kept busy for longer than the
// heartbeat timeout, or the task fails: programs that compute or block for long use
// blocking_client. Arguments are copied before a function returns, so views need not outlive the
// call expression. A call begins when its awaitable is awaited. Each function may be called again
// while earlier calls are open. The client may outlive its io_context, but not be used then.

#include "coxswain/base/error.hpp"
#include "coxswain/base/ids.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/client/key_watch.hpp"
#include "coxswain/client/keys.hpp"
#include "coxswain/client/options.hpp"
#include "coxswain/core/model/messages.hpp"
#include "coxswain/net/asio.hpp"

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain {

class connection;

// What becomes of the numbers that the tasks bring.
enum class reduction : std::uint8_t { sum, min, max };

// What becomes of the bits that the tasks bring: set if all, or if any of them has it set.
enum class bitwise : std::uint8_t { all, any };

// How to join.
struct join_options {
  join_options() = default;  // no aggregate: GCC 12, see tools/tidy.py
  explicit join_options(time_limit time) : timeout{time} {}

  time_limit timeout{core::timeout_default};

  // Take the place of another incarnation that holds the task, at once and without asking whether
  // it lives. Both must be recoverable.
  bool take_over{};
};

struct leave_options {
  leave_options() = default;  // no aggregate: GCC 12, see tools/tidy.py
  explicit leave_options(time_limit time) : timeout{time} {}

  // How long the shutdown barrier may wait for the other tasks, if there is one. Zero or negative:
  // leave alone.
  time_limit timeout{core::timeout_default};

  // The task has not finished: its next process is to join within the coordinator's return_timeout
  // (10 min). It leaves at once and alone, and must be recoverable.
  bool returning{};
};

// How to wait at a barrier, of whatever kind.
struct barrier_options {
  barrier_options() = default;  // no aggregate: GCC 12, see tools/tidy.py
  explicit barrier_options(time_limit time, std::span<task_id const> who = {})
      : timeout{time}, among{who.begin(), who.end()} {}

  time_limit timeout{core::timeout_default};

  // The tasks that take part, the caller among them; empty: all. The same for all of a round.
  std::vector<task_id> among;

  // Fail as soon as a participant fails, even a recoverable one, instead of waiting for it to come
  // back. The same for all callers of a round.
  bool fail_when_lost{};

  // Told who is still missing while the caller waits, every `progress_every`, which counts as 100
  // ms if it is less. On the client's executor; must not throw. Not called any more once the call
  // has ended.
  std::function<void(core::barrier_progress const&)> on_progress;
  time_limit progress_every{1s};
};

class client {
 public:
  // No session: each call throws FAILED_PRECONDITION, as those of a client that was moved from do.
  client() = default;

  // Opens a session, trying again while the coordinator is not there yet. DEADLINE_EXCEEDED: not
  // within `connect_timeout`; the text says how often it was tried and what went wrong last.
  // FAILED_PRECONDITION (another job, protocol, attempt or number of tasks; one side speaks TLS and
  // the other does not), UNAUTHENTICATED (the token; a certificate that either side refuses): at
  // once. INVALID_ARGUMENT: the address is malformed. And what net::tls_context says of the files
  // of `options.tls`.
  static asio::awaitable<client> connect(client_options options);

  // A client that has not left says that it is gone: its task fails at once, for everybody. Calls
  // that are open end with CANCELLED. Does not block: their completions are posted to the executors
  // of their callers, and run as soon as those do. An io_context that is stopped before leaves them
  // unfinished; `close` waits for them.
  ~client();
  client(client&&) noexcept;
  client& operator=(client&&) noexcept;

  // Joins the job as the options' task, and waits until all tasks have. True if the job had
  // started before. DEADLINE_EXCEEDED (some are missing), ALREADY_EXISTS (a newer incarnation of
  // the task joined meanwhile), ABORTED (another one holds the task and lives; this one has failed:
  // see `reset`; or the job has failed), INVALID_ARGUMENT (no such task, or it may not take over),
  // FAILED_PRECONDITION (the client is an observer).
  asio::awaitable<bool> join(time_limit timeout = core::timeout_default);
  asio::awaitable<bool> join(join_options options);

  // Clears the error of this recoverable task, which has failed, so that `join` may be called
  // again. FAILED_PRECONDITION: it has not failed, or the job has. ABORTED: another incarnation of
  // it has failed.
  asio::awaitable<void> reset();

  // Waits until all participants have called; gives the number of the round. The time runs from
  // the coordinator's receipt, and the earliest deadline of the participants ends the round for
  // all. DEADLINE_EXCEEDED (what() begins "DEADLINE_EXCEEDED: Barrier timed out."), INTERNAL (a
  // participant died, failed or left), CANCELLED (cancel_barrier), INVALID_ARGUMENT (participants
  // differ), FAILED_PRECONDITION (the job has failed; or this task waits at `name` already). The
  // error's details() say who is missing.
  asio::awaitable<round_number> barrier(std::string_view name, barrier_options options);
  asio::awaitable<round_number> barrier(std::string_view name,
                                        time_limit timeout = core::timeout_default,
                                        std::span<task_id const> among = {}) {
    return barrier(name, barrier_options{timeout, among});
  }

  // A barrier to which everybody brings `data`; gives the data of all, in task order. Errors of
  // `barrier`; RESOURCE_EXHAUSTED: all the data together passes the coordinator's limit.
  asio::awaitable<std::vector<std::string>> all_gather(std::string_view name, std::string_view data,
                                                       barrier_options options);
  asio::awaitable<std::vector<std::string>> all_gather(std::string_view name, std::string_view data,
                                                       time_limit timeout = core::timeout_default,
                                                       std::span<task_id const> among = {}) {
    return all_gather(name, data, barrier_options{timeout, among});
  }

  // A barrier to which everybody brings a number; gives all their sum, least or greatest. Doubles
  // are added in task order, so that each run gives the same. Errors of `barrier`; OUT_OF_RANGE:
  // the sum does not fit 64 bits.
  asio::awaitable<std::int64_t> reduce(std::string_view name, std::int64_t operand, reduction how,
                                       barrier_options options);
  asio::awaitable<double> reduce(std::string_view name, double operand, reduction how,
                                 barrier_options options);
  template <std::integral Whole>
  asio::awaitable<std::int64_t> reduce(std::string_view name, Whole operand, reduction how,
                                       barrier_options options) {
    return reduce(name, std::int64_t{operand}, how, std::move(options));
  }
  template <class Number>
  auto reduce(std::string_view name, Number operand, reduction how,
              time_limit timeout = core::timeout_default, std::span<task_id const> among = {}) {
    return reduce(name, operand, how, barrier_options{timeout, among});
  }

  // The same bit by bit, over bytes. INVALID_ARGUMENT: the first caller brought another length.
  asio::awaitable<std::string> reduce_bits(std::string_view name, std::string_view operand,
                                           bitwise how, barrier_options options);
  asio::awaitable<std::string> reduce_bits(std::string_view name, std::string_view operand,
                                           bitwise how, time_limit timeout = core::timeout_default,
                                           std::span<task_id const> among = {}) {
    return reduce_bits(name, operand, how, barrier_options{timeout, among});
  }

  // A barrier that passes if everybody brings the same bytes. Errors of `barrier`;
  // FAILED_PRECONDITION: they differ; the text names two tasks that do.
  asio::awaitable<round_number> all_equal(std::string_view name, std::string_view data,
                                          barrier_options options);
  asio::awaitable<round_number> all_equal(std::string_view name, std::string_view data,
                                          time_limit timeout = core::timeout_default,
                                          std::span<task_id const> among = {}) {
    return all_equal(name, data, barrier_options{timeout, among});
  }

  // Ends the open round of a barrier for all with CANCELLED; with a number, only if it is that
  // round. FAILED_PRECONDITION: no such round is open. PERMISSION_DENIED: not a participant.
  asio::awaitable<void> cancel_barrier(std::string_view name,
                                       std::optional<round_number> round = {});

  // Waits until `count` such calls are open, of tasks or observers; the names are apart from those
  // of `barrier`. INVALID_ARGUMENT: others wait with another count.
  asio::awaitable<round_number> count_barrier(std::string_view name, std::uint32_t count,
                                              time_limit timeout = core::timeout_default);

  // Which of these tasks are there, the caller among them; without any: of all tasks. Waits until
  // each of them that is connected has asked for the same set, and gives all the same list, in task
  // order. A suspect task is waited for; one that fails, leaves or is replaced no longer.
  // INVALID_ARGUMENT (the caller is not in the set), DEADLINE_EXCEEDED (details() say who did not
  // ask; the others wait on), INTERNAL (the job has failed meanwhile), FAILED_PRECONDITION
  // (before).
  asio::awaitable<std::vector<core::alive_answer::task>> alive_tasks(
      std::span<task_id const> tasks = {}, time_limit timeout = core::timeout_default);

  // All tasks as they are now; with a version that was given before, as they are when they differ
  // from it, or when `timeout` is over. Goes on when the job has failed. INVALID_ARGUMENT: the
  // version is not of this coordinator. process_monitor does this in a loop.
  asio::awaitable<core::tasks_answer> watch_tasks(std::optional<std::uint64_t> after = {},
                                                  time_limit timeout = without_limit);

  // What the coordinator has logged, from the oldest that it keeps; with a number that was given
  // before as `through`, what came after it, as soon as there is something or `timeout` is over.
  // Without a number, `last` asks for only so many of each severity; zero means all.
  // INVALID_ARGUMENT: the number is not of this coordinator. event_watch does this in a loop.
  asio::awaitable<core::events_answer> watch_events(std::optional<std::uint64_t> after = {},
                                                    core::severity at_least = core::severity::info,
                                                    time_limit timeout = without_limit,
                                                    std::uint32_t last = 0);

  // Stores a value and wakes those who wait for the key; gives the key's new version.
  // ALREADY_EXISTS: the key has a value and the mode is `create`. Who overwrites a key decides anew
  // whether it lives as long as his task.
  asio::awaitable<std::uint64_t> put(std::string_view key, std::string_view value,
                                     put_mode mode = put_mode::create,
                                     key_lifetime lifetime = key_lifetime::persistent);

  // Stores all values (of keys and values), or none of them; gives the version of the last.
  // ALREADY_EXISTS: a key has a value and the mode is `create`. INVALID_ARGUMENT: a key is there
  // twice.
  asio::awaitable<std::uint64_t> put_all(std::vector<std::pair<std::string, std::string>> entries,
                                         put_mode mode = put_mode::create);

  // Stores a value if the key is as expected; else gives what it has, so that the caller can try
  // again. That the key is not as expected is no exception.
  asio::awaitable<swap_result> compare_and_set(std::string_view key, std::string_view value,
                                               expectation expected,
                                               key_lifetime lifetime = key_lifetime::persistent);

  // Adds bytes to the end of a value, empty if the key is missing; gives the key's new version.
  asio::awaitable<std::uint64_t> append(std::string_view key, std::string_view more);

  // Waits until the key has a value. CANCELLED: the job failed or the coordinator stops.
  asio::awaitable<std::string> get(std::string_view key,
                                   time_limit timeout = core::timeout_default);

  // Waits until all the keys have values at the same time; gives them in this order. The text of
  // DEADLINE_EXCEEDED names the missing ones. CANCELLED: as `get`.
  asio::awaitable<std::vector<key_value>> get_all(std::vector<std::string> keys,
                                                  time_limit timeout = core::timeout_default);

  // The key's value now, if it has one.
  asio::awaitable<std::optional<std::string>> try_get(std::string_view key);

  // All keys below a directory, at any depth, in byte order; "" is the root. A snapshot, although
  // it takes several requests if there are many. OUT_OF_RANGE: eight times, keys changed faster
  // than they could be listed.
  asio::awaitable<std::vector<key_value>> list(std::string_view directory);

  // How many keys `list` would give.
  asio::awaitable<std::uint64_t> count(std::string_view directory = {});

  // The changes below a directory and of the key equal to it, from now on or after a version that
  // this coordinator gave: see key_watch.
  asio::awaitable<key_watch> watch(std::string_view directory,
                                   std::optional<std::uint64_t> after = {});

  // Removes the key and nothing below it; gives whether it was there.
  asio::awaitable<bool> remove(std::string_view key);

  // Removes everything below a directory, and the key equal to it; gives the number of removed
  // keys. More than 1,000 keys take several requests: see SEMANTICS.md, D18.10. INVALID_ARGUMENT:
  // the directory is the root and the mode is not `all`.
  asio::awaitable<std::uint64_t> remove_tree(std::string_view directory,
                                             remove_mode mode = remove_mode::tree);

  // Adds to a decimal counter, zero if the key is missing; gives the sum. FAILED_PRECONDITION (the
  // value is no decimal 64-bit integer), OUT_OF_RANGE (the sum is none).
  asio::awaitable<std::int64_t> increment(std::string_view key, std::int64_t by = 1);

  // Adds an item at the end of a queue; gives the number of items that wait in it then. Queues have
  // names of their own and need not be made.
  asio::awaitable<std::uint64_t> push(std::string_view queue, std::string_view value);

  // Takes the first item of a queue, and waits for one if there is none. An item goes to exactly
  // one caller. If this client dies before it has said more to the coordinator, or the call is
  // cancelled, the item goes back to its place; so a program that dies loses none, and another may
  // get one that was worked on. Better than to race a `pop` with a timer is a timeout: who drops
  // its result has taken the item. CANCELLED: as `get`.
  asio::awaitable<queue_item> pop(std::string_view queue,
                                  time_limit timeout = core::timeout_default);

  // Waits until a lock is free and takes it; gives its token, which is above those of all locks
  // before. The session owns the lock until `unlock`, or until it ends: what the lock protects
  // should refuse tokens below the highest that it has seen. Not reentrant. DEADLINE_EXCEEDED (the
  // text says who holds it), CANCELLED: as `get`.
  asio::awaitable<std::uint64_t> lock(std::string_view name,
                                      time_limit timeout = core::timeout_default);

  // The same without waiting; nothing if the lock is held.
  asio::awaitable<std::optional<std::uint64_t>> try_lock(std::string_view name);

  // Frees a lock for whoever has waited longest. FAILED_PRECONDITION: it is not held with this
  // token. PERMISSION_DENIED: another session holds it.
  asio::awaitable<void> unlock(std::string_view name, std::uint64_t token);

  // Completes when the job fails, or this client has lost the coordinator for good (the cause is
  // then UNAVAILABLE and names no task); at once if that has happened. Several may wait. CANCELLED:
  // the client left or was destroyed.
  asio::awaitable<job_error> failure();

  // Declares this task failed; everybody learns it, unless it is recoverable. INVALID_ARGUMENT: the
  // code is OK.
  asio::awaitable<void> report_error(errc code, std::string_view message);

  // Says that a task, or this one, will be taken away in so long: all tasks then agree on a step at
  // which they stop together. FAILED_PRECONDITION: the task has gone already, or the job has
  // failed; INVALID_ARGUMENT: no such task, or none given by an observer.
  asio::awaitable<void> preempt(time_limit in = duration{}, std::optional<task_id> who = {});

  // To be called by every task with each step that it has reached, rising. True once for each
  // agreement after `preempt`: at the first step at or past the one that was agreed on, where all
  // tasks save their state. Waits only while an agreement is being made, at most the coordinator's
  // preemption_timeout; if nothing comes of it, the answer is false. After this client has left it
  // is false. UNAVAILABLE: the coordinator was lost.
  asio::awaitable<bool> reached_sync_point(std::uint64_t step);

  // Says that this task has reached a step of its work: shown to all who look at the job, and with
  // the coordinator's progress_timeout, a task that reports none beyond it for so long is named, or
  // fails. The time during which one of its calls waits for others does not count (a barrier, a
  // get, a pop and the like; not a watch of keys, tasks or events). A step that is
  // not above the last one is shown, but is no progress. What is said to `reached_sync_point` is
  // not reported by itself, so that a step costs no message unless the program wants it.
  asio::awaitable<void> report_progress(std::uint64_t step);

  // Brings this task's devices and waits until all tasks have brought theirs for the same platform;
  // gives those of all, numbered, which is the same for everybody. Once complete, the answer to
  // who asks again comes at once. local_topology_of_this_host() is a beginning of `mine`. INTERNAL
  // (a task failed or left meanwhile; or this one has brought something else before),
  // INVALID_ARGUMENT (some tasks state a partition index and some do not), CANCELLED (this task
  // asked again), FAILED_PRECONDITION (the job has failed). DEADLINE_EXCEEDED: the error's
  // details() say who is missing.
  asio::awaitable<core::global_topology> exchange_topology(
      std::string_view platform, core::local_topology mine,
      time_limit timeout = core::timeout_default);

  // Leaves the job and ends the session. Waits at the shutdown barrier until all tasks leave,
  // except recoverable ones that have failed. If all tasks are recoverable there is no shutdown
  // barrier, unless the coordinator has leave_together: a task leaves at once.
  //
  // A task that leaves has finished, unless the options say `returning`: barriers that need it fail
  // at once, without a job error; its next process may still join before the job is done. After a
  // leave to return, barriers wait for the next process or their deadline, except those with
  // fail_when_lost. Calls of this task that still wait end with CANCELLED.
  //
  // INTERNAL (a task died or did not come; details() say which), FAILED_PRECONDITION (the job had
  // failed: the task has left alone; or this task has failed). Whatever comes of it, the client is
  // at its end then; unless the call was cancelled or gave INVALID_ARGUMENT (`returning`, but not
  // recoverable), after which the client goes on. An observer, or a task that never joined, just
  // ends its session.
  asio::awaitable<void> leave(time_limit timeout = core::timeout_default);
  asio::awaitable<void> leave(leave_options options);

  // Ends the session as the destructor does, and waits until the open calls of coroutines on this
  // client's executor have ended with CANCELLED. The client has no session then. No errors.
  asio::awaitable<void> close();

  // What the whole job is doing.
  asio::awaitable<core::snapshot> inspect();

  // What everybody waits for, and which tasks can never go on because they wait for each other, or
  // for something that nobody is left to do.
  asio::awaitable<core::why_answer> why();

  // The following say what is known without asking. No errors.
  [[nodiscard]] std::uint64_t reconnects() const;  // how often the session was resumed
  [[nodiscard]] std::uint32_t num_tasks() const;
  [[nodiscard]] core::role role() const;  // what the token gives leave to
  [[nodiscard]] std::optional<task_id> task() const;
  [[nodiscard]] coxswain::incarnation incarnation() const;

 private:
  friend std::shared_ptr<connection> const& connection_of(client const& of);

  explicit client(std::shared_ptr<connection> c);
  static asio::awaitable<client> open(client_options options);

  std::shared_ptr<connection> connection_;
};

}  // namespace coxswain
