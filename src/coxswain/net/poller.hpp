#pragma once
// Readiness of many descriptors, a turn at a time, inside somebody else's io_context. Asio watches
// one descriptor, our own epoll's; a turn takes what is ready from it, resumes the routines that
// wait, and ends with one call for everybody. So a message costs one read and a reply one write,
// and nothing more: no speculative read that fails, no epoll_ctl, no allocation.
// Not here: reading and writing (byte_stream), and what is done with the bytes.
//
// Not thread-safe: everything happens on the io_context's one thread. May be destroyed at any time
// outside of drain, also by turn_ends, and may outlive the io_context, after which it does nothing.

#include "coxswain/base/time.hpp"
#include "coxswain/net/asio.hpp"
#include "coxswain/net/context_end.hpp"
#include "coxswain/net/descriptor.hpp"

#include <sys/epoll.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace coxswain::net {

class readiness;

// Who the turns belong to.
class turn_taker {
 public:
  // Before anything is read in this turn; returns the moment of this turn.
  virtual time_point turn_begins() noexcept = 0;
  // Everything that was ready at the turn's beginning has been handled.
  virtual void turn_ends() noexcept = 0;

 protected:
  ~turn_taker() = default;
};

class poller {
 public:
  // Throws coxswain::error: RESOURCE_EXHAUSTED, no descriptor for an epoll.
  poller(asio::io_context& context, turn_taker& taker);
  ~poller();
  poller(poller const&) = delete;
  poller& operator=(poller const&) = delete;

  // From now on there is a turn whenever something is ready, and the io_context has work.
  void start();

  // No more turns, and no more work for the io_context. For good.
  void close() noexcept;

  // A turn soon, even if nothing becomes ready.
  void request_turn();

  // A turn at `deadline` at the latest; none is needed if empty. An earlier request may still
  // cause an earlier turn: moving a timer costs more than a turn that finds nothing to do.
  void wake_at(std::optional<time_point> deadline);

 private:
  friend class readiness;

  struct slot {
    readiness* who{};
    std::uint32_t generation{};
  };
  // What belongs to Asio, and must be gone before the io_context is.
  struct loop {
    loop(asio::io_context& context, int events) : epoll{context, events}, alarm{context} {}
    // With the context's own executor: each wait through any_io_executor costs more.
    asio::posix::basic_stream_descriptor<asio::io_context::executor_type> epoll;
    asio::basic_waitable_timer<std::chrono::steady_clock,
                               asio::wait_traits<std::chrono::steady_clock>,
                               asio::io_context::executor_type>
        alarm;
  };

  std::uint64_t add(readiness* who, int descriptor);
  void remove(std::uint64_t key, int descriptor) noexcept;
  void watch_writing(std::uint64_t key, int descriptor, bool wanted);
  void postpone(std::uint64_t key);
  [[nodiscard]] readiness* find(std::uint64_t key) const noexcept;

  void arm();
  std::size_t turn();  // how many events it had
  void resume_postponed();
  std::size_t drain();
  bool look();
  void expect_after(int i, int count) const noexcept;
  void happened(epoll_event const& event);

  turn_taker& taker_;
  int epoll_;  // owned by loop_
  std::optional<loop> loop_;
  std::vector<slot> slots_;
  std::vector<std::uint32_t> free_;
  std::vector<epoll_event> events_;
  time_point turn_at_;
  int seen_{};                            // so many of them are there that drain has not taken
  std::vector<std::uint64_t> postponed_;  // who waits for the next turn
  std::vector<std::uint64_t> resuming_;
  std::optional<time_point> alarm_at_;
  bool started_{};
  bool turn_requested_{};
  std::shared_ptr<poller> alive_;  // owns nothing: handlers find out whether we still live
  context_end context_end_;
};

}  // namespace coxswain::net
