#pragma once
// The process's heap: glibc's, or jemalloc's if the program is linked with it.

namespace coxswain {

// Returns free memory to the system, which can take milliseconds. Thread-safe.
void trim_heap() noexcept;

// Lets a large block that was just freed serve small ones even if the system has no more memory:
// jemalloc reuses it for others of its size only, until its pages were returned. Thread-safe.
void make_divisible() noexcept;

}  // namespace coxswain
