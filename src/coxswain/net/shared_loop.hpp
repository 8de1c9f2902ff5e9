#pragma once
// An io_context that one thread at a time runs: its own, or one that waits for the result of a call
// and does the I/O of that call itself, so that neither the request nor the reply has to wake
// another thread. Not here: what runs in it (client/blocking_worker).
//
// The own thread runs the loop while nobody calls. A caller asks it to pause, and it continues when
// no call has come for a moment, or at once if a call is left to it: one that begins while another
// caller runs the loop, or one that takes longer than a caller may run the loop, since only a
// thread that merely waits is woken by a signal. While a call is left to it, no caller asks for the
// loop.

#include "coxswain/base/time.hpp"
#include "coxswain/net/asio.hpp"
#include "coxswain/net/signals_blocked.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>

namespace coxswain::net {

class shared_loop {
 public:
  shared_loop() : work_{io_.get_executor()} {
    signals_blocked const blocked;
    thread_ = std::thread{[this] { run(); }};
  }
  ~shared_loop() { join(); }
  shared_loop(shared_loop const&) = delete;
  shared_loop& operator=(shared_loop const&) = delete;

  [[nodiscard]] asio::io_context& context() noexcept { return io_; }

  // From now on only the own thread runs the loop.
  void keep() {
    std::lock_guard const lock{mutex_};
    is_kept_ = true;
  }

  // Runs this soon. From any thread. What is posted to the context instead, while nobody runs it,
  // is run when the next call begins or the own thread continues.
  template <class Work>
  void post(Work work) {
    asio::post(io_, std::move(work));
    std::lock_guard const lock{mutex_};
    want_own_thread();
  }

  // A thread in a call. It posts the beginning of the call to the context, and then calls `run`.
  class caller {
   public:
    explicit caller(shared_loop& on) : on_{on} {}
    ~caller() {
      if (!waits_) return;
      std::lock_guard const lock{on_.mutex_};
      --on_.waiting_;
    }
    caller(caller const&) = delete;
    caller& operator=(caller const&) = delete;

    // Runs the loop on this thread, if it may, until the call has ended, for a moment, at most
    // `limit`. Returns whether the call has ended; the caller waits for it otherwise. Once.
    template <class HasEnded>
    bool run(HasEnded has_ended, duration limit) {
      std::unique_lock lock{on_.mutex_};
      bool ended = false;
      if (on_.take(lock)) {
        lock.unlock();
        ended = on_.run_until(has_ended, std::min(limit, turn_max));
        lock.lock();
        on_.user_ = user::none;
        ++on_.turns_;
      }
      waits_ = !ended;
      if (waits_) ++on_.waiting_;
      if (on_.waiting_ > 0 || on_.is_wanted_ || on_.io_.stopped()) on_.want_own_thread();
      return ended;
    }

   private:
    shared_loop& on_;
    bool waits_{};
  };

  // The loop ends when all its work is done.
  void release_work() { work_.reset(); }

  // Waits for the own thread to end, after release_work.
  void join() {
    if (thread_.joinable()) thread_.join();
  }

  // Whether this thread runs the loop: then it runs a callback.
  [[nodiscard]] bool is_here() const noexcept { return std::this_thread::get_id() == runner_; }

 private:
  enum class user : std::uint8_t { none, own_thread, caller };

  class set_while_alive {
   public:
    explicit set_while_alive(std::atomic<bool>& flag) : flag_{flag} { flag_ = true; }
    ~set_while_alive() { flag_ = false; }
    set_while_alive(set_while_alive const&) = delete;
    set_while_alive& operator=(set_while_alive const&) = delete;

   private:
    std::atomic<bool>& flag_;
  };

  // How long one call runs the loop, and how long it waits until it can.
  static constexpr duration turn_max = 10ms;

  // How long the own thread leaves the loop to callers after a call.
  static constexpr duration pause = 2ms;

  // Whether the calling thread has the loop now. With the lock.
  bool take(std::unique_lock<std::mutex>& lock) {
    if (is_kept_) return false;
    if (user_ == user::own_thread && waiting_ == 0 && !is_asked_) {
      set_while_alive const asks{is_asked_};
      asio::post(io_, [] {});
      handed_over_.wait_for(lock, turn_max, [this] { return user_ != user::own_thread; });
    }
    if (user_ != user::none) return false;
    user_ = user::caller;
    return true;
  }

  // A handler that throws ends the program, on each thread.
  template <class HasEnded>
  bool run_until(HasEnded& has_ended, duration limit) noexcept {
    auto const until = std::chrono::steady_clock::now() + limit;
    runner_ = std::this_thread::get_id();
    bool ended = has_ended();
    while (!ended && io_.run_one_until(until) > 0) ended = has_ended();
    runner_ = std::thread::id{};
    return ended;
  }

  // With the lock.
  void want_own_thread() {
    if (user_ == user::own_thread && !is_asked_) return;
    is_wanted_ = true;
    if (user_ == user::none) wanted_.notify_one();
  }

  void run() {
    std::unique_lock lock{mutex_};
    while (!io_.stopped()) {
      user_ = user::own_thread;
      is_wanted_ = false;
      lock.unlock();
      runner_ = std::this_thread::get_id();
      while (!is_asked_ && io_.run_one() > 0) {
      }
      runner_ = std::thread::id{};
      lock.lock();
      if (!is_asked_ && !io_.stopped()) continue;  // the caller has given up
      user_ = user::none;
      handed_over_.notify_one();
      if (!io_.stopped()) leave_it_to_callers(lock);
    }
  }

  void leave_it_to_callers(std::unique_lock<std::mutex>& lock) {
    auto const is_free = [this] { return user_ == user::none && !is_asked_; };
    auto const is_due = [&] { return is_wanted_ && is_free(); };
    for (auto seen = turns_; !wanted_.wait_for(lock, pause, is_due); seen = turns_) {
      if (is_free() && turns_ == seen) return;
    }
  }

  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::atomic<std::thread::id> runner_{};
  std::atomic<bool> is_asked_{};  // a caller waits until the own thread pauses; set with the lock

  std::mutex mutex_;                     // of what follows
  std::condition_variable wanted_;       // by the own thread
  std::condition_variable handed_over_;  // to a caller
  user user_{user::own_thread};
  bool is_wanted_{};
  bool is_kept_{};
  int waiting_{};          // calls that are left to the own thread
  std::uint64_t turns_{};  // of callers

  std::thread thread_;
};

}  // namespace coxswain::net
