#pragma once
// One descriptor that a poller watches, edge-triggered, and the owned_coroutine that reads from it.
// An edge says that something arrived since the last one: read until a read comes back short, and
// only then wait again.
//
//   net::owned_coroutine reader::loop() {
//     for (;;) {
//       co_await ready_.readable();
//       ... read until would_block, or until a read was short and !ready_.hung_up()
//     }
//   }
//
// Must be destroyed before its descriptor is closed and before its poller. Not by its own
// owned_coroutine.

#include <coroutine>
#include <cstdint>
#include <utility>

namespace coxswain::net {

class poller;

// Whose descriptor is watched.
class watched {
 public:
  // The descriptor takes bytes, as `want_write` asked for.
  virtual void has_room() noexcept = 0;

  // Its owned_coroutine will go on soon: asks for the memory that this takes (base/prefetch).
  virtual void expect_read() const noexcept = 0;

 protected:
  ~watched() = default;
};

class readiness {
 public:
  // Watches `descriptor`, which belongs to `owner`, if anybody wants to know more than the
  // owned_coroutine. Throws coxswain::error: RESOURCE_EXHAUSTED, the kernel refuses to watch one
  // more.
  readiness(poller& by, int descriptor, watched* owner = nullptr);
  ~readiness();
  readiness(readiness const&) = delete;
  readiness& operator=(readiness const&) = delete;

  // Waits for the next edge; goes on at once if there was one since the last wait.
  [[nodiscard]] auto readable() noexcept { return awaiter{*this, wait::edge}; }

  // Waits for the next iteration: who found a lot to read lets the others have theirs. What arrived
  // meanwhile is to be read then; no edge is owed for it.
  [[nodiscard]] auto next_iteration() noexcept { return awaiter{*this, wait::iteration}; }

  // As if an edge had come: the owned_coroutine goes on if it waits for one.
  void poke();

  // The same in the next iteration.
  void poke_next_iteration();

  // The peer sends no more, or the connection broke: no further edge will come, so read to the end.
  [[nodiscard]] bool hung_up() const noexcept { return hung_up_; }

  // Whether `watched::has_room` is called when the descriptor takes bytes; at first it is not. Each
  // time it is wanted, it is called once at least, in a later iteration, even if the descriptor
  // takes bytes already. Costs a system call, which is why writing is tried first.
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
    void await_suspend(std::coroutine_handle<> owned_coroutine) const {
      of.suspend(owned_coroutine, what);
    }
    void await_resume() const noexcept {}
  };

  void prefetch() const noexcept;
  void suspend(std::coroutine_handle<> owned_coroutine, wait what);
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
