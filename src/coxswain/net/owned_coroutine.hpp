#pragma once
// A coroutine that belongs to an object: a connection's read loop, a listener's accept loop. It
// begins with start(), is resumed by the poller directly, without Asio's machinery, and is
// destroyed with its owner wherever it is suspended. Not here: a result, and being awaited.
//
// An owned_coroutine must not be destroyed while it runs: an object that ends itself must be
// destroyed later, such as at the end of the iteration.

#include <coroutine>
#include <exception>
#include <utility>

namespace coxswain::net {

class [[nodiscard]] owned_coroutine {
 public:
  struct promise_type {
    owned_coroutine get_return_object() noexcept {
      return owned_coroutine{std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    // An exception ends the coroutine and is not passed to the code that resumed it.
    void unhandled_exception() noexcept { failure = std::current_exception(); }

    std::exception_ptr failure;
  };

  owned_coroutine() = default;
  owned_coroutine(owned_coroutine&& other) noexcept
      : frame_{std::exchange(other.frame_, nullptr)} {}
  owned_coroutine& operator=(owned_coroutine&& other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~owned_coroutine() {
    if (frame_) frame_.destroy();
  }

  // Runs it to its first suspension. Once.
  void start() const { frame_.resume(); }

  // It has returned or thrown.
  [[nodiscard]] bool done() const noexcept { return frame_ && frame_.done(); }

  // The exception it threw; null if none.
  [[nodiscard]] std::exception_ptr failure() const noexcept {
    return frame_ ? frame_.promise().failure : nullptr;
  }

 private:
  explicit owned_coroutine(std::coroutine_handle<promise_type> frame) noexcept : frame_{frame} {}

  std::coroutine_handle<promise_type> frame_;
};

}  // namespace coxswain::net
