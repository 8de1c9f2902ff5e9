#include "coxswain/base/memory_reserve.hpp"

#include <new>
#include <utility>

namespace coxswain {
namespace {

constinit thread_local memory_reserve* in_use = nullptr;

std::new_handler handler_before = nullptr;

}  // namespace

// Returns when there may be memory.
void memory_reserve::spend() {
  if (in_use != nullptr && in_use->block_ != nullptr) {
    return ::operator delete(std::exchange(in_use->block_, nullptr));
  }
  if (handler_before == nullptr) throw std::bad_alloc{};
  handler_before();
}

memory_reserve::memory_reserve(std::size_t bytes) : bytes_{bytes}, block_{::operator new(bytes)} {
  [[maybe_unused]] static bool const installed = [] {
    handler_before = std::set_new_handler(&memory_reserve::spend);
    return true;
  }();
}

memory_reserve::~memory_reserve() { ::operator delete(block_); }

bool memory_reserve::refill() noexcept {
  if (block_ == nullptr) block_ = ::operator new(bytes_, std::nothrow);
  return block_ != nullptr;
}

memory_reserve::use::use(memory_reserve* of) noexcept : outer_{std::exchange(in_use, of)} {}

memory_reserve::use::~use() { in_use = outer_; }

}  // namespace coxswain
