#include "tests/memory/scarce_memory.hpp"

#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

// Initialised before anything is allocated.
constinit std::size_t live = 0;
constinit std::size_t count = 0;
constinit std::size_t ends_at = SIZE_MAX;
constinit std::size_t most = 0;  // live bytes, once memory has ended
constinit int asides = 0;

bool may_have(std::size_t size) noexcept {
  return asides > 0 || count < ends_at || live + size <= most;
}

void note(std::ptrdiff_t size) noexcept {
  live += static_cast<std::size_t>(size);
  if (asides > 0) most += static_cast<std::size_t>(size);
}

}  // namespace

void* operator new(std::size_t size) {
  if (asides == 0 && ++count == ends_at) most = live;
  while (!may_have(size)) {
    auto const handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc{};
    handler();
  }
  void* const memory = std::malloc(std::max<std::size_t>(size, 1));
  if (memory == nullptr) throw std::bad_alloc{};
  note(static_cast<std::ptrdiff_t>(::malloc_usable_size(memory)));
  return memory;
}

void* operator new(std::size_t size, std::nothrow_t const&) noexcept {
  try {
    return operator new(size);
  } catch (std::bad_alloc const&) {
    return nullptr;
  }
}

void operator delete(void* memory) noexcept {
  if (memory != nullptr) note(-static_cast<std::ptrdiff_t>(::malloc_usable_size(memory)));
  std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

namespace coxswain::test {

void end_memory_at(std::size_t n) noexcept {
  count = 0;
  ends_at = n;
}

std::size_t return_memory() noexcept {
  ends_at = SIZE_MAX;
  return count;
}

aside::aside() noexcept { ++asides; }
aside::~aside() { --asides; }

}  // namespace coxswain::test
