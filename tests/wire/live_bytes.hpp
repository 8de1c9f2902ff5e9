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

// Asked before each allocation of so many bytes whether it fails; `again` if the handler for that
// (std::set_new_handler) has seen it. Null: none fails.
using refusal = bool (*)(std::size_t size, bool again) noexcept;
void refuse_allocations(refusal by) noexcept;

}  // namespace coxswain::test
