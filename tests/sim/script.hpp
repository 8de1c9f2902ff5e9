#pragma once
// A script of a simulated process: a coroutine that awaits the replies to its calls.

#include <coroutine>
#include <exception>
#include <utility>

namespace coxswain::sim {

class script {
 public:
  struct promise_type {
    script get_return_object() {
      return script{std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };

  script() = default;
  explicit script(std::coroutine_handle<promise_type> handle) : handle_{handle} {}
  script(script&& other) noexcept : handle_{std::exchange(other.handle_, nullptr)} {}
  script& operator=(script&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~script() {
    if (handle_) handle_.destroy();
  }

  void start() { handle_.resume(); }
  [[nodiscard]] bool done() const { return !handle_ || handle_.done(); }

 private:
  std::coroutine_handle<promise_type> handle_;
};

}  // namespace coxswain::sim
