#pragma once
// Plain values as bytes, for another process of the same program.

#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace coxswain::bench {

template <class Value>
void append_raw(std::string& out, Value const& value) {
  static_assert(std::is_trivially_copyable_v<Value>);
  out.append(reinterpret_cast<char const*>(&value), sizeof value);
}

// Takes the value off the front of `from`; what is not there is zero.
template <class Value>
[[nodiscard]] Value take_raw(std::string_view& from) {
  static_assert(std::is_trivially_copyable_v<Value>);
  Value value{};
  if (from.size() < sizeof value) {
    from = {};
    return value;
  }
  std::memcpy(&value, from.data(), sizeof value);
  from.remove_prefix(sizeof value);
  return value;
}

}  // namespace coxswain::bench
