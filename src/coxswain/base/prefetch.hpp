#pragma once
// Prefetches memory, so that the cache miss overlaps with other work. It pays where very many
// objects are visited one after the other and none was touched since the last pass.

#include <cstddef>
#include <memory>

namespace coxswain {

// All of `thing`, for writing. Memory that it points to is not prefetched.
template <class T>
void prefetch(T const& thing) noexcept {
  constexpr std::size_t line_bytes = 64;
  auto const* const begin = reinterpret_cast<char const*>(std::addressof(thing));
  for (std::size_t at = 0; at < sizeof(T); at += line_bytes) __builtin_prefetch(begin + at, 1);
  __builtin_prefetch(begin + sizeof(T) - 1, 1);
}

}  // namespace coxswain
