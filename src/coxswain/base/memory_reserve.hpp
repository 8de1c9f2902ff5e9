#pragma once
// Memory that is kept for the moment when there is no more: while its thread is inside a `use`, an
// allocation that fails frees the reserve and is tried again, so that what has begun is completed.
// The first reserve installs a handler (std::set_new_handler) for the whole process; elsewhere it
// does what was done before. Not thread-safe, but each thread has uses of its own.

#include <cstddef>

namespace coxswain {

class memory_reserve {
 public:
  // Throws std::bad_alloc.
  explicit memory_reserve(std::size_t bytes);
  ~memory_reserve();
  memory_reserve(memory_reserve const&) = delete;
  memory_reserve& operator=(memory_reserve const&) = delete;

  // It is there, perhaps again. False: there is still no memory for it.
  bool refill() noexcept { return block_ != nullptr || obtain(); }

  // Uses may be nested: the innermost counts. Null: of none, for what may fail.
  class use {
   public:
    explicit use(memory_reserve* of) noexcept : outer_{in_use} { in_use = of; }
    ~use() { in_use = outer_; }
    use(use const&) = delete;
    use& operator=(use const&) = delete;

   private:
    memory_reserve* outer_;
  };

 private:
  static void spend();
  bool obtain() noexcept;

  static constinit thread_local memory_reserve* in_use;

  std::size_t bytes_;
  void* block_;
};

}  // namespace coxswain
