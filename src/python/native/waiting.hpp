#pragma once
// How a thread of Python's waits: without the GIL, and on the main thread so that signal handlers
// run meanwhile, as Ctrl-C wants it.

#include "python/native/bell.hpp"
#include "python/native/news.hpp"
#include "python/native/python.hpp"

#include <functional>

namespace coxswain::python {

// Without the GIL while it lives. On a thread that holds it.
class gil_released {
 public:
  gil_released();
  ~gil_released();
  gil_released(gil_released const&) = delete;
  gil_released& operator=(gil_released const&) = delete;

 private:
  PyThreadState* state_;
};

// Waits until the bell rings. When a signal handler raises, or the limit has passed, `give_up` is
// to see to it that the bell rings soon; then the exception is thrown (error_already_set), or the
// answer is false. What there is to `say` meanwhile is logged, within a quarter of a second.
bool wait_for(bell& of, std::function<void()> const& give_up, duration limit = without_limit,
              news* say = nullptr);

// A call from Python, with all that it runs of Python's in the end, while it lives. The interpreter
// must not end meanwhile: it would end the thread in the midst of C++, which cannot be unwound so.
// Once others are kept out, a thread that begins a call sleeps for ever, until the process ends.
class call_inside {
 public:
  call_inside();
  ~call_inside();
  call_inside(call_inside const&) = delete;
  call_inside& operator=(call_inside const&) = delete;
};

// From now on only this thread's calls begin. With the GIL, when the interpreter is about to end.
void keep_others_out() noexcept;

// How many threads are inside, or without the GIL and will want it back.
[[nodiscard]] int threads_away() noexcept;

}  // namespace coxswain::python
