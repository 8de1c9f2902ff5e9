#pragma once
// PUBLIC. The client as coroutines: a process's membership in a job, its barriers and its keys.
// Not here: the session's rules (agent), sockets (connection), use from several threads
// (blocking_client).
//
//   asio::awaitable<void> work() {
//     client c = co_await client::connect_and_join(client_options::from_environment());
//     co_await c.put("address/3", "10.0.0.7:5000");
//     std::string first = co_await c.get("address/0");
//     co_await c.barrier("epoch-1", 60s);
//     co_await c.leave();
//   }
//
// Completion tokens: each call is an initiating function with the signature void(error_code, T), or
// void(error_code). Without a token it gives an asio::awaitable<T> that throws coxswain::error.
// With a token the code is an `errc` or asio::error::operation_aborted. Diagnostics before the
// token receive the message and details of a failed call, are empty after success, and must live
// until the call has completed:
//
//   diagnostics why;
//   auto const got = co_await c.get("k", 10s, why, asio::as_tuple(asio::use_awaitable));
//   std::future<round_number> passed = c.barrier("b", {60s, {0, 1}}, asio::use_future);
//   c.put("k", "v", {}, [](boost::system::error_code code, std::uint64_t version) { ... });
//
// Errors of every call: UNAVAILABLE (the coordinator is lost for good; the text says whether the
// call may have taken effect), RESOURCE_EXHAUSTED (a limit; the text names it), PERMISSION_DENIED
// (the token's role does not suffice), FAILED_PRECONDITION (not joined; or this client has left),
// ABORTED (a newer incarnation of the task has taken its place), CANCELLED (the client was
// destroyed meanwhile), DEADLINE_EXCEEDED. Others are documented at the call.
//
// Connection loss: an open call continues. The client reconnects by itself and resumes its session,
// each call takes effect exactly once, and deadlines keep running. Calls made meanwhile wait for
// the connection, up to 64 MiB of them.
//
// Deadlines: the coordinator keeps them and replies within milliseconds. If it cannot, the client
// ends the call by itself, 1 s later while it is connected, exactly in time while it is not. The
// default is 300 s. A timeout of zero or less asks for a reply now; `without_limit`, and anything
// above 292 years (hours::max()), waits for ever.
//
// Cancellation: each call honours every kind of cancellation of its handler's slot, which is the
// coroutine's for an awaitable. The call is cancelled at the coordinator, no other call notices,
// and it completes with operation_aborted: without a token, a coxswain::error with that code and
// the outcome CANCELLED. So `c.get(k) || timer.async_wait(use_awaitable)` works. A call that was
// cancelled may nevertheless have taken effect.
//
// Threads: none of its own (but Asio uses one to look up host names), no locks. All work is done on
// get_executor(), which must run on one thread (or be a strand); every function must be called, and
// cancellation signals emitted, there. It must not be kept busy for longer than the heartbeat
// timeout, or the task fails: programs that compute or block for long should use blocking_client. A
// handler runs on its associated executor, by default the client's, and never within the call.
//
// Arguments are copied before a function returns, so views need not outlive the call expression. A
// call begins when its token decides: an awaitable when it is awaited. Each function may be called
// again while earlier calls are open. The client may outlive its io_context if no longer used.

#include "coxswain/client/client_calls.hpp"
#include "coxswain/client/membership_calls.hpp"
#include "coxswain/client/options.hpp"

#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain {

class client : public detail::membership_calls<client>, public detail::holding_calls<client> {
 public:
  using executor_type = asio::any_io_executor;

  // No session: each call throws FAILED_PRECONDITION, as with a moved-from client.
  client() = default;

  // Opens a session, retrying while the coordinator is unreachable. DEADLINE_EXCEEDED: not within
  // `connect_timeout`; the text has the number of tries and the last error. FAILED_PRECONDITION
  // (another job, protocol, attempt or number of tasks; one side speaks TLS and the other does
  // not), UNAUTHENTICATED (the token; a certificate that either side refuses): at once.
  // INVALID_ARGUMENT: the address is malformed. And the errors of net::tls_context for the files of
  // `options.tls`. On the handler's executor: without a token, that of the awaiting coroutine.
  template <detail::token_for<client>... Token>
  static auto connect(client_options options, Token&&... token) {
    return detail::initiate(detail::connect_initiation{},
                            detail::client_calls::connect(std::move(options)),
                            std::forward<Token>(token)...);
  }
  template <detail::token_for<client>... Token>
  requires(sizeof...(Token) > 0) static auto connect(executor_type executor, client_options options,
                                                     Token&&... token) {
    return detail::initiate(detail::initiation{std::move(executor)},
                            detail::client_calls::connect(std::move(options)),
                            std::forward<Token>(token)...);
  }

  // `connect` and `join` with one round trip less. The errors of both; if the join fails, the
  // session ends. Its timeout begins with the session. Does not show whether the job had started
  // before.
  template <detail::token_for<client>... Token>
  static auto connect_and_join(client_options options, join_options const& join = {},
                               Token&&... token) {
    return detail::initiate(detail::connect_initiation{},
                            detail::client_calls::connect_and_join(std::move(options), join),
                            std::forward<Token>(token)...);
  }

  // A client that has not left reports that it is gone: its task fails at once. Open calls end with
  // CANCELLED. Does not block: their completions are posted to the executors of their callers. If
  // an io_context is stopped before, they do not run; `close` waits for them.
  ~client();
  client(client&&) noexcept;
  client& operator=(client&&) noexcept;

  // Joins the job as the options' task, and waits until all tasks have. True if the job had
  // started before. DEADLINE_EXCEEDED (some are missing), ALREADY_EXISTS (a newer incarnation of
  // the task joined meanwhile), ABORTED (another live incarnation holds the task; this one has
  // failed: see `reset`; or the job has failed), INVALID_ARGUMENT (no such task, or it cannot take
  // over), FAILED_PRECONDITION (the client is an observer).
  template <detail::token_for<bool>... Token>
  auto join(join_options const& options = {}, Token&&... token) {
    return start(calls_.join(options), std::forward<Token>(token)...);
  }

  // Clears the error of this recoverable task, which has failed, so that `join` may be called
  // again. FAILED_PRECONDITION: it has not failed, or the job has, or the job is elastic, where
  // `join` alone is enough. ABORTED: another incarnation of it has failed.
  template <detail::token_for<void>... Token>
  auto reset(call_options const& options = {}, Token&&... token) {
    return start(calls_.reset(options), std::forward<Token>(token)...);
  }

  // Waits until all participants have called; returns the number of the round. The timeout begins
  // with the coordinator's receipt, and the earliest deadline of the participants ends the round
  // for all. DEADLINE_EXCEEDED (what() begins "DEADLINE_EXCEEDED: Barrier timed out."), INTERNAL (a
  // participant died, failed or left), CANCELLED (cancel_barrier), INVALID_ARGUMENT (participants
  // differ), FAILED_PRECONDITION (the job has failed; or this task already waits at `name`). The
  // error's details() have the missing tasks.
  template <detail::token_for<round_number>... Token>
  auto barrier(std::string_view name, barrier_options const& options = {}, Token&&... token) {
    return start(calls_.barrier(name, options), std::forward<Token>(token)...);
  }

  // A barrier that gathers the `data` of all participants; returns it in task order. Errors of
  // `barrier`; RESOURCE_EXHAUSTED: all the data together exceeds the coordinator's limit.
  template <detail::token_for<std::vector<std::string>>... Token>
  auto all_gather(std::string_view name, std::string_view data, barrier_options const& options = {},
                  Token&&... token) {
    return start(calls_.all_gather(name, data, options), std::forward<Token>(token)...);
  }

  // A barrier that reduces the numbers of all participants to their sum, minimum or maximum.
  // Doubles are added in task order, so that the result is reproducible. Errors of `barrier`;
  // OUT_OF_RANGE: the sum does not fit 64 bits.
  template <std::integral Whole, detail::token_for<std::int64_t>... Token>
  auto reduce(std::string_view name, Whole operand, reduction how,
              barrier_options const& options = {}, Token&&... token) {
    return start(calls_.reduce(name, detail::operand_of(operand), how, options),
                 std::forward<Token>(token)...);
  }
  template <std::floating_point Real, detail::token_for<double>... Token>
  auto reduce(std::string_view name, Real operand, reduction how,
              barrier_options const& options = {}, Token&&... token) {
    return start(calls_.reduce(name, double{operand}, how, options), std::forward<Token>(token)...);
  }

  // The same bit by bit, over bytes. INVALID_ARGUMENT: the length differs from the first caller's.
  template <detail::token_for<std::string>... Token>
  auto reduce_bits(std::string_view name, std::string_view operand, bitwise how,
                   barrier_options const& options = {}, Token&&... token) {
    return start(calls_.reduce_bits(name, operand, how, options), std::forward<Token>(token)...);
  }

  // A barrier that passes if all participants pass the same bytes. Errors of `barrier`;
  // FAILED_PRECONDITION: they differ; the text names two tasks that do.
  template <detail::token_for<round_number>... Token>
  auto all_equal(std::string_view name, std::string_view data, barrier_options const& options = {},
                 Token&&... token) {
    return start(calls_.all_equal(name, data, options), std::forward<Token>(token)...);
  }

  // Ends the open round of a barrier for all callers with CANCELLED; with a number, only that
  // round. FAILED_PRECONDITION: no such round is open. PERMISSION_DENIED: not a participant.
  template <detail::token_for<void>... Token>
  auto cancel_barrier(std::string_view name, std::optional<round_number> round = {},
                      call_options const& options = {}, Token&&... token) {
    return start(calls_.cancel_barrier(name, round, options), std::forward<Token>(token)...);
  }

  // Waits until `count` such calls are open, of tasks or observers; its names are separate from
  // those of `barrier`. INVALID_ARGUMENT: others wait with a different count.
  template <detail::token_for<round_number>... Token>
  auto count_barrier(std::string_view name, std::uint32_t count, call_options const& options = {},
                     Token&&... token) {
    return start(calls_.count_barrier(name, count, options), std::forward<Token>(token)...);
  }

  // Which of these tasks, including the caller, are alive; empty: of all tasks. Waits until each
  // connected one has asked for the same set, and returns the same list to all, in task order. A
  // suspect task is waited for; one that fails, leaves or is replaced is not. INVALID_ARGUMENT (the
  // caller is not in the set), DEADLINE_EXCEEDED (details() have the tasks that did not ask; the
  // others keep waiting), INTERNAL (the job has failed meanwhile), FAILED_PRECONDITION (before).
  template <detail::token_for<std::vector<process>>... Token>
  auto alive_tasks(task_list tasks = {}, call_options const& options = {}, Token&&... token) {
    return start(calls_.alive_tasks(std::move(tasks), options), std::forward<Token>(token)...);
  }

  // All tasks as they are now; with a version returned before, as soon as they differ from it or
  // `timeout` is over. Works also when the job has failed. INVALID_ARGUMENT: the version is not of
  // this coordinator. process_monitor calls it in a loop.
  template <detail::token_for<tasks_result>... Token>
  auto watch_tasks(std::optional<std::uint64_t> after = {}, watch_options const& options = {},
                   Token&&... token) {
    return start(calls_.watch_tasks(after, options), std::forward<Token>(token)...);
  }

  // The coordinator's events, from the oldest that it keeps; with a number returned before as
  // `through`, those after it, as soon as there are any or `timeout` is over. Without a number,
  // `last` limits them to this many of each severity; zero means all. INVALID_ARGUMENT: the number
  // is not of this coordinator. event_watch calls it in a loop.
  template <detail::token_for<events_result>... Token>
  auto watch_events(std::optional<std::uint64_t> after = {}, events_options const& options = {},
                    Token&&... token) {
    return start(calls_.watch_events(after, options), std::forward<Token>(token)...);
  }

  // Stores a value and wakes calls that wait for the key; returns the key's new version.
  // ALREADY_EXISTS: the key has a value and the mode is `create`; not if an earlier process of the
  // same recoverable task has put the same. Overwriting a key also replaces its owner and lifetime.
  template <detail::token_for<std::uint64_t>... Token>
  auto put(std::string_view key, std::string_view value, put_options const& options = {},
           Token&&... token) {
    return start(calls_.put(key, value, options), std::forward<Token>(token)...);
  }

  // Stores all values (of keys and values), or none of them; returns the version of the last.
  // ALREADY_EXISTS: a key has a value and the mode is `create`. INVALID_ARGUMENT: duplicate key.
  template <detail::token_for<std::uint64_t>... Token>
  auto put_all(std::vector<std::pair<std::string, std::string>> entries,
               put_options const& options = {}, Token&&... token) {
    return start(calls_.put_all(std::move(entries), options), std::forward<Token>(token)...);
  }

  // Stores a value if the key is as expected; else returns its present state, so that the caller
  // can try again. A key that is not as expected is not an exception.
  template <detail::token_for<swap_result>... Token>
  auto compare_and_set(std::string_view key, std::string_view value, expectation expected,
                       key_lifetime lifetime = key_lifetime::persistent,
                       call_options const& options = {}, Token&&... token) {
    return start(calls_.compare_and_set(key, value, std::move(expected), lifetime, options),
                 std::forward<Token>(token)...);
  }

  // Adds bytes to the end of a value, empty if the key is missing; returns the key's new version.
  template <detail::token_for<std::uint64_t>... Token>
  auto append(std::string_view key, std::string_view more, call_options const& options = {},
              Token&&... token) {
    return start(calls_.append(key, more, options), std::forward<Token>(token)...);
  }

  // Waits until the key has a value. CANCELLED: the job failed or the coordinator stops.
  template <detail::token_for<std::string>... Token>
  auto get(std::string_view key, call_options const& options = {}, Token&&... token) {
    return start(calls_.get(key, options), std::forward<Token>(token)...);
  }

  // Waits until all the keys have values at the same time; returns them in this order. The text of
  // DEADLINE_EXCEEDED names the missing ones. CANCELLED: as `get`.
  template <detail::token_for<std::vector<key_value>>... Token>
  auto get_all(std::vector<std::string> keys, call_options const& options = {}, Token&&... token) {
    return start(calls_.get_all(std::move(keys), options), std::forward<Token>(token)...);
  }

  // The key's value now, if it has one.
  template <detail::token_for<std::optional<std::string>>... Token>
  auto try_get(std::string_view key, call_options const& options = {}, Token&&... token) {
    return start(calls_.try_get(key, options), std::forward<Token>(token)...);
  }

  // All keys below a directory, at any depth, in byte order; "" is the root. A snapshot, even if
  // many keys take several requests. OUT_OF_RANGE: in eight attempts, keys changed faster than they
  // could be listed.
  template <detail::token_for<std::vector<key_value>>... Token>
  auto list(std::string_view directory, call_options const& options = {}, Token&&... token) {
    return start(calls_.list(directory, options), std::forward<Token>(token)...);
  }

  // How many keys `list` would return.
  template <detail::token_for<std::uint64_t>... Token>
  auto count(std::string_view directory = {}, call_options const& options = {}, Token&&... token) {
    return start(calls_.count(directory, options), std::forward<Token>(token)...);
  }

  // The changes below a directory and of the key equal to it, from now on or after a version of
  // this coordinator: see key_watch.
  template <detail::token_for<key_watch>... Token>
  auto watch(std::string_view directory, std::optional<std::uint64_t> after = {},
             call_options const& options = {}, Token&&... token) {
    return start(calls_.watch(directory, after, options), std::forward<Token>(token)...);
  }

  // Removes the key and nothing below it; returns whether it existed.
  template <detail::token_for<bool>... Token>
  auto remove(std::string_view key, call_options const& options = {}, Token&&... token) {
    return start(calls_.remove(key, options), std::forward<Token>(token)...);
  }

  // Removes everything below a directory, and the key equal to it; returns the number of removed
  // keys. More than 1,000 keys take several requests: see SEMANTICS.md, §7.1.10. INVALID_ARGUMENT:
  // the directory is the root and the mode is not `all`.
  template <detail::token_for<std::uint64_t>... Token>
  auto remove_tree(std::string_view directory, remove_mode mode = remove_mode::tree,
                   call_options const& options = {}, Token&&... token) {
    return start(calls_.remove_tree(directory, mode, options), std::forward<Token>(token)...);
  }

  // Adds to a decimal counter, zero if the key is missing; returns the sum. FAILED_PRECONDITION
  // (the value is not a decimal 64-bit integer), OUT_OF_RANGE (the sum overflows).
  template <detail::token_for<std::int64_t>... Token>
  auto increment(std::string_view key, std::int64_t by = 1, call_options const& options = {},
                 Token&&... token) {
    return start(calls_.increment(key, by, options), std::forward<Token>(token)...);
  }

  // Adds an item at the end of a queue; returns the number of items then in it. Queues have their
  // own name space and are created on first use.
  template <detail::token_for<std::uint64_t>... Token>
  auto push(std::string_view queue, std::string_view value, call_options const& options = {},
            Token&&... token) {
    return start(calls_.push(queue, value, options), std::forward<Token>(token)...);
  }

  // Takes the first item of a queue, and waits for one if there is none. An item goes to exactly
  // one caller, and is gone once that has received it: it returns to its place only if the call is
  // cancelled, or this client dies, before its next message to the coordinator; `take` loses none.
  // Use a timeout instead of racing a `pop` with a timer. CANCELLED: as `get`.
  template <detail::token_for<queue_item>... Token>
  auto pop(std::string_view queue, call_options const& options = {}, Token&&... token) {
    return start(calls_.pop(queue, options), std::forward<Token>(token)...);
  }

  // Waits until a lock is free and takes it; returns its token, which is above those of all earlier
  // locks. The session owns the lock until `unlock`, or until it ends: the protected resource
  // should refuse tokens below the highest that it has seen. Not reentrant. DEADLINE_EXCEEDED (the
  // text names the holder), CANCELLED: as `get`.
  template <detail::token_for<std::uint64_t>... Token>
  auto lock(std::string_view name, call_options const& options = {}, Token&&... token) {
    return start(calls_.lock(name, options), std::forward<Token>(token)...);
  }

  // The same without waiting; none if the lock is held.
  template <detail::token_for<std::optional<std::uint64_t>>... Token>
  auto try_lock(std::string_view name, call_options const& options = {}, Token&&... token) {
    return start(calls_.try_lock(name, options), std::forward<Token>(token)...);
  }

  // Releases a lock to the call that has waited longest. FAILED_PRECONDITION: it is not held with
  // this token. PERMISSION_DENIED: another session holds it.
  template <detail::token_for<void>... Token>
  auto unlock(std::string_view name, std::uint64_t held, call_options const& options = {},
              Token&&... token) {
    return start(calls_.unlock(name, held, options), std::forward<Token>(token)...);
  }

  // Completes when the job fails, or this client has lost the coordinator for good (the cause is
  // then UNAVAILABLE and names no task); at once if that has happened. Several calls may wait.
  // CANCELLED: the client left or was destroyed.
  template <detail::token_for<job_error>... Token>
  auto failure(Token&&... token) {
    return start(calls_.failure(), std::forward<Token>(token)...);
  }

  // Declares this task failed; the job fails, unless the task is recoverable. INVALID_ARGUMENT: the
  // code is OK.
  template <detail::token_for<void>... Token>
  auto report_error(errc code, std::string_view message, call_options const& options = {},
                    Token&&... token) {
    return start(calls_.report_error(code, message, options), std::forward<Token>(token)...);
  }

  // Announces that a task (by default this one) will be preempted after this time: all tasks then
  // agree on a step at which they stop together. FAILED_PRECONDITION: the task has already gone, or
  // the job has failed; INVALID_ARGUMENT: no such task, or an observer named none.
  template <detail::token_for<void>... Token>
  auto preempt(time_limit in = {}, std::optional<task_id> who = {},
               call_options const& options = {}, Token&&... token) {
    return start(calls_.preempt(in, who, options), std::forward<Token>(token)...);
  }

  // Every task must call it at each step it reaches, in rising order. True once for each agreement
  // after `preempt`: at the first step at or past the agreed one, where all tasks save their state.
  // Waits only during an agreement, at most the coordinator's preemption_timeout; false if the
  // agreement fails, or this client has left. UNAVAILABLE: the coordinator was lost.
  template <detail::token_for<bool>... Token>
  auto reached_sync_point(std::uint64_t step, Token&&... token) {
    return start(calls_.reached_sync_point(step), std::forward<Token>(token)...);
  }

  // Reports the step that this task has reached, for status, top and the page. With the
  // coordinator's progress_timeout, a task whose step does not advance for that long is logged, or
  // fails. Time in which one of its calls waits for others does not count (a barrier, a get, a pop
  // and the like; not a watch of keys, tasks or events). A step that is not above the last one is
  // shown, but does not count as progress. `reached_sync_point` does not report steps, so that a
  // step costs no message unless the program asks for it.
  template <detail::token_for<void>... Token>
  auto report_progress(std::uint64_t step, call_options const& options = {}, Token&&... token) {
    return start(calls_.report_progress(step, options), std::forward<Token>(token)...);
  }

  // Contributes this task's devices and waits until all tasks have contributed theirs for the same
  // platform; returns those of all, numbered, the same to every task. Once complete, further calls
  // return at once. Start with local_topology_of_this_host() for `mine`. INTERNAL (a task failed or
  // left meanwhile; or this one has passed a different topology before), INVALID_ARGUMENT (some
  // tasks state a partition index and some do not), CANCELLED (this task called again),
  // FAILED_PRECONDITION (the job has failed). DEADLINE_EXCEEDED: the error's details() have the
  // missing tasks.
  template <detail::token_for<global_topology>... Token>
  auto exchange_topology(std::string_view platform, local_topology mine,
                         call_options const& options = {}, Token&&... token) {
    return start(calls_.exchange_topology(platform, std::move(mine), options),
                 std::forward<Token>(token)...);
  }

  // Leaves the job and ends the session. Waits at the shutdown barrier until all tasks leave,
  // except recoverable ones that have failed. If all tasks are recoverable there is no shutdown
  // barrier, unless the coordinator has leave_together: a task leaves at once.
  //
  // A task that leaves has finished, unless the options say `returning`: barriers that need it fail
  // at once, without a job error; its next process may still join before the job is done. After a
  // leave to return, barriers wait for the next process or their deadline, except those with
  // fail_when_lost. Waiting calls of this task end with CANCELLED.
  //
  // INTERNAL (a task died or did not leave in time; details() say which), FAILED_PRECONDITION (the
  // job had failed: the task has left alone; or this task has failed). Whatever the outcome, the
  // session has ended; unless the call was cancelled or gave INVALID_ARGUMENT (`returning`, but not
  // recoverable), after which it continues; or in an elastic job ABORTED: the epoch has ended, and
  // next_epoch is to follow, or a leave with timeout 0, for which nobody waits. An observer, or a
  // task that never joined, just ends its session.
  template <detail::token_for<void>... Token>
  auto leave(leave_options const& options = {}, Token&&... token) {
    return start(calls_.leave(options), std::forward<Token>(token)...);
  }

  // Ends the session as the destructor does, and waits until the open calls of coroutines on this
  // client's executor have ended with CANCELLED. No errors.
  template <detail::token_for<void>... Token>
  auto close(Token&&... token) {
    return start(calls_.close(), std::forward<Token>(token)...);
  }

  // A snapshot of the whole job.
  template <detail::token_for<job_status>... Token>
  auto inspect(call_options const& options = {}, Token&&... token) {
    return start(calls_.inspect(options), std::forward<Token>(token)...);
  }

  // Every waiting call, and the tasks that are deadlocked: they wait for each other, or for
  // something that no task is left to do.
  template <detail::token_for<why_result>... Token>
  auto why(call_options const& options = {}, Token&&... token) {
    return start(calls_.why(options), std::forward<Token>(token)...);
  }

  // The client's executor. Null without a session.
  [[nodiscard]] executor_type get_executor() const;

  // The following need no request. No errors.
  [[nodiscard]] std::uint64_t reconnects() const;  // how often the session was resumed
  [[nodiscard]] std::uint32_t num_tasks() const;
  [[nodiscard]] coxswain::role role() const;  // the token's role
  [[nodiscard]] std::optional<task_id> task() const;
  [[nodiscard]] coxswain::incarnation incarnation() const;

 private:
  friend class detail::client_calls;
  friend std::shared_ptr<detail::connection> const& detail::connection_of(client const& of);
  friend class detail::membership_calls<client>;
  friend class detail::holding_calls<client>;

  explicit client(std::shared_ptr<detail::connection> at);

  template <class Call, class... Token>
  auto start(Call what, Token&&... token) {
    return detail::initiate(detail::initiation{get_executor()}, std::move(what),
                            std::forward<Token>(token)...);
  }

  detail::client_calls calls_;
};

}  // namespace coxswain
