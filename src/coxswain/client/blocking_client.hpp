#pragma once
// PUBLIC. The client for programs without coroutines: each call blocks the calling thread. The
// meaning and the errors of each call are those of coxswain::client (client.hpp).
//
// Threads: a thread of its own does the I/O, and at times one that waits for a call does it
// instead, which makes short calls quicker; every function may be called from any number of threads
// at once, except the destructor. Callbacks in the options run on the thread that does the I/O:
// calls made there throw FAILED_PRECONDITION at once, and `close` and the destructor do not wait.
//
// Fork: a child process must create its own client. In a child, every call throws
// FAILED_PRECONDITION "client used after fork", and destroying the object there does nothing.

#include "coxswain/base/error.hpp"
#include "coxswain/client/client.hpp"
#include "coxswain/client/options.hpp"

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain {

namespace detail {
class client_worker;
}

// See key_watch. Must not outlive its client, which may move; one thread at a time.
class blocking_key_watch {
 public:
  std::vector<key_change> next(watch_options const& options = {});
  std::vector<key_value> list(call_options const& options = {});
  [[nodiscard]] std::uint64_t version() const noexcept { return watch_.version(); }

 private:
  friend class blocking_client;
  blocking_key_watch(detail::client_worker& of, key_watch watch)
      : of_{&of}, watch_{std::move(watch)} {}

  detail::client_worker* of_;
  key_watch watch_;
};

// See taken_item. Must not outlive its client, which may move; one thread at a time.
class blocking_item {
 public:
  ~blocking_item();
  blocking_item(blocking_item&& other) noexcept = default;
  blocking_item& operator=(blocking_item&& other) noexcept;

  [[nodiscard]] std::string const& value() const noexcept { return item_.value(); }
  [[nodiscard]] std::uint64_t number() const noexcept { return item_.number(); }
  [[nodiscard]] std::uint32_t redeliveries() const noexcept { return item_.redeliveries(); }
  void finish(call_options const& options = {});
  void release(call_options const& options = {});
  void extend(time_limit lease = core::lease_default, call_options const& options = {});
  queue_item detach() noexcept { return item_.detach(); }

 private:
  friend class blocking_client;
  blocking_item(detail::client_worker& of, taken_item item) : of_{&of}, item_{std::move(item)} {}

  detail::client_worker* of_;
  taken_item item_;
};

// See held_lock. Must not outlive its client, which may move; one thread at a time.
class blocking_lock {
 public:
  ~blocking_lock();
  blocking_lock(blocking_lock&& other) noexcept = default;
  blocking_lock& operator=(blocking_lock&& other) noexcept;

  [[nodiscard]] std::string const& name() const noexcept { return lock_.name(); }
  [[nodiscard]] std::uint64_t token() const noexcept { return lock_.token(); }
  void unlock(call_options const& options = {});
  std::uint64_t detach() noexcept { return lock_.detach(); }

 private:
  friend class blocking_client;
  blocking_lock(detail::client_worker& of, held_lock lock) : of_{&of}, lock_{std::move(lock)} {}

  detail::client_worker* of_;
  held_lock lock_;
};

class blocking_client {
 public:
  // Connects: see client::connect. With client_options::from_environment() as the launcher says.
  explicit blocking_client(client_options options);

  // Connects and joins, with one round trip less: see client::connect_and_join.
  static blocking_client connect_and_join(client_options options, join_options const& join = {});

  // See client::~client. No call may be in progress; `close` ends those that are.
  ~blocking_client();

  // No call may be in progress. A moved-from client may only be destroyed or assigned to.
  blocking_client(blocking_client&& other) noexcept;
  blocking_client& operator=(blocking_client&& other) noexcept;

  bool join(join_options const& options = {}) { return run(calls().join(options)); }
  void reset(call_options const& options = {}) { return run(calls().reset(options)); }
  round_number barrier(std::string_view name, barrier_options const& options = {}) {
    return run(calls().barrier(name, options));
  }
  std::vector<std::string> all_gather(std::string_view name, std::string_view data,
                                      barrier_options const& options = {}) {
    return run(calls().all_gather(name, data, options));
  }
  template <std::integral Whole>
  std::int64_t reduce(std::string_view name, Whole operand, reduction how,
                      barrier_options const& options = {}) {
    return reduce_whole(name, detail::operand_of(operand), how, options);
  }
  double reduce(std::string_view name, double operand, reduction how,
                barrier_options const& options = {}) {
    return run(calls().reduce(name, operand, how, options));
  }
  std::string reduce_bits(std::string_view name, std::string_view operand, bitwise how,
                          barrier_options const& options = {}) {
    return run(calls().reduce_bits(name, operand, how, options));
  }
  round_number all_equal(std::string_view name, std::string_view data,
                         barrier_options const& options = {}) {
    return run(calls().all_equal(name, data, options));
  }
  void cancel_barrier(std::string_view name, std::optional<round_number> round = {},
                      call_options const& options = {}) {
    return run(calls().cancel_barrier(name, round, options));
  }
  round_number count_barrier(std::string_view name, std::uint32_t count,
                             call_options const& options = {}) {
    return run(calls().count_barrier(name, count, options));
  }
  std::vector<process> alive_tasks(task_list tasks = {}, call_options const& options = {}) {
    return run(calls().alive_tasks(std::move(tasks), options));
  }
  tasks_result watch_tasks(std::optional<std::uint64_t> after = {},
                           watch_options const& options = {}) {
    return run(calls().watch_tasks(after, options));
  }
  events_result watch_events(std::optional<std::uint64_t> after = {},
                             events_options const& options = {}) {
    return run(calls().watch_events(after, options));
  }
  std::uint64_t put(std::string_view key, std::string_view value, put_options const& options = {}) {
    return run(calls().put(key, value, options));
  }
  std::uint64_t put_all(std::vector<std::pair<std::string, std::string>> entries,
                        put_options const& options = {}) {
    return run(calls().put_all(std::move(entries), options));
  }
  swap_result compare_and_set(std::string_view key, std::string_view value, expectation expected,
                              key_lifetime lifetime = key_lifetime::persistent,
                              call_options const& options = {}) {
    return run(calls().compare_and_set(key, value, std::move(expected), lifetime, options));
  }
  std::uint64_t append(std::string_view key, std::string_view more,
                       call_options const& options = {}) {
    return run(calls().append(key, more, options));
  }
  std::string get(std::string_view key, call_options const& options = {}) {
    return run(calls().get(key, options));
  }
  std::vector<key_value> get_all(std::vector<std::string> keys, call_options const& options = {}) {
    return run(calls().get_all(std::move(keys), options));
  }
  std::optional<std::string> try_get(std::string_view key, call_options const& options = {}) {
    return run(calls().try_get(key, options));
  }
  std::vector<key_value> list(std::string_view directory, call_options const& options = {}) {
    return run(calls().list(directory, options));
  }
  bool remove(std::string_view key, call_options const& options = {}) {
    return run(calls().remove(key, options));
  }
  std::uint64_t remove_tree(std::string_view directory, remove_mode mode = remove_mode::tree,
                            call_options const& options = {}) {
    return run(calls().remove_tree(directory, mode, options));
  }
  std::int64_t increment(std::string_view key, std::int64_t by = 1,
                         call_options const& options = {}) {
    return run(calls().increment(key, by, options));
  }
  std::uint64_t count(std::string_view directory = {}, call_options const& options = {}) {
    return run(calls().count(directory, options));
  }
  std::uint64_t push(std::string_view queue, std::string_view value,
                     call_options const& options = {}) {
    return run(calls().push(queue, value, options));
  }
  std::uint64_t queue_length(std::string_view queue, call_options const& options = {}) {
    return run(calls().queue_length(queue, options));
  }
  queue_item pop(std::string_view queue, call_options const& options = {}) {
    return run(calls().pop(queue, options));
  }
  blocking_item take(std::string_view queue, take_options const& options = {});
  std::uint64_t lock(std::string_view name, call_options const& options = {}) {
    return run(calls().lock(name, options));
  }
  blocking_lock locked(std::string_view name, call_options const& options = {});
  std::optional<std::uint64_t> try_lock(std::string_view name, call_options const& options = {}) {
    return run(calls().try_lock(name, options));
  }
  void unlock(std::string_view name, std::uint64_t token, call_options const& options = {}) {
    return run(calls().unlock(name, token, options));
  }
  void report_error(errc code, std::string_view message, call_options const& options = {}) {
    return run(calls().report_error(code, message, options));
  }
  void leave(leave_options const& options = {}) { return run(calls().leave(options)); }
  coxswain::epoch next_epoch(epoch_options const& options = {}) {
    return run(calls().next_epoch(options));
  }
  std::optional<epoch_end> epoch_wanted() { return run(calls().epoch_wanted()); }
  coxswain::epoch_members epoch_members(call_options const& options = {}) {
    return run(calls().epoch_members(options));
  }
  void resize(std::uint32_t num_tasks, call_options const& options = {}) {
    return run(calls().resize(num_tasks, options));
  }
  void stop_job(std::string_view reason = {}, call_options const& options = {}) {
    return run(calls().end_job(core::job_end::stop, reason, options));
  }
  void drain_job(std::string_view reason = {}, call_options const& options = {}) {
    return run(calls().end_job(core::job_end::drain, reason, options));
  }
  job_status inspect(call_options const& options = {}) { return run(calls().inspect(options)); }
  why_result why(call_options const& options = {}) { return run(calls().why(options)); }
  void report_progress(std::uint64_t step, call_options const& options = {}) {
    return run(calls().report_progress(step, options));
  }
  void preempt(time_limit in = {}, std::optional<task_id> who = {},
               call_options const& options = {}) {
    return run(calls().preempt(in, who, options));
  }
  bool reached_sync_point(std::uint64_t step) { return run(calls().reached_sync_point(step)); }
  global_topology exchange_topology(std::string_view platform, local_topology mine,
                                    call_options const& options = {}) {
    return run(calls().exchange_topology(platform, std::move(mine), options));
  }
  blocking_key_watch watch(std::string_view directory, std::optional<std::uint64_t> after = {},
                           call_options const& options = {});

  // Waits until the job fails or the coordinator is lost for good; none if `timeout` passes first.
  std::optional<job_error> failure(time_limit timeout = without_limit);

  // Ends the session as the destructor does; calls that other threads have open throw CANCELLED,
  // as do later ones. A second call changes nothing. Does not throw, also after fork.
  void close() noexcept;

  [[nodiscard]] std::uint64_t reconnects() const;
  [[nodiscard]] std::uint32_t num_tasks() const;
  [[nodiscard]] coxswain::role role() const;
  [[nodiscard]] std::optional<task_id> task() const;
  [[nodiscard]] coxswain::incarnation incarnation() const;

 private:
  friend class blocking_process_monitor;

  explicit blocking_client(std::unique_ptr<detail::client_worker> worker);
  [[nodiscard]] detail::client_calls const& calls() const;
  // Starts it on the client's thread, and waits for it.
  template <class T>
  T run(detail::call<T> what) const;
  template <class T>
  T run(asio::awaitable<T> what) const;
  std::int64_t reduce_whole(std::string_view name, std::optional<std::int64_t> operand,
                            reduction how, barrier_options const& options) {
    return run(calls().reduce(name, operand, how, options));
  }

  std::unique_ptr<detail::client_worker> worker_;
};

}  // namespace coxswain
