#pragma once
// A value stored on the heap, with value semantics: it keeps a large alternative from enlarging the
// whole variant.

#include "coxswain/base/recycling_allocator.hpp"

#include <memory>
#include <utility>

namespace coxswain {

template <class T>
class boxed {
 public:
  boxed() : boxed{T{}} {}
  boxed(T value) : value_{make(std::move(value))} {}
  boxed(boxed const& other) : boxed{*other} {}
  // A moved-from box has no value until it is given another one.
  boxed(boxed&& other) noexcept = default;
  boxed& operator=(boxed const& other) { return *this = boxed{other}; }
  boxed& operator=(boxed&& other) noexcept = default;
  ~boxed() = default;

  [[nodiscard]] T& operator*() noexcept { return *value_; }
  [[nodiscard]] T const& operator*() const noexcept { return *value_; }
  [[nodiscard]] T* operator->() noexcept { return value_.get(); }
  [[nodiscard]] T const* operator->() const noexcept { return value_.get(); }
  operator T const&() const noexcept { return *value_; }

  friend bool operator==(boxed const& a, boxed const& b) { return *a == *b; }

 private:
  struct deleter {
    void operator()(T* pointer) const noexcept {
      std::destroy_at(pointer);
      recycling_allocator<T>{}.deallocate(pointer, 1);
    }
  };

  static std::unique_ptr<T, deleter> make(T value) {
    T* const room = recycling_allocator<T>{}.allocate(1);
    return std::unique_ptr<T, deleter>{std::construct_at(room, std::move(value))};
  }

  std::unique_ptr<T, deleter> value_;
};

}  // namespace coxswain
