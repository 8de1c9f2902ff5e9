#pragma once
// The memory of one session or decoder of nghttp2, counted. It comes from operator new, so that a
// new-handler can free some.
//
// When an allocation fails, nghttp2 1.52 can free a block twice. So after that nothing is freed or
// allocated until the destructor frees all blocks: such a session must not be deleted.

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <span>

namespace coxswain::http2 {

class counted_memory {
 public:
  // `shared`: the first block of exactly its size is there, uncounted, and belongs to its owner.
  explicit counted_memory(std::span<std::byte> shared = {}) noexcept
      : shared_{shared}, is_shared_{shared.empty()} {}
  ~counted_memory();
  counted_memory(counted_memory const&) = delete;
  counted_memory& operator=(counted_memory const&) = delete;

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

  // An allocation has failed.
  [[nodiscard]] bool is_exhausted() const noexcept { return is_exhausted_; }

  // As malloc, realloc and free of C.
  [[nodiscard]] void* allocate(std::size_t size) noexcept;
  [[nodiscard]] void* reallocate(void* content, std::size_t size) noexcept;
  void free(void* content) noexcept;

  // The same for nghttp2.
  [[nodiscard]] nghttp2_mem functions() noexcept;

 private:
  struct block;

  std::span<std::byte> shared_;
  bool is_shared_;  // in use, or there is none
  block* first_{};
  std::size_t bytes_{};
  bool is_exhausted_{};
};

}  // namespace coxswain::http2
