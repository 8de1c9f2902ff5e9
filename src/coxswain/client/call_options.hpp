#pragma once
// PUBLIC. The options of the client's calls. Each has constructors for the usual cases, public
// members, and chainable setters for temporaries: `barrier_options{60s, {0,
// 1}}.with_fail_when_lost()`. None is an aggregate: GCC 12 miscompiles those in a statement with
// co_await.

#include "coxswain/base/error.hpp"
#include "coxswain/base/ids.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/client/keys.hpp"
#include "coxswain/client/results.hpp"

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <ranges>
#include <utility>
#include <vector>

namespace coxswain {

template <class Number>
concept task_number = std::integral<Number> || std::same_as<Number, task_id>;

// Tasks of the job: `{0, 1}`, one number, or any range of numbers or task ids. Empty: all tasks.
// The call refuses a number that is no task's with INVALID_ARGUMENT.
class task_list {
 public:
  task_list() = default;

  // No std::initializer_list: GCC 12 rejects those in a statement with co_await.
  template <task_number First, task_number... More>
  task_list(First first, More... more) : ids_{task_id{first}, task_id{more}...} {}

  template <std::ranges::input_range Range>
  requires task_number<std::ranges::range_value_t<Range>> task_list(Range&& range) {
    for (auto const task : range) ids_.push_back(task_id{task});
  }

  [[nodiscard]] std::vector<task_id> const& ids() const& noexcept { return ids_; }
  [[nodiscard]] std::vector<task_id>&& ids() && noexcept { return std::move(ids_); }

 private:
  std::vector<task_id> ids_;
};

// For calls without further options.
class call_options {
 public:
  call_options() = default;
  template <class Rep, class Period>
  call_options(std::chrono::duration<Rep, Period> time) : timeout{time} {}

  // See "Deadlines" in client.hpp. If a call takes several requests, it applies to each.
  time_limit timeout{core::timeout_default};
};

// How to wait for the next epoch.
class epoch_options : public call_options {
 public:
  using call_options::call_options;
  epoch_options() = default;

  // Nobody new joins the next epoch.
  bool shrink_only{};

  epoch_options with_shrink_only() && { return shrink_only = true, std::move(*this); }
};

// How to wait for updates, by default without limit.
class watch_options : public call_options {
 public:
  watch_options() : call_options{without_limit} {}
  template <class Rep, class Period>
  watch_options(std::chrono::duration<Rep, Period> time) : call_options{time} {}
};

// Which events of the coordinator to return.
class events_options : public watch_options {
 public:
  using watch_options::watch_options;
  events_options() = default;
  events_options(severity from, time_limit time = without_limit)
      : watch_options{time}, at_least{from} {}

  severity at_least{severity::info};

  // Without a number to continue from: only this many of each severity. Zero: all that are kept.
  std::uint32_t last{};

  events_options with_last(std::uint32_t count) && { return last = count, std::move(*this); }
};

class join_options : public call_options {
 public:
  // With client_options::any the default timeout is no limit.
  using call_options::call_options;

  // Replace another incarnation that holds the task, at once, without probing whether it is alive.
  // Both must be recoverable.
  bool take_over{};

  join_options with_take_over(bool yes = true) && { return take_over = yes, std::move(*this); }
};

class leave_options : public call_options {
 public:
  // The timeout is how long the shutdown barrier may wait for the other tasks, if there is one.
  // Zero or negative: leave alone.
  using call_options::call_options;

  // The task has not finished: its next process must join within the coordinator's return_timeout
  // (10 min). It leaves at once and alone, and must be recoverable.
  bool returning{};

  leave_options with_returning(bool yes = true) && { return returning = yes, std::move(*this); }
};

// How to wait at a barrier of any kind.
class barrier_options : public call_options {
 public:
  using progress_callback = std::function<void(barrier_progress const&)>;

  barrier_options() = default;
  template <class Rep, class Period>
  barrier_options(std::chrono::duration<Rep, Period> time, task_list who = {})
      : call_options{time}, participants{std::move(who).ids()} {}

  // The participants, including the caller; empty: all tasks. The same for all callers of a round.
  std::vector<task_id> participants;

  // Fail as soon as a participant fails, even a recoverable one, instead of waiting for its return.
  // The same for all callers of a round.
  bool fail_when_lost{};

  // Called with the missing tasks while the caller waits, every `progress_every`: at least 1 ms,
  // and raised to 100 ms by the coordinator. On the client's executor; must not throw. Not called
  // after the call has ended.
  progress_callback on_progress;
  time_limit progress_every{1s};

  barrier_options with_fail_when_lost(bool yes = true) && {
    return fail_when_lost = yes, std::move(*this);
  }
  barrier_options with_progress(progress_callback call, time_limit every = 1s) && {
    return on_progress = std::move(call), progress_every = every, std::move(*this);
  }
};

// How to store a value.
class put_options : public call_options {
 public:
  put_options() = default;
  put_options(put_mode how, key_lifetime lives = key_lifetime::persistent)
      : mode{how}, lifetime{lives} {}
  put_options(key_lifetime lives) : lifetime{lives} {}

  put_mode mode{put_mode::create};
  key_lifetime lifetime{key_lifetime::persistent};

  put_options with_timeout(time_limit time) && { return timeout = time, std::move(*this); }
};

// How to take an item from a queue.
class take_options : public call_options {
 public:
  using call_options::call_options;
  take_options() = default;

  // How long the item may be worked on before it returns to its place; `without_limit`: until the
  // session ends.
  time_limit lease{core::lease_default};

  take_options with_lease(time_limit time) && { return lease = time, std::move(*this); }
};

}  // namespace coxswain
