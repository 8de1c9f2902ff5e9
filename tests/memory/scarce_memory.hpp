#pragma once
// Memory that runs out, for a test program that links live_bytes.cpp and has one thread.

#include <cstddef>

namespace coxswain::test {

// From the n-th allocation from now on nothing can be had but what is freed meanwhile. Allocations
// are counted from 1.
void end_memory_at(std::size_t n) noexcept;

// The n-th allocation from now on fails at its first attempt, and no other.
void fail_once_at(std::size_t n) noexcept;

// There is enough again. How many allocations there were since then.
std::size_t return_memory() noexcept;

// What the test itself allocates while one lives is neither counted nor refused.
class aside {
 public:
  aside() noexcept;
  ~aside();
  aside(aside const&) = delete;
  aside& operator=(aside const&) = delete;
};

}  // namespace coxswain::test
