#pragma once
// One descriptor that a poller watches, edge-triggered, and the routine that reads from it. An
// edge says that something arrived since the last one: read until a read comes back short, and
// only then wait again.
//
//   net::routine reader::loop() {
//     for (;;) {
//       co_await ready_.readable();
//       ... read until would_block, or until a read was short and !ready_.hung_up()
//     }
//   }
//
// Must be destroyed before its descriptor is closed and before its poller. Not by its own routine.

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

  // Its routine will go on soon: asks for the memory that this takes (base/prefetch).
  virtual void expect_read() const noexcept = 0;

 protected:
  ~watched() = default;
};

class readiness {
 public:
  // Watches `descriptor`, which belongs to `owner`, if anybody wants to know more than the routine.
  // Throws coxswain::error: RESOURCE_EXHAUSTED, the kernel refuses to watch one more.
  readiness(poller& by, int descriptor, watched* owner = nullptr);
  ~readiness();
  readiness(readiness const&) = delete;
  readiness& operator=(readiness const&) = delete;

  // Waits for the next edge; goes on at once if there was one since the last wait.
  [[nodiscard]] auto readable() noexcept { return awaiter{*this, wait::edge}; }

  // Waits for the next turn: who found a lot to read lets the others have theirs. What arrived
  // meanwhile is to be read then; no edge is owed for it.
  [[nodiscard]] auto next_turn() noexcept { return awaiter{*this, wait::turn}; }

  // As if an edge had come: the routine goes on if it waits for one.
  void poke();

  // The same in the next turn.
  void poke_next_turn();

  // The peer sends no more, or the connection broke: no further edge will come, so read to the end.
  [[nodiscard]] bool hung_up() const noexcept { return hung_up_; }

  // Whether `watched::has_room` is called when the descriptor takes bytes; at first it is not. Each
  // time it is wanted, it is called once at least, in a later turn, even if the descriptor takes
  // bytes already. Costs a system call, which is why writing is tried first.
  void want_write(bool wanted);

 private:
  friend class poller;

  enum class wait : std::uint8_t { nothing, edge, turn };

  struct awaiter {
    readiness& of;
    wait what;

    [[nodiscard]] bool await_ready() const noexcept {
      return what == wait::edge && std::exchange(of.edge_, false);
    }
    void await_suspend(std::coroutine_handle<> routine) const { of.suspend(routine, what); }
    void await_resume() const noexcept {}
  };

  void expect() const noexcept;
  void suspend(std::coroutine_handle<> routine, wait what);
  void resume();

  poller& poller_;
  watched* owner_;
  std::coroutine_handle<> routine_;
  std::uint64_t key_{};
  int descriptor_;
  wait waits_for_{wait::nothing};
  bool edge_{};
  bool hung_up_{};
  bool wants_write_{};
};

}  // namespace coxswain::net
