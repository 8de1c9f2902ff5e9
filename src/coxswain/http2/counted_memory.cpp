#include "coxswain/http2/counted_memory.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

namespace coxswain::http2 {
namespace {

counted_memory& memory_of(void* user) noexcept { return *static_cast<counted_memory*>(user); }

void* malloc_counted(std::size_t size, void* user) { return memory_of(user).allocate(size); }

void free_counted(void* content, void* user) { memory_of(user).free(content); }

void* calloc_counted(std::size_t number, std::size_t size, void* user) {
  if (size != 0 && number > std::numeric_limits<std::size_t>::max() / size) return nullptr;
  auto* const content = memory_of(user).allocate(number * size);
  if (content != nullptr) std::memset(content, 0, number * size);
  return content;
}

void* realloc_counted(void* content, std::size_t size, void* user) {
  return memory_of(user).reallocate(content, size);
}

}  // namespace

// The header of each block.
struct alignas(std::max_align_t) counted_memory::block {
  block* before;
  block* behind;
  std::size_t size;
};

counted_memory::~counted_memory() {
  while (first_ != nullptr) ::operator delete(std::exchange(first_, first_->behind));
}

void* counted_memory::allocate(std::size_t size) noexcept {
  if (!is_shared_ && size == shared_.size()) {
    is_shared_ = true;
    return shared_.data();
  }
  auto const is_possible = size <= std::numeric_limits<std::size_t>::max() - sizeof(block);
  void* const place =
      is_possible && !is_exhausted_ ? ::operator new(size + sizeof(block), std::nothrow) : nullptr;
  if (place == nullptr) {
    is_exhausted_ = true;
    return nullptr;
  }
  auto* const made = new (place) block{nullptr, first_, size};
  if (first_ != nullptr) first_->before = made;
  first_ = made;
  bytes_ += size + sizeof(block);
  return made + 1;
}

void* counted_memory::reallocate(void* content, std::size_t size) noexcept {
  auto* const moved = allocate(size);
  if (moved == nullptr || content == nullptr) return moved;
  auto const before =
      content == shared_.data() ? shared_.size() : (static_cast<block*>(content) - 1)->size;
  std::memcpy(moved, content, std::min(size, before));
  free(content);
  return moved;
}

void counted_memory::free(void* content) noexcept {
  if (content == nullptr || content == shared_.data() || is_exhausted_) return;
  auto* const gone = static_cast<block*>(content) - 1;
  bytes_ -= gone->size + sizeof(block);
  if (gone->behind != nullptr) gone->behind->before = gone->before;
  (gone->before != nullptr ? gone->before->behind : first_) = gone->behind;
  ::operator delete(gone);
}

nghttp2_mem counted_memory::functions() noexcept {
  return {this, malloc_counted, free_counted, calloc_counted, realloc_counted};
}

}  // namespace coxswain::http2
