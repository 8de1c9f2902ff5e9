#pragma once
// Asking for memory before it is used, so that the wait for it overlaps with other work. It pays
// where very many things are visited in turn and none was touched since the last round.

#include <cstddef>
#include <memory>

namespace coxswain {

// All of `thing`, to be written. Where it points to is not asked for.
template <class T>
void prefetch(T const& thing) noexcept {
  constexpr std::size_t line_bytes = 64;
  auto const* const begin = reinterpret_cast<char const*>(std::addressof(thing));
  for (std::size_t at = 0; at < sizeof(T); at += line_bytes) __builtin_prefetch(begin + at, 1);
  __builtin_prefetch(begin + sizeof(T) - 1, 1);
}

}  // namespace coxswain
