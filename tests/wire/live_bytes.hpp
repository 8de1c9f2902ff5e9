#pragma once
// Counts the heap memory of a test program: live_bytes.cpp replaces operator new and delete.

#include <cstddef>

namespace coxswain::test {

// What is allocated and not yet freed.
[[nodiscard]] std::size_t live_bytes() noexcept;

// The most that was live since the last call of `watch_peak`.
[[nodiscard]] std::size_t peak_bytes() noexcept;
void watch_peak() noexcept;

// How often anything was allocated.
[[nodiscard]] std::size_t allocations() noexcept;

}  // namespace coxswain::test
