#pragma once
// Shares a loop iteration among connections, by deficit round-robin. Work is counted in steps: a
// message is one, each 4 KiB of it and each key or task that it makes the core visit another one.
//
// In an iteration each connection may use `quantum` steps, and goes into debt with a message that
// costs more. Further messages wait, in order. In the next iteration each connection has a second
// quantum; messages that wait even then are beyond its share, and those connections have
// `quanta_beyond_share` quanta together, round-robin. All connections that act for no task have
// `iteration_steps` together; then they wait for the next iteration, in order. Those that nobody
// visits in each iteration (routes) wait in a queue, which has half of these steps and what the
// others leave.
//
// Not thread-safe. Not here: the messages that wait (dispatch).

#include "coxswain/base/fifo.hpp"
#include "coxswain/base/ids.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/core/coordinator.hpp"
#include "coxswain/server/wait_counts.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace coxswain::server {

class step_scheduler {
 public:
  static constexpr std::int64_t quantum = 256;
  static constexpr std::size_t quanta_beyond_share = 4;
  static constexpr std::int64_t iteration_steps = 6 * quantum;

  // The steps of one connection.
  struct account {
    bool waits{};    // it has messages, but no steps left
    bool is_late{};  // it has used up a quantum since it had no messages left
    bool is_beyond_share{};
    bool acts_for_tasks{};       // as of when it last had to wait for others
    bool queues{};               // waits for others in the queue
    bool is_queued{};            // is there
    std::int64_t left{quantum};  // below zero: its debt
    std::uint64_t iteration{};   // of the last refill
    std::uint64_t waits_from{};  // the iteration in which it began to wait; zero: it does not
    time_point waits_since;      // the same, by the clock
  };

  // `core` counts steps, and must outlive it.
  explicit step_scheduler(core::coordinator const& core) : core_{core} {}

  // An iteration begins: waiting connections get another quantum. `account_of` finds the account of
  // a connection_id; null if it is gone. Throws std::bad_alloc: some get it only in the next one.
  template <class Find>
  void begin(Find account_of);

  // Adds the quanta of the iterations since the connection was last served.
  void refill(account& of) const {
    if (of.iteration == iteration_) return;
    auto const earned = static_cast<std::int64_t>(iteration_ - of.iteration) * quantum;
    of.left = std::min(of.left + earned, quantum);
    of.iteration = iteration_;
  }

  // Whether the connection may take another message in this iteration.
  [[nodiscard]] bool may_go_on(connection_id who, account& of) const {
    return of.left > 0 && (has_steps_for(of) || acts_for_tasks(who, of));
  }

  // After the connections that are visited in each iteration: what is left of its steps is for
  // those that are not.
  void begin_queue() noexcept { reserved_ = 0; }
  // Those in the queue go on, as far as the steps go. `go_on` serves a connection_id, which waits
  // no more, and returns its account; null if it is gone.
  template <class GoOn>
  void serve_queue(GoOn go_on);
  [[nodiscard]] bool has_queue() const noexcept { return !queue_.empty(); }

  // A message of this size was taken, and the core has handled it.
  void charge(account& to, std::size_t bytes) {
    auto const steps = core_.counts().steps;
    auto const cost = static_cast<std::int64_t>(1 + bytes / bytes_per_step + (steps - charged_));
    to.left -= cost;
    if (!to.acts_for_tasks) iteration_steps_left_ -= cost;
    charged_ = steps;
  }

  // The core's steps so far are charged to nobody.
  void charge_nobody() { charged_ = core_.counts().steps; }

  // The connection has more, and may not go on; or it has nothing left.
  void wait(time_point now, connection_id who, account& of);
  void waits_no_more(connection_id who, account& of) {
    if (of.waits_from != 0) end_wait(who, of);
  }

  // No deadline expires that is later than the receipt of a message that waits within its share.
  [[nodiscard]] time_point limited(time_point now) const {
    if (!queue_.empty()) now = std::min(now, queue_.front().since);
    return waits_since_ ? std::min(now, *waits_since_) : now;
  }

  // How long connections waited whose messages did not fit into their quantum, in iterations.
  [[nodiscard]] wait_counts const& waits() const noexcept { return waits_; }
  [[nodiscard]] std::uint64_t worker_wait_max() const noexcept { return worker_wait_max_; }
  // The most steps in one iteration of connections that act for no task.
  [[nodiscard]] std::int64_t steps_max() const noexcept { return steps_max_; }

 private:
  static constexpr std::size_t bytes_per_step = 4096;  // so many of a message cost one more

  void begin_iteration();
  void grant(account& to) const;
  void end_wait(connection_id who, account& of);
  [[nodiscard]] bool acts_for_tasks(connection_id who, account& of) const;
  // While connections wait in the queue, others get only the steps that are not reserved for it.
  [[nodiscard]] bool has_steps_for(account const& of) const noexcept {
    return iteration_steps_left_ > reserved_ && (reserved_ == 0 || !of.queues);
  }

  struct queued {
    connection_id who;
    time_point since;
  };

  core::coordinator const& core_;
  std::uint64_t iteration_{1};
  std::uint64_t charged_{};                 // of the core's steps
  std::vector<connection_id> late_;         // began to wait in this iteration, within their share
  std::deque<connection_id> beyond_share_;  // wait, round-robin
  fifo<queued> queue_;                      // by `since`
  std::int64_t iteration_steps_left_{iteration_steps};
  std::int64_t reserved_{};                // of these, for the queue
  std::optional<time_point> waits_since_;  // the oldest message that other connections hold up
  std::int64_t steps_max_{};
  wait_counts waits_;
  std::uint64_t worker_wait_max_{};
};

template <class Find>
void step_scheduler::begin(Find account_of) {
  begin_iteration();
  for (auto const id : late_) {
    if (auto* const payer = account_of(id); payer != nullptr) grant(*payer);
  }
  late_.clear();
  std::size_t granted = 0;
  for (auto n = beyond_share_.size(); n > 0 && granted < quanta_beyond_share; --n) {
    auto const id = beyond_share_.front();
    if (auto* const payer = account_of(id); payer != nullptr) {
      grant(*payer);
      if (payer->waits) {
        beyond_share_.push_back(id);  // without memory it stays where it is
      } else {
        ++granted;
      }
    }
    beyond_share_.pop_front();
  }
}

template <class GoOn>
void step_scheduler::serve_queue(GoOn go_on) {
  while (!queue_.empty() && iteration_steps_left_ > 0) {
    if (auto* const payer = go_on(queue_.front().who); payer != nullptr) {
      if (payer->waits && payer->is_queued) return;  // for more steps
      payer->is_queued = false;
    }
    queue_.pop_front();
  }
}

inline void step_scheduler::begin_iteration() {
  ++iteration_;
  steps_max_ = std::max(steps_max_, iteration_steps - iteration_steps_left_);
  iteration_steps_left_ = iteration_steps;
  reserved_ = queue_.empty() ? 0 : iteration_steps / 2;
  waits_since_.reset();
}

inline void step_scheduler::grant(account& to) const {
  to.left = std::min(to.left + quantum, quantum);
  to.iteration = iteration_;
  to.waits = to.left <= 0;
}

}  // namespace coxswain::server
