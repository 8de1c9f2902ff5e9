#include "tests/memory/scarce_memory.hpp"

#include "tests/wire/live_bytes.hpp"

#include <cstddef>
#include <cstdint>

namespace coxswain::test {
namespace {

constinit std::size_t count = 0;
constinit std::size_t ends_at = SIZE_MAX;
constinit std::size_t fails_at = SIZE_MAX;
constinit std::size_t most = 0;  // live bytes when memory ran out
constinit int asides = 0;
constinit std::size_t live_before_aside = 0;

bool refuses(std::size_t size, bool again) noexcept {
  if (asides > 0) return false;
  if (!again) {
    if (++count == ends_at) most = live_bytes();
    if (count == fails_at) return true;
  }
  return count >= ends_at && live_bytes() + size > most;
}

void begin(std::size_t end, std::size_t failure) noexcept {
  count = 0;
  ends_at = end;
  fails_at = failure;
  refuse_allocations(&refuses);
}

}  // namespace

void end_memory_at(std::size_t n) noexcept { begin(n, SIZE_MAX); }
void fail_once_at(std::size_t n) noexcept { begin(SIZE_MAX, n); }

std::size_t return_memory() noexcept {
  refuse_allocations(nullptr);
  return count;
}

aside::aside() noexcept {
  if (asides++ == 0) live_before_aside = live_bytes();
}
aside::~aside() {
  if (--asides == 0) most += live_bytes() - live_before_aside;
}

}  // namespace coxswain::test
