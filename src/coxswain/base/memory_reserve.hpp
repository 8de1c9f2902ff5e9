#pragma once
// Memory reserved for out-of-memory situations: inside a `use`, an allocation of this thread that
// fails frees the reserve and is retried, so that an operation in progress can complete. The first
// reserve installs a handler (std::set_new_handler) for the whole process; outside a `use` it does
// what the previous handler did. Not thread-safe, but each thread has its own uses.

#include <cstddef>

namespace coxswain {

class memory_reserve {
 public:
  // Throws std::bad_alloc.
  explicit memory_reserve(std::size_t bytes);
  ~memory_reserve();
  memory_reserve(memory_reserve const&) = delete;
  memory_reserve& operator=(memory_reserve const&) = delete;

  // Allocates the reserve again if it was freed. False: there is still no memory for it.
  bool refill() noexcept { return block_ != nullptr || obtain(); }

  // Uses may be nested: the innermost counts. Null: no reserve, for operations that may fail.
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
