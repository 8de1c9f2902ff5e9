#pragma once
// How many bytes the texts and lists of a described object have, at any depth. Values that are
// shared (bytes) count by themselves.

#include "coxswain/core/model/records.hpp"

#include <concepts>
#include <cstddef>
#include <string>
#include <variant>

namespace coxswain::core {

// `per_item(one)`: what an item of a list counts for besides its own texts and lists.
template <class T, class PerItem>
[[nodiscard]] std::size_t content_bytes(T const& what, PerItem const& per_item) {
  if constexpr (std::same_as<T, std::string>) {
    return what.size();
  } else if constexpr (std::same_as<T, status>) {
    return what.message().size();
  } else if constexpr (requires { typename T::allocator_type; }) {
    std::size_t sum = 0;
    for (auto const& item : what) sum += per_item(item) + content_bytes(item, per_item);
    return sum;
  } else if constexpr (described<T>) {
    std::size_t sum = 0;
    each_member(what,
                [&](std::uint32_t, auto const& member) { sum += content_bytes(member, per_item); });
    return sum;
  } else if constexpr (requires { what.has_value(); }) {
    return what ? content_bytes(*what, per_item) : 0;
  } else if constexpr (requires { what.index(); }) {
    return std::visit([&](auto const& alternative) { return content_bytes(alternative, per_item); },
                      what);
  } else if constexpr (requires { *what; }) {
    return sizeof(*what) + content_bytes(*what, per_item);
  } else {
    return 0;
  }
}

// In memory: a list may have room for as many items again. It does not depend on how the list was
// built.
template <class T>
[[nodiscard]] std::size_t memory_of_content(T const& what) {
  return content_bytes(what, []<class Item>(Item const&) { return 2 * sizeof(Item); });
}

}  // namespace coxswain::core
