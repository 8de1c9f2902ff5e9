#pragma once
// Shared by requests and answers: both are variants, and each alternative has a record with the
// number of its field. Private to wire.

#include "coxswain/base/boxed.hpp"
#include "coxswain/base/status.hpp"
#include "coxswain/core/model/records.hpp"
#include "coxswain/wire/field_writer.hpp"
#include "coxswain/wire/frame.hpp"
#include "coxswain/wire/record_reader.hpp"
#include "coxswain/wire/record_writer.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace coxswain::wire {

template <class T>
struct unboxed_type {
  using type = T;
};
template <class T>
struct unboxed_type<boxed<T>> {
  using type = T;
};
template <class T>
using unboxed = typename unboxed_type<T>::type;

template <class T>
T& content(T& held) {
  return held;
}
template <class T>
T const& content(T const& held) {
  return held;
}
template <class T>
T& content(boxed<T>& held) {
  return *held;
}
template <class T>
T const& content(boxed<T> const& held) {
  return *held;
}

// Texts keep their memory.
template <class T>
void set_to_default(T& what) {
  T fresh{};
  core::record_of<T>.for_each([&](auto const& row) {
    auto& member = row.of(what);
    if constexpr (std::is_same_v<decltype(member), std::string&>) {
      member.clear();
    } else {
      member = std::move(row.of(fresh));
    }
  });
}

// Reads the content of one of a variant's alternatives. `is_first`: what it holds is of an earlier
// message.
template <class Held, class Variant>
void read_held(field_reader& from, Variant& to, bool is_first, reading& state) {
  auto* held = std::get_if<Held>(&to);
  bool const is_new = held == nullptr;
  if (is_new) held = &to.template emplace<Held>();
  auto& read = content(*held);
  if (is_first && !is_new) set_to_default(read);
  if (is_first || is_new) {
    state.secret_bytes = 0;
    prepare(read);
  }
  read_message(from, read, state);
  if (value_field<unboxed<Held>> == 0) state.value = {};
}

// A table of what `make` makes of each alternative, by the number of its field.
template <class Entry, class Variant>
struct by_number;
template <class Entry, class... Held>
struct by_number<Entry, std::variant<std::monostate, Held...>> {
  std::array<Entry, 64> entries{};

  template <class Make>
  constexpr explicit by_number(Make make) {
    ((entries[core::record_of<unboxed<Held>>.number] = make.template operator()<Held>()), ...);
  }

  // Of a field that is none of these: empty.
  [[nodiscard]] constexpr Entry const& of(std::uint32_t tag) const noexcept {
    bool const is_content = (tag & 7) == static_cast<std::uint32_t>(wire_type::content);
    return entries[is_content && tag >> 3 < entries.size() ? tag >> 3 : 0];
  }
};

template <class Variant>
using held_reader = void (*)(field_reader&, Variant&, bool is_first, reading&);

template <class Variant>
inline constexpr by_number<held_reader<Variant>, Variant> held_readers{
    []<class Held>() -> held_reader<Variant> { return &read_held<Held, Variant>; }};

// Appends what `write` writes, first to a counter.
template <class Write>
void append_fields(std::string& out, Write write) {
  field_counter count;
  write(count);
  field_appender to{out, count.bytes()};
  write(to);
  to.finish();
}

// Frequent messages are short, and written without counting their bytes first: the head of one is
// put before its fields.
inline constexpr std::size_t short_bytes_max = 512;

template <class Object>
[[gnu::always_inline]] inline bool is_short(Object const& what) noexcept {
  return bytes_bound(what) <= short_bytes_max;
}

[[nodiscard]] inline status invalid(std::size_t bytes, std::string_view message) {
  return {errc::invalid_argument, "A frame of " + std::to_string(bytes) + " bytes is not a valid " +
                                      std::string{message} + "."};
}

[[nodiscard]] inline status check_secret(std::string_view message, std::size_t bytes) {
  constexpr std::size_t size = sizeof(core::session_secret);
  if (bytes == size) return {};
  return {errc::invalid_argument, std::string{message} + " with a secret of " +
                                      std::to_string(bytes) + " bytes; it must have " +
                                      std::to_string(size) + "."};
}

}  // namespace coxswain::wire
