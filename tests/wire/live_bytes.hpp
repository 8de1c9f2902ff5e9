#pragma once
// Counts the heap memory of a test program: live_bytes.cpp replaces operator new and delete.

#include <cstddef>

namespace coxswain::test {

// The bytes allocated and not yet freed.
[[nodiscard]] std::size_t live_bytes() noexcept;

// The maximum of live bytes since the last call of `watch_peak`.
[[nodiscard]] std::size_t peak_bytes() noexcept;
void watch_peak() noexcept;

// The number of allocations.
[[nodiscard]] std::size_t allocations() noexcept;

// Called before each allocation of that many bytes; returns whether it fails. `again`: the
// new-handler (std::set_new_handler) has run for it. Null: none fails.
using refusal = bool (*)(std::size_t size, bool again) noexcept;
void refuse_allocations(refusal by) noexcept;

}  // namespace coxswain::test
