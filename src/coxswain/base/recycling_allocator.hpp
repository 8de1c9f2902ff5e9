#pragma once
// An allocator for single objects of which many come and go: it keeps the memory of a few freed
// ones for the next objects of the same size on this thread. Not here: arrays, which it does not
// keep.

#include <array>
#include <cstddef>
#include <new>

namespace coxswain {

// The freed memory of one thread, in pieces of this size. It has no destructor, since objects may
// be freed after those of the thread have run.
template <std::size_t Bytes>
class spare_memory {
 public:
  static constexpr std::size_t kept_max = 64;

  // Null if there is none.
  [[nodiscard]] void* take() noexcept { return kept_ == 0 ? nullptr : pieces_[--kept_]; }
  // False if there is no room for it, or the thread ends.
  [[nodiscard]] bool keep(void* piece) noexcept {
    if (kept_ == kept_max || is_closed_) return false;
    pieces_[kept_++] = piece;
    return true;
  }

  [[nodiscard]] static spare_memory& of_this_thread() noexcept {
    static constinit thread_local spare_memory spare;
    struct closer {
      ~closer() { spare.close(); }
    };
    static thread_local closer const at_end;
    static_cast<void>(at_end);
    return spare;
  }

 private:
  void close() noexcept {
    while (void* const piece = take()) ::operator delete(piece);
    is_closed_ = true;
  }

  std::array<void*, kept_max> pieces_{};
  std::size_t kept_{};
  bool is_closed_{};
};

template <class T>
class recycling_allocator {
 public:
  using value_type = T;

  recycling_allocator() = default;
  template <class Other>
  recycling_allocator(recycling_allocator<Other> const&) noexcept {}

  [[nodiscard]] T* allocate(std::size_t count) {
    if (count == 1) {
      if (void* const piece = spare().take()) return static_cast<T*>(piece);
    }
    return static_cast<T*>(::operator new(count * sizeof(T)));
  }
  void deallocate(T* at, std::size_t count) noexcept {
    if (count != 1 || !spare().keep(at)) ::operator delete(at);
  }

  friend bool operator==(recycling_allocator const&, recycling_allocator const&) noexcept {
    return true;
  }

 private:
  [[nodiscard]] static auto& spare() noexcept {
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    return spare_memory<sizeof(T)>::of_this_thread();
  }
};

}  // namespace coxswain
