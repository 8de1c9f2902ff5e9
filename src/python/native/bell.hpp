#pragma once
// Lets a thread wait for one event. Unlike with std::condition_variable, a signal wakes the thread.
// Not here: the GIL (waiting.hpp).

#include "coxswain/base/time.hpp"

#include <semaphore.h>
#include <time.h>

namespace coxswain::python {

class bell {
 public:
  bell() { ::sem_init(&rung_, 0, 0); }
  ~bell() { ::sem_destroy(&rung_); }
  bell(bell const&) = delete;
  bell& operator=(bell const&) = delete;

  // Call once. The waiting thread may destroy the bell as soon as this has begun to wake it.
  void ring() { ::sem_post(&rung_); }

  // Whether it has rung; once it has said so, nothing may wait for it.
  [[nodiscard]] bool has_rung() { return ::sem_trywait(&rung_) == 0; }

  // Waits until it rings.
  void wait() {
    while (::sem_wait(&rung_) != 0) {
    }
  }

  // Whether it has rung; false if the time has passed or a signal arrived.
  [[nodiscard]] bool wait(duration time) {
    if (time < duration{}) time = {};
    timespec until{};
    ::clock_gettime(CLOCK_MONOTONIC, &until);
    auto const nanoseconds = until.tv_nsec + time.count();
    until.tv_sec += nanoseconds / 1'000'000'000;
    until.tv_nsec = nanoseconds % 1'000'000'000;
    return ::sem_clockwait(&rung_, CLOCK_MONOTONIC, &until) == 0;
  }

 private:
  sem_t rung_{};
};

}  // namespace coxswain::python
