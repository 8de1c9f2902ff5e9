#include "tests/wire/live_bytes.hpp"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace {

// Initialized before the first allocation. The test programs are single-threaded.
constinit std::size_t live = 0;
constinit std::size_t peak = 0;
constinit std::size_t allocated = 0;
constinit coxswain::test::refusal refuses = nullptr;

}  // namespace

void* operator new(std::size_t size) {
  for (bool again = false; refuses != nullptr && refuses(size, again); again = true) {
    auto const handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc{};
    handler();
  }
  void* const memory = std::malloc(std::max<std::size_t>(size, 1));
  if (!memory) throw std::bad_alloc{};
  live += malloc_usable_size(memory);
  ++allocated;
  peak = std::max(peak, live);
  return memory;
}

// Used by std::stable_sort. AddressSanitizer's own version would not count.
void* operator new(std::size_t size, std::nothrow_t const&) noexcept {
  try {
    return operator new(size);
  } catch (std::bad_alloc const&) {
    return nullptr;
  }
}

void operator delete(void* memory) noexcept {
  if (memory) live -= malloc_usable_size(memory);
  std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

namespace coxswain::test {

std::size_t live_bytes() noexcept { return live; }
std::size_t peak_bytes() noexcept { return peak; }
void watch_peak() noexcept { peak = live; }
std::size_t allocations() noexcept { return allocated; }
void refuse_allocations(refusal by) noexcept { refuses = by; }

}  // namespace coxswain::test
