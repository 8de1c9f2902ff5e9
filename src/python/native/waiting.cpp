#include "python/native/waiting.hpp"

#include "coxswain/base/error.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>
#include <thread>
#include <utility>

namespace coxswain::python {
namespace {

std::atomic<int> away{0};

// The kernel prefers the main thread for a signal, which ends its wait. A signal that arrives after
// Python has checked for signals and before the wait begins is handled after this time.
constexpr duration look_every = 50ms;

// How often the other threads check for log entries.
constexpr duration check_log_every = 250ms;

std::atomic<unsigned> forks{0};

// Guarded by the GIL.
bool is_ending = false;
std::thread::id ender;

// A thread, not the main one, in wait_for.
struct waiting_thread {
  std::function<void()> const& give_up;
  bool is_given_up{};
};

// Guarded by the GIL.
bool has_program_ended = false;
std::set<waiting_thread*>& waiting_threads() {
  static auto* const all = new std::set<waiting_thread*>;
  return *all;
}

// Lives as long as the interpreter.
PyObject* thread_hook = nullptr;

}  // namespace

// In a child it is the thread that called fork.
bool is_main_thread() {
  static int const watched = ::pthread_atfork(nullptr, nullptr, [] {
    ++forks;
    away = 0;  // those threads are the parent's
    waiting_threads().clear();
  });
  static_cast<void>(watched);
  thread_local bool known{};
  thread_local bool is_main{};
  thread_local unsigned as_of{};
  if (!known || as_of != forks) {
    is_main = ::syscall(SYS_gettid) == ::getpid();
    as_of = forks;
    known = true;
  }
  return is_main;
}

gil_released::gil_released() : state_{PyEval_SaveThread()} { ++away; }

gil_released::~gil_released() {
  PyEval_RestoreThread(state_);
  --away;
}

call_inside::call_inside() {
  if (is_ending && std::this_thread::get_id() != ender) {
    PyEval_SaveThread();
    for (;;) ::pause();
  }
  ++away;
}
call_inside::~call_inside() { --away; }

namespace {

void call_thread_hook() noexcept {
  thread_local bool is_called{};
  if (std::exchange(is_called, true) || thread_hook == nullptr) return;
  try {
    py::reinterpret_borrow<py::object>(thread_hook)();
  } catch (py::error_already_set& problem) {
    problem.discard_as_unraisable("coxswain");
  }
}

[[noreturn]] void throw_ended() {
  throw error{status{errc::cancelled, "the program's main thread has ended"}};
}

bool wait_here(completion_event& of, std::function<void()> const& give_up, duration limit,
               log_queue* say, std::function<bool(duration)> wait_first, bool main) {
  if (!main && !say && !wait_first && limit == without_limit) {
    gil_released const meanwhile;
    of.wait();
    return true;
  }
  auto const every = main ? look_every : say ? check_log_every : without_limit;
  auto const until = limit == without_limit
                         ? time_point::max()
                         : deadline_after(std::chrono::steady_clock::now(), limit);
  for (;;) {
    {
      gil_released const meanwhile;
      do {
        auto left = without_limit;
        if (limit != without_limit) left = until - std::chrono::steady_clock::now();
        auto const longest = std::min(left, every);
        auto const first = std::exchange(wait_first, {});
        if (first ? first(longest) : of.wait(longest)) return true;
        if (left <= duration{}) {
          give_up();
          of.wait();
          return false;
        }
      } while (!main && (!say || say->empty()));
    }
    if (PyErr_CheckSignals() == 0 && (!say || say->log())) continue;
    {
      gil_released const meanwhile;
      give_up();
      of.wait();
    }
    throw py::error_already_set();
  }
}

}  // namespace

bool wait_for(completion_event& of, std::function<void()> const& give_up, duration limit,
              log_queue* say, std::function<bool(duration)> wait_first) {
  if (is_main_thread()) return wait_here(of, give_up, limit, say, std::move(wait_first), true);
  waiting_thread here{give_up};
  waiting_threads().insert(&here);
  call_thread_hook();
  bool is_in_time{};
  try {
    if (has_program_ended && !std::exchange(here.is_given_up, true)) give_up();
    is_in_time = wait_here(of, give_up, limit, say, std::move(wait_first), false);
  } catch (...) {
    waiting_threads().erase(&here);
    throw;
  }
  waiting_threads().erase(&here);
  if (here.is_given_up) throw_ended();
  return is_in_time;
}

void begin_on_thread() {
  call_thread_hook();
  if (has_program_ended) throw_ended();
}

void end_waits() noexcept {
  has_program_ended = true;
  for (auto* const thread : waiting_threads()) {
    if (!std::exchange(thread->is_given_up, true)) thread->give_up();
  }
}

void set_thread_hook(py::object hook) {
  Py_XDECREF(thread_hook);
  thread_hook = hook.release().ptr();
}

void keep_others_out() noexcept {
  ender = std::this_thread::get_id();
  is_ending = true;
}

int threads_away() noexcept { return away; }

}  // namespace coxswain::python
