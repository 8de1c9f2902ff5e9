#pragma once
// One descriptor that a poller watches, edge-triggered, and the coroutine that reads from it.
// An edge means that something arrived since the last one: read until a read is short, and only
// then wait again.
//
//   net::owned_coroutine reader::loop() {
//     for (;;) {
//       co_await ready_.readable();
//       ... read until would_block, or until a read was short and !ready_.hung_up()
//     }
//   }
//
// Must be destroyed before its descriptor is closed and before its poller. Not by its own
// coroutine.

#include <coroutine>
#include <cstdint>
#include <utility>

namespace coxswain::net {

class poller;

// The owner of the watched descriptor.
class watched {
 public:
  // The descriptor is writable, as requested by `want_write`.
  virtual void has_room() noexcept = 0;

 protected:
  ~watched() = default;
};

class readiness {
 public:
  // Watches `descriptor` and notifies `owner`, unless null, besides the coroutine. Throws
  // coxswain::error: RESOURCE_EXHAUSTED, the kernel refuses to watch one more.
  readiness(poller& by, int descriptor, watched* owner = nullptr);
  ~readiness();
  readiness(readiness const&) = delete;
  readiness& operator=(readiness const&) = delete;

  // Waits for the next edge; returns at once if there was one since the last wait.
  [[nodiscard]] auto readable() noexcept { return awaiter{*this, wait::edge}; }

  // Waits for the next iteration, so that others can read after a long read. Then read again: there
  // will be no edge for data that arrived meanwhile.
  [[nodiscard]] auto next_iteration() noexcept { return awaiter{*this, wait::iteration}; }

  // Simulates an edge: resumes the coroutine if it waits for one.
  void poke();

  // The same in the next iteration.
  void poke_next_iteration();

  // The peer sends no more, or the connection is broken: there will be no further edge, so read to
  // the end.
  [[nodiscard]] bool hung_up() const noexcept { return hung_up_; }

  // Whether `watched::has_room` is called when the descriptor is writable; initially not. After
  // each request it is called at least once, in a later iteration, even if the descriptor is
  // already writable. Costs a system call, so try to write first.
  void want_write(bool wanted);

 private:
  friend class poller;

  enum class wait : std::uint8_t { nothing, edge, iteration };

  struct awaiter {
    readiness& of;
    wait what;

    [[nodiscard]] bool await_ready() const noexcept {
      return what == wait::edge && std::exchange(of.edge_, false);
    }
    void await_suspend(std::coroutine_handle<> waiting) const { of.suspend(waiting, what); }
    void await_resume() const noexcept {}
  };

  void suspend(std::coroutine_handle<> waiting, wait what);
  void resume();

  poller& poller_;
  watched* owner_;
  std::coroutine_handle<> coroutine_;
  std::uint64_t key_{};
  int descriptor_;
  wait waits_for_{wait::nothing};
  bool edge_{};
  bool hung_up_{};
  bool wants_write_{};
};

}  // namespace coxswain::net
