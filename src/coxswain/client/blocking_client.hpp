#pragma once
// PUBLIC. The client for programs without coroutines: each call blocks the calling thread. The
// meaning and the errors of each call are those of coxswain::client (client.hpp).
//
// Threads: a thread of its own does the I/O; every function may be called from any number of
// threads at once, except the destructor. Callbacks in the options run on that thread, which the
// calls need: there they throw FAILED_PRECONDITION at once, and `close` and the destructor do not
// wait.
//
// Fork: a child process must make a client of its own. In a child, every call throws
// FAILED_PRECONDITION "client used after fork", and destroying the object there does nothing.

#include "coxswain/base/error.hpp"
#include "coxswain/client/client.hpp"
#include "coxswain/client/options.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain {

class blocking_client;
class client_worker;

// See key_watch. Must not outlive its client; one thread at a time.
class blocking_key_watch {
 public:
  std::vector<key_change> next(time_limit timeout = without_limit);
  std::vector<key_value> list();
  [[nodiscard]] std::uint64_t version() const noexcept { return watch_.version(); }

 private:
  friend class blocking_client;
  blocking_key_watch(blocking_client& of, key_watch watch) : of_{&of}, watch_{std::move(watch)} {}

  blocking_client* of_;
  key_watch watch_;
};

class blocking_client {
 public:
  // Connects: see client::connect. With client_options::from_environment() as the launcher says.
  explicit blocking_client(client_options options);

  // See client::~client. No call may be in progress; `close` ends those that are.
  ~blocking_client();
  blocking_client(blocking_client const&) = delete;
  blocking_client& operator=(blocking_client const&) = delete;

  bool join(time_limit timeout = core::timeout_default);
  bool join(join_options options);
  void reset();
  round_number barrier(std::string_view name, barrier_options options);
  round_number barrier(std::string_view name, time_limit timeout = core::timeout_default,
                       std::span<task_id const> among = {}) {
    return barrier(name, barrier_options{timeout, among});
  }
  std::vector<std::string> all_gather(std::string_view name, std::string_view data,
                                      barrier_options options);
  std::vector<std::string> all_gather(std::string_view name, std::string_view data,
                                      time_limit timeout = core::timeout_default,
                                      std::span<task_id const> among = {}) {
    return all_gather(name, data, barrier_options{timeout, among});
  }
  std::int64_t reduce(std::string_view name, std::int64_t operand, reduction how,
                      barrier_options options);
  double reduce(std::string_view name, double operand, reduction how, barrier_options options);
  template <std::integral Whole>
  std::int64_t reduce(std::string_view name, Whole operand, reduction how,
                      barrier_options options) {
    return reduce(name, std::int64_t{operand}, how, std::move(options));
  }
  template <class Number>
  auto reduce(std::string_view name, Number operand, reduction how,
              time_limit timeout = core::timeout_default, std::span<task_id const> among = {}) {
    return reduce(name, operand, how, barrier_options{timeout, among});
  }
  std::string reduce_bits(std::string_view name, std::string_view operand, bitwise how,
                          barrier_options options);
  std::string reduce_bits(std::string_view name, std::string_view operand, bitwise how,
                          time_limit timeout = core::timeout_default,
                          std::span<task_id const> among = {}) {
    return reduce_bits(name, operand, how, barrier_options{timeout, among});
  }
  round_number all_equal(std::string_view name, std::string_view data, barrier_options options);
  round_number all_equal(std::string_view name, std::string_view data,
                         time_limit timeout = core::timeout_default,
                         std::span<task_id const> among = {}) {
    return all_equal(name, data, barrier_options{timeout, among});
  }
  void cancel_barrier(std::string_view name, std::optional<round_number> round = {});
  round_number count_barrier(std::string_view name, std::uint32_t count,
                             time_limit timeout = core::timeout_default);
  std::vector<core::alive_answer::task> alive_tasks(std::span<task_id const> tasks = {},
                                                    time_limit timeout = core::timeout_default);
  core::tasks_answer watch_tasks(std::optional<std::uint64_t> after = {},
                                 time_limit timeout = without_limit);
  core::events_answer watch_events(std::optional<std::uint64_t> after = {},
                                   core::severity at_least = core::severity::info,
                                   time_limit timeout = without_limit, std::uint32_t last = 0);
  std::uint64_t put(std::string_view key, std::string_view value, put_mode mode = put_mode::create,
                    key_lifetime lifetime = key_lifetime::persistent);
  std::uint64_t put_all(std::vector<std::pair<std::string, std::string>> entries,
                        put_mode mode = put_mode::create);
  swap_result compare_and_set(std::string_view key, std::string_view value, expectation expected,
                              key_lifetime lifetime = key_lifetime::persistent);
  std::uint64_t append(std::string_view key, std::string_view more);
  std::string get(std::string_view key, time_limit timeout = core::timeout_default);
  std::vector<key_value> get_all(std::vector<std::string> keys,
                                 time_limit timeout = core::timeout_default);
  std::optional<std::string> try_get(std::string_view key);
  std::vector<key_value> list(std::string_view directory);
  bool remove(std::string_view key);
  std::uint64_t remove_tree(std::string_view directory, remove_mode mode = remove_mode::tree);
  std::int64_t increment(std::string_view key, std::int64_t by = 1);
  std::uint64_t count(std::string_view directory = {});
  blocking_key_watch watch(std::string_view directory, std::optional<std::uint64_t> after = {});
  std::uint64_t push(std::string_view queue, std::string_view value);
  queue_item pop(std::string_view queue, time_limit timeout = core::timeout_default);
  std::uint64_t lock(std::string_view name, time_limit timeout = core::timeout_default);
  std::optional<std::uint64_t> try_lock(std::string_view name);
  void unlock(std::string_view name, std::uint64_t token);
  void report_error(errc code, std::string_view message);
  void leave(time_limit timeout = core::timeout_default);
  void leave(leave_options options);
  core::snapshot inspect();
  core::why_answer why();
  void report_progress(std::uint64_t step);
  void preempt(time_limit in = duration{}, std::optional<task_id> who = {});
  bool reached_sync_point(std::uint64_t step);
  core::global_topology exchange_topology(std::string_view platform, core::local_topology mine,
                                          time_limit timeout = core::timeout_default);

  // Waits for a failure of the job, or that the coordinator is lost for good; none if `timeout`
  // passes without one.
  std::optional<job_error> failure(time_limit timeout = without_limit);

  // Ends the session as the destructor does; calls that other threads have open throw CANCELLED,
  // as do later ones. A second call changes nothing. Does not throw, also after fork.
  void close() noexcept;

  [[nodiscard]] std::uint64_t reconnects() const;
  [[nodiscard]] std::uint32_t num_tasks() const;
  [[nodiscard]] core::role role() const;
  [[nodiscard]] std::optional<task_id> task() const;
  [[nodiscard]] coxswain::incarnation incarnation() const;

 private:
  friend class blocking_key_watch;
  friend class blocking_process_monitor;
  std::unique_ptr<client_worker> worker_;
};

}  // namespace coxswain
