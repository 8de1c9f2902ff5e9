#pragma once
// Simulated exhaustion of memory, for a single-threaded test program that links live_bytes.cpp.

#include <cstddef>

namespace coxswain::test {

// From the n-th allocation on, only freed memory can be allocated again. Allocations are counted
// from 1.
void end_memory_at(std::size_t n) noexcept;

// Only the n-th allocation from now on fails, at its first attempt.
void fail_once_at(std::size_t n) noexcept;

// Makes memory available again. Returns the number of allocations since then.
std::size_t return_memory() noexcept;

// While one lives, allocations of the test itself are neither counted nor refused.
class aside {
 public:
  aside() noexcept;
  ~aside();
  aside(aside const&) = delete;
  aside& operator=(aside const&) = delete;
};

}  // namespace coxswain::test
