#pragma once
// The calls of a client before they begin: client passes them to a completion token,
// blocking_client starts them on its thread. Each copies its arguments. Not here: what the calls
// mean, and their errors (client).
//
// Thread-safe, but a call must begin on the client's executor.

#include "coxswain/client/call_options.hpp"
#include "coxswain/client/holdings.hpp"
#include "coxswain/client/initiation.hpp"
#include "coxswain/client/key_watch.hpp"
#include "coxswain/client/keys.hpp"
#include "coxswain/client/results.hpp"
#include "coxswain/core/model/messages.hpp"

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coxswain {

class client;
struct client_options;

// How the numbers of the tasks are combined.
enum class reduction : std::uint8_t { sum, min, max };

// How the bits of the tasks are combined: set if all, or if any of them has it set.
enum class bitwise : std::uint8_t { all, any };

namespace detail {

class connection;

// Null if the client has no session.
std::shared_ptr<connection> const& connection_of(client const& of);

// None if 64 bits cannot hold it.
template <std::integral Whole>
std::optional<std::int64_t> operand_of(Whole number) {
  if (!std::in_range<std::int64_t>(number)) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

class client_calls {
 public:
  client_calls() = default;
  explicit client_calls(std::shared_ptr<connection> at) : at_{std::move(at)} {}

  // Null if there is no session. The calls throw FAILED_PRECONDITION then.
  [[nodiscard]] std::shared_ptr<connection> const& at() const noexcept { return at_; }

  static asio::awaitable<client> connect(client_options options);
  static asio::awaitable<client> connect_and_join(client_options options, join_options join);
  asio::awaitable<void> close();
  asio::awaitable<bool> join(join_options const& options) const;
  asio::awaitable<void> leave(leave_options const& options) const;
  call<void> reset(call_options const& options) const;

  call<round_number> barrier(std::string_view name, barrier_options const& options) const;
  call<std::vector<std::string>> all_gather(std::string_view name, std::string_view data,
                                            barrier_options const& options) const;
  // OUT_OF_RANGE: the operand does not fit.
  call<std::int64_t> reduce(std::string_view name, std::optional<std::int64_t> operand,
                            reduction how, barrier_options const& options) const;
  call<double> reduce(std::string_view name, double operand, reduction how,
                      barrier_options const& options) const;
  call<std::string> reduce_bits(std::string_view name, std::string_view operand, bitwise how,
                                barrier_options const& options) const;
  call<round_number> all_equal(std::string_view name, std::string_view data,
                               barrier_options const& options) const;
  call<void> cancel_barrier(std::string_view name, std::optional<round_number> round,
                            call_options const& options) const {
    return ask<void>(core::cancel_barrier_args{std::string{name}, round}, options);
  }
  call<round_number> count_barrier(std::string_view name, std::uint32_t count,
                                   call_options const& options) const {
    return ask<round_number>(core::count_barrier_args{std::string{name}, count}, options);
  }

  call<std::vector<process>> alive_tasks(task_list tasks, call_options const& options) const {
    return ask<std::vector<process>>(core::alive_args{std::move(tasks).ids()}, options);
  }
  call<tasks_result> watch_tasks(std::optional<std::uint64_t> after,
                                 watch_options const& options) const {
    return ask<tasks_result>(core::watch_tasks_args{after}, options);
  }
  call<events_result> watch_events(std::optional<std::uint64_t> after,
                                   events_options const& options) const {
    return ask<events_result>(core::watch_events_args{after, options.at_least, {}, options.last},
                              options);
  }
  call<global_topology> exchange_topology(std::string_view platform, local_topology mine,
                                          call_options const& options) const {
    return ask<global_topology>(
        core::exchange_topology_args{std::string{platform}, std::move(mine)}, options);
  }
  call<epoch> next_epoch(epoch_options const& options) const {
    return ask<epoch>(core::next_epoch_args{.shrink_only = options.shrink_only}, options);
  }
  [[nodiscard]] epoch last_epoch() const;
  call<std::optional<epoch_end>> epoch_wanted() const;
  asio::awaitable<coxswain::epoch_members> epoch_members(call_options const& options) const;
  call<void> resize(std::uint32_t num_tasks, call_options const& options) const {
    return ask<void>(core::resize_args{num_tasks}, options);
  }
  call<void> end_job(core::job_end how, std::string_view reason,
                     call_options const& options) const {
    return ask<void>(core::end_job_args{how, std::string{reason}}, options);
  }
  asio::awaitable<job_status> inspect(call_options const& options) const;
  call<why_result> why(call_options const& options) const {
    return ask<why_result>(core::why_args{}, options);
  }
  call<job_error> failure() const;
  call<void> report_error(errc code, std::string_view message, call_options const& options) const {
    return ask<void>(core::report_error_args{status{code, std::string{message}}}, options);
  }
  call<void> report_progress(std::uint64_t step, call_options const& options) const {
    return ask<void>(core::report_progress_args{step}, options);
  }
  call<void> preempt(time_limit in, std::optional<task_id> who, call_options const& options) const;
  call<bool> reached_sync_point(std::uint64_t step) const;

  call<std::uint64_t> put(std::string_view key, std::string_view value,
                          put_options const& options) const;
  call<std::uint64_t> put_all(std::vector<std::pair<std::string, std::string>> entries,
                              put_options const& options) const;
  call<swap_result> compare_and_set(std::string_view key, std::string_view value,
                                    expectation expected, key_lifetime lifetime,
                                    call_options const& options) const;
  call<std::uint64_t> append(std::string_view key, std::string_view more,
                             call_options const& options) const {
    return ask<std::uint64_t>(core::append_args{std::string{key}, std::string{more}}, options);
  }
  call<std::string> get(std::string_view key, call_options const& options) const {
    return ask<std::string>(core::get_args{std::string{key}}, options);
  }
  call<std::vector<key_value>> get_all(std::vector<std::string> keys,
                                       call_options const& options) const {
    return ask<std::vector<key_value>>(core::get_all_args{std::move(keys)}, options);
  }
  call<std::optional<std::string>> try_get(std::string_view key, call_options const& options) const;
  asio::awaitable<std::vector<key_value>> list(std::string_view directory,
                                               call_options const& options) const;
  call<std::uint64_t> count(std::string_view directory, call_options const& options) const {
    return ask<std::uint64_t>(core::count_keys_args{std::string{directory}}, options);
  }
  asio::awaitable<key_watch> watch(std::string_view directory, std::optional<std::uint64_t> after,
                                   call_options const& options) const;
  call<bool> remove(std::string_view key, call_options const& options) const {
    return ask<bool>(core::remove_args{std::string{key}}, options);
  }
  asio::awaitable<std::uint64_t> remove_tree(std::string_view directory, remove_mode mode,
                                             call_options const& options) const;
  call<std::int64_t> increment(std::string_view key, std::int64_t by,
                               call_options const& options) const {
    return ask<std::int64_t>(core::increment_args{std::string{key}, by}, options);
  }
  call<std::uint64_t> push(std::string_view queue, std::string_view value,
                           call_options const& options) const {
    return ask<std::uint64_t>(core::push_args{std::string{queue}, std::string{value}}, options);
  }
  call<std::uint64_t> queue_length(std::string_view queue, call_options const& options) const {
    return ask<std::uint64_t>(core::count_keys_args{std::string{queue}, true}, options);
  }
  call<queue_item> pop(std::string_view queue, call_options const& options) const;
  call<taken_item> take(std::string_view queue, take_options const& options) const;
  call<void> finish(queue_item const& item, call_options const& options) const {
    return ask<void>(core::update_lease_args{item.number, item.redeliveries}, options);
  }
  call<void> release(queue_item const& item, call_options const& options) const {
    return ask<void>(
        core::update_lease_args{item.number, item.redeliveries, core::lease_change::release},
        options);
  }
  call<void> extend(queue_item const& item, time_limit lease, call_options const& options) const {
    return ask<void>(
        core::update_lease_args{item.number, item.redeliveries, core::lease_change::extend, lease},
        options);
  }
  // Without waiting for the outcome; from any thread.
  void give_back(queue_item const& item) const noexcept;
  void give_back(std::string lock, std::uint64_t token) const noexcept;
  call<std::uint64_t> lock(std::string_view name, call_options const& options) const {
    return ask<std::uint64_t>(core::lock_args{std::string{name}}, options);
  }
  call<held_lock> locked(std::string_view name, call_options const& options) const;
  call<std::optional<std::uint64_t>> try_lock(std::string_view name,
                                              call_options const& options) const;
  call<void> unlock(std::string_view name, std::uint64_t token, call_options const& options) const {
    return ask<void>(core::unlock_args{std::string{name}, token}, options);
  }

 private:
  // One request, whose row says what its answer gives.
  template <class T>
  [[nodiscard]] call<T> ask(core::request what, call_options const& options) const;

  std::shared_ptr<connection> at_;
};

}  // namespace detail
}  // namespace coxswain
