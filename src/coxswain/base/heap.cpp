#include "coxswain/base/heap.hpp"

#include <cstddef>

#include <malloc.h>

// Of jemalloc; null in a program without it.
extern "C" [[gnu::weak]] int mallctl(char const* name, void* old, std::size_t* old_bytes, void* by,
                                     std::size_t by_bytes) noexcept;

namespace coxswain {
namespace {

void call_jemalloc(char const* name) noexcept {
  if (mallctl != nullptr) mallctl(name, nullptr, nullptr, nullptr, 0);
}

// 4096 stands for all arenas (MALLCTL_ARENAS_ALL).
constexpr char const* return_pages = "arena.4096.purge";

}  // namespace

void trim_heap() noexcept {
  ::malloc_trim(0);
  call_jemalloc("thread.tcache.flush");
  call_jemalloc(return_pages);
}

void make_divisible() noexcept { call_jemalloc(return_pages); }

}  // namespace coxswain
