#include "coxswain/base/memory_reserve.hpp"

#include "coxswain/base/heap.hpp"

#include <new>
#include <utility>

namespace coxswain {
namespace {

std::new_handler handler_before = nullptr;

}  // namespace

constinit thread_local memory_reserve* memory_reserve::in_use = nullptr;

// Returns when there may be memory.
void memory_reserve::spend() {
  if (in_use != nullptr && in_use->block_ != nullptr) {
    ::operator delete(std::exchange(in_use->block_, nullptr));
    return make_divisible();
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

bool memory_reserve::obtain() noexcept {
  block_ = ::operator new(bytes_, std::nothrow);
  return block_ != nullptr;
}

}  // namespace coxswain
