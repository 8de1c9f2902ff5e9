#pragma once
// Lets a thread wait for one event. Unlike with std::condition_variable, a signal wakes the thread.
// Not here: the GIL (waiting.hpp).

#include "coxswain/base/time.hpp"

#include <semaphore.h>
#include <time.h>

namespace coxswain::python {

class completion_event {
 public:
  completion_event() { ::sem_init(&semaphore_, 0, 0); }
  ~completion_event() { ::sem_destroy(&semaphore_); }
  completion_event(completion_event const&) = delete;
  completion_event& operator=(completion_event const&) = delete;

  // Call once. The waiting thread may destroy the event as soon as this has begun to wake it.
  void notify() { ::sem_post(&semaphore_); }

  // Whether it has happened; once this returned true, nothing may wait for it.
  [[nodiscard]] bool is_set() { return ::sem_trywait(&semaphore_) == 0; }

  // Waits until it happens.
  void wait() {
    while (::sem_wait(&semaphore_) != 0) {
    }
  }

  // Whether it has happened; false if the time has passed or a signal arrived.
  [[nodiscard]] bool wait(duration time) {
    if (time < duration{}) time = {};
    timespec until{};
    ::clock_gettime(CLOCK_MONOTONIC, &until);
    auto const nanoseconds = until.tv_nsec + time.count();
    until.tv_sec += nanoseconds / 1'000'000'000;
    until.tv_nsec = nanoseconds % 1'000'000'000;
    return ::sem_clockwait(&semaphore_, CLOCK_MONOTONIC, &until) == 0;
  }

 private:
  sem_t semaphore_{};
};

}  // namespace coxswain::python
