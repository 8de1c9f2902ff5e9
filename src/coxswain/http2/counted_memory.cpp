#include "coxswain/http2/counted_memory.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

namespace coxswain::http2 {
namespace {

// Each block begins with its size.
constexpr std::size_t block_head_bytes = alignof(std::max_align_t);

void* allocate_block(std::size_t size, std::size_t& counted) noexcept {
  if (size > std::numeric_limits<std::size_t>::max() - block_head_bytes) return nullptr;
  auto* const block = static_cast<char*>(::operator new(size + block_head_bytes, std::nothrow));
  if (block == nullptr) return nullptr;
  std::memcpy(block, &size, sizeof size);
  counted += size + block_head_bytes;
  return block + block_head_bytes;
}

std::size_t size_of_block(void const* content) noexcept {
  std::size_t size = 0;
  std::memcpy(&size, static_cast<char const*>(content) - block_head_bytes, sizeof size);
  return size;
}

void free_block(void* content, std::size_t& counted) noexcept {
  if (content == nullptr) return;
  counted -= size_of_block(content) + block_head_bytes;
  ::operator delete(static_cast<char*>(content) - block_head_bytes);
}

void* malloc_counted(std::size_t size, void* counter) {
  return allocate_block(size, *static_cast<std::size_t*>(counter));
}

void free_counted(void* content, void* counter) {
  free_block(content, *static_cast<std::size_t*>(counter));
}

void* calloc_counted(std::size_t number, std::size_t size, void* counter) {
  if (size != 0 && number > std::numeric_limits<std::size_t>::max() / size) return nullptr;
  auto* const content = allocate_block(number * size, *static_cast<std::size_t*>(counter));
  if (content != nullptr) std::memset(content, 0, number * size);
  return content;
}

void* realloc_counted(void* content, std::size_t size, void* counter) {
  auto& counted = *static_cast<std::size_t*>(counter);
  auto* const moved = allocate_block(size, counted);
  if (moved == nullptr || content == nullptr) return moved;
  std::memcpy(moved, content, std::min(size, size_of_block(content)));
  free_block(content, counted);
  return moved;
}

}  // namespace

nghttp2_mem counted_memory(std::size_t& counter) noexcept {
  return {&counter, malloc_counted, free_counted, calloc_counted, realloc_counted};
}

}  // namespace coxswain::http2
