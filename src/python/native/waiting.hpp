#pragma once
// How a Python thread waits: without the GIL, and on the main thread such that signal handlers run
// meanwhile, as needed for Ctrl-C.

#include "python/native/completion_event.hpp"
#include "python/native/log_queue.hpp"
#include "python/native/python.hpp"

#include <functional>

namespace coxswain::python {

// Releases the GIL while it lives. Create it on a thread that holds the GIL.
class gil_released {
 public:
  gil_released();
  ~gil_released();
  gil_released(gil_released const&) = delete;
  gil_released& operator=(gil_released const&) = delete;

 private:
  PyThreadState* state_;
};

// Waits until the event happens. When a signal handler raises, or the limit has passed, `give_up`
// must make the event happen soon; then the exception is thrown (error_already_set), or false is
// returned. Logs the entries of `say` meanwhile, within a quarter of a second. CANCELLED: the
// program has ended (end_waits), and this is not its main thread; `give_up` was called.
// `wait_first`: what waits first instead of the event, for a moment, at most the given time; true:
// the event has happened.
bool wait_for(completion_event& of, std::function<void()> const& give_up,
              duration limit = without_limit, log_queue* say = nullptr,
              std::function<bool(duration)> wait_first = {});

// Marks a call from Python while it lives, including the Python code that it runs at its end. The
// interpreter must not exit meanwhile: it would end the thread within C++ code, which cannot be
// unwound this way. Once other calls are blocked, a thread that begins one sleeps until the process
// ends.
class call_inside {
 public:
  call_inside();
  ~call_inside();
  call_inside(call_inside const&) = delete;
  call_inside& operator=(call_inside const&) = delete;
};

// Whether Python runs signal handlers on this thread.
[[nodiscard]] bool is_main_thread();

// On another thread, before each call: it calls the thread's hook. CANCELLED: the program has
// ended. With the GIL.
void begin_on_thread();

// The program has ended: wait_for throws on all threads but the main one, now and from now on. Else
// a thread that waits, which the interpreter joins at its exit, would keep it alive. With the GIL.
void end_waits() noexcept;

// Called once on each of these threads, before it first waits; with the GIL.
void set_thread_hook(py::object hook);

// From now on only this thread can begin calls. With the GIL, before interpreter exit.
void keep_others_out() noexcept;

// The number of threads inside calls, or without the GIL and about to take it again.
[[nodiscard]] int threads_away() noexcept;

}  // namespace coxswain::python
