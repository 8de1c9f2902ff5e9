#pragma once
// Readiness of many descriptors, a loop iteration at a time, on an existing io_context. Asio
// watches one descriptor, our own epoll's; a loop iteration takes the ready ones from it, resumes
// their coroutines, and ends with one call for all. So a message costs one read and a reply one
// write: no speculative read that fails, no epoll_ctl, no allocation. Where the io_context has a
// thread of its own, `run` turns this around: our epoll watches Asio's, and the thread sleeps in
// ours, so that a message costs one wait instead of two. Not here: reading and writing
// (byte_stream), and the use of the bytes.
//
// Not thread-safe: everything happens on the io_context's one thread. May be destroyed at any time
// outside of drain, also by iteration_ends, and may outlive the io_context, after which it does
// nothing.

#include "coxswain/base/time.hpp"
#include "coxswain/net/asio.hpp"
#include "coxswain/net/context_end.hpp"
#include "coxswain/net/descriptor.hpp"
#include "coxswain/net/spin.hpp"

#include <sys/epoll.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace coxswain::net {

class readiness;

// The owner of the iterations.
class iteration_owner {
 public:
  // Before anything is read in this iteration; returns the iteration's time.
  virtual time_point iteration_begins() noexcept = 0;
  // Everything that was ready at the iteration's beginning has been handled.
  virtual void iteration_ends() noexcept = 0;

 protected:
  ~iteration_owner() = default;
};

class poller {
 public:
  // After an iteration with events it polls for `spinning` before it sleeps. Meanwhile the
  // io_context's other work continues. Throws coxswain::error: RESOURCE_EXHAUSTED, no descriptor
  // for an epoll.
  poller(asio::io_context& context, iteration_owner& owner, duration spinning = {});
  ~poller();
  poller(poller const&) = delete;
  poller& operator=(poller const&) = delete;

  // From now on a loop iteration runs whenever something is ready, and the io_context has work.
  void start();

  // Runs the io_context as its own `run` does, until it has no work or is stopped. Its descriptors
  // and timers wake it, but no handlers that other threads post; an iteration that posts handlers
  // or stops the io_context calls `let_context_run`. From the first call on, iterations run in here
  // only. Throws what handlers throw, and as the constructor does.
  void run();
  void let_context_run() noexcept { context_is_ready_ = true; }

  // Ends iterations and the io_context's work, permanently.
  void close() noexcept;

  // A loop iteration soon, even if nothing becomes ready.
  void request_iteration();

  // A loop iteration at `deadline` at the latest; none is needed if empty. An earlier request may
  // still cause an earlier iteration: moving a timer costs more than a loop iteration that finds
  // nothing to do.
  void wake_at(std::optional<time_point> deadline);

 private:
  friend class readiness;

  struct slot {
    readiness* who{};
    std::uint32_t generation{};
  };
  // Asio's objects, which must be destroyed before the io_context.
  struct loop {
    loop(asio::io_context& on, int events) : context{on}, epoll{on, events}, alarm{on} {}
    asio::io_context& context;
    // With the context's own executor: each wait through any_io_executor costs more.
    asio::posix::basic_stream_descriptor<asio::io_context::executor_type> epoll;
    asio::basic_waitable_timer<std::chrono::steady_clock,
                               asio::wait_traits<std::chrono::steady_clock>,
                               asio::io_context::executor_type>
        alarm;
    descriptor own_epoll;  // `run` takes it from Asio
  };

  std::uint64_t add(readiness* who, int descriptor);
  void remove(std::uint64_t key, int descriptor) noexcept;
  void watch_writing(std::uint64_t key, int descriptor, bool wanted);
  void postpone(std::uint64_t key);
  [[nodiscard]] readiness* find(std::uint64_t key) const noexcept;

  bool take_over();
  bool sleep();
  void arm();
  void serve_ready();
  bool spin_finds();
  void pause();
  std::size_t run_iteration();  // returns the number of events
  void resume_postponed();
  std::size_t drain();
  bool look();
  void wait(int milliseconds) noexcept;
  void happened(epoll_event const& event);

  iteration_owner& owner_;
  int epoll_;  // owned by loop_
  std::optional<loop> loop_;
  std::vector<slot> slots_;
  std::vector<std::uint32_t> free_;
  std::vector<epoll_event> events_;
  time_point iteration_at_;
  spin spin_;
  int seen_{};                            // the number of events not yet taken by drain
  std::vector<std::uint64_t> postponed_;  // waiting for the next iteration
  std::vector<std::uint64_t> resuming_;
  std::optional<time_point> alarm_at_;
  bool started_{};
  bool iteration_requested_{};
  bool is_running_{};              // `run` was called
  bool context_is_ready_{};        // it has handlers to run; for `run`
  std::shared_ptr<poller> alive_;  // owns nothing: lets handlers detect whether we are alive
  context_end context_end_;
};

}  // namespace coxswain::net
