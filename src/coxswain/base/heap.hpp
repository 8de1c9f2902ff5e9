#pragma once
// The process's heap: glibc's, or jemalloc's if the program is linked with it.

namespace coxswain {

// Returns free memory to the system, which can take milliseconds. Thread-safe.
void trim_heap() noexcept;

// Lets small allocations use a large block that was just freed, even if the system has no more
// memory: jemalloc splits such a block only once its pages have been returned. Thread-safe.
void make_divisible() noexcept;

}  // namespace coxswain
