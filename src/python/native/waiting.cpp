#include "python/native/waiting.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

namespace coxswain::python {
namespace {

std::atomic<int> away{0};

// The kernel prefers the main thread for a signal, which ends its wait. A signal that arrives after
// Python has checked for signals and before the wait begins is handled after this time.
constexpr duration look_every = 50ms;

// How often the other threads check for log entries.
constexpr duration look_for_news_every = 250ms;

std::atomic<unsigned> forks{0};

// Guarded by the GIL.
bool is_ending = false;
std::thread::id ender;

// Python runs signal handlers only there. In a child it is the thread that called fork.
bool is_main_thread() {
  static int const watched = ::pthread_atfork(nullptr, nullptr, [] {
    ++forks;
    away = 0;  // those threads are the parent's
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

}  // namespace

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

bool wait_for(bell& of, std::function<void()> const& give_up, duration limit, news* say) {
  bool const main = is_main_thread();
  if (!main && !say && limit == without_limit) {
    gil_released const meanwhile;
    of.wait();
    return true;
  }
  auto const every = main ? look_every : say ? look_for_news_every : without_limit;
  auto const until = limit == without_limit
                         ? time_point::max()
                         : deadline_after(std::chrono::steady_clock::now(), limit);
  for (;;) {
    {
      gil_released const meanwhile;
      do {
        auto left = without_limit;
        if (limit != without_limit) left = until - std::chrono::steady_clock::now();
        if (of.wait(std::min(left, every))) return true;
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

void keep_others_out() noexcept {
  ender = std::this_thread::get_id();
  is_ending = true;
}

int threads_away() noexcept { return away; }

}  // namespace coxswain::python
