#pragma once
// record_of<T>: the fields of a struct of the model as data, by the numbers and names of
// proto/coxswain/v1. Whatever has to do with every field visits it (wire, ...), so a field is
// written down once. Not here: the records themselves (records.hpp).

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace coxswain::core {

// The meaning of a field, where its C++ type does not determine it.
namespace as {

// As its type says: a string is bytes, an enumeration and an id are numbers.
struct plain_t {};
// Human-readable: valid UTF-8.
struct text_t {};
// The name of a key, a directory, a barrier, a queue or a lock.
struct name_t {};
// Bytes of the user, which may be as large as a frame.
struct value_t {};
// Not to be recorded or shown: bytes, and text.
struct secret_t {};
struct token_t {};
// A number that is short whatever its sign (sint32, sint64).
struct signed_number_t {};
// The longest wait, in milliseconds: rounded up, so that no deadline comes early; negative is
// without limit, and an absent one the default of the member.
struct timeout_t {};
// The same as a plain int64.
struct wide_timeout_t {};
// Times in whole units, rounded down.
struct milliseconds_t {};
struct microseconds_t {};
// Unchanged.
struct nanoseconds_t {};
// Milliseconds, at least one unless it is zero.
struct period_t {};
// The same rounded up, in 32 bits.
struct short_period_t {};
// The parts of a status that is not a message of its own.
struct status_code_t {};
struct status_message_t {};
// The parts of a wall_time that may be missing.
struct unix_ms_t {};
struct utc_offset_s_t {};
// Rising numbers: the first one, and then the distance of each from the last.
struct distances_t {};
// One of several, of which a variant has at most one.
template <class T, class Meaning = plain_t>
struct alternative_t {};
// At most so many of a list: what comes after them is dropped.
template <std::size_t Count>
struct at_most_t {};

inline constexpr plain_t plain;
inline constexpr text_t text;
inline constexpr name_t name;
inline constexpr value_t value;
inline constexpr secret_t secret;
inline constexpr token_t token;
inline constexpr signed_number_t signed_number;
inline constexpr timeout_t timeout;
inline constexpr wide_timeout_t wide_timeout;
inline constexpr milliseconds_t milliseconds;
inline constexpr microseconds_t microseconds;
inline constexpr nanoseconds_t nanoseconds;
inline constexpr period_t period;
inline constexpr short_period_t short_period;
inline constexpr status_code_t status_code;
inline constexpr status_message_t status_message;
inline constexpr unix_ms_t unix_ms;
inline constexpr utc_offset_s_t utc_offset_s;
inline constexpr distances_t distances;
template <class T, class Meaning = plain_t>
inline constexpr alternative_t<T, Meaning> alternative;
template <std::size_t Count>
inline constexpr at_most_t<Count> at_most;

}  // namespace as

// `Where` gives the member of an object: a member pointer, or `in`.
template <int Number, class Where, class Meaning>
struct field_row {
  static constexpr int number = Number;
  using meaning = Meaning;

  std::string_view name;
  Where where;

  template <class Object>
  [[nodiscard]] constexpr auto& of(Object& object) const noexcept {
    return std::invoke(where, object);
  }
};

template <int Number, class Where, class Meaning = as::plain_t>
[[nodiscard]] constexpr field_row<Number, Where, Meaning> field(std::string_view name, Where where,
                                                                Meaning = {}) noexcept {
  return {name, where};
}

// The member of a member.
template <class Outer, class Inner>
struct in {
  Outer outer;
  Inner inner;

  constexpr in(Outer o, Inner i) noexcept : outer{o}, inner{i} {}

  template <class Object>
  [[nodiscard]] constexpr auto& operator()(Object& object) const noexcept {
    return std::invoke(inner, std::invoke(outer, object));
  }
};

template <class... Rows>
struct record {
  int number{};  // of the field that has it in ClientMessage or ServerMessage; zero: none
  std::string_view name{};  // of that field
  std::tuple<Rows...> rows{};

  // Calls `visit` with each row, in the order of their numbers.
  template <class Visit>
  [[gnu::always_inline]] constexpr void for_each(Visit visit) const {
    std::apply(
        [&visit](auto const&... row) __attribute__((always_inline)) { (visit(row), ...); }, rows);
  }
  // The same until `visit` returns true. Whether it did.
  template <class Visit>
  [[gnu::always_inline]] constexpr bool any_of(Visit visit) const {
    return std::apply(
        [&visit](auto const&... row) __attribute__((always_inline)) { return (visit(row) || ...); },
        rows);
  }
};

// Of what occurs in messages only.
template <class... Rows>
[[nodiscard]] constexpr record<Rows...> part(Rows... rows) noexcept {
  return {0, {}, {rows...}};
}

// Of what ClientMessage or ServerMessage has in the field of that number and name.
template <int Number, class... Rows>
[[nodiscard]] constexpr record<Rows...> message(std::string_view name, Rows... rows) noexcept {
  return {Number, name, {rows...}};
}

// The struct has no fields of its own that are described.
struct no_record {};

template <class T>
inline constexpr auto record_of = no_record{};

template <class T>
concept described = !std::same_as<std::remove_cvref_t<decltype(record_of<T>)>, no_record>;

// Calls `visit` with each member of a described object and the number of its first row: a member
// with several rows is one all the same.
template <class Object, class Visit>
constexpr void each_member(Object& object, Visit visit) {
  void const* last = nullptr;
  record_of<std::remove_const_t<Object>>.for_each([&](auto const& row) {
    auto& member = row.of(object);
    if (std::exchange(last, std::addressof(member)) != std::addressof(member)) {
      visit(static_cast<std::uint32_t>(row.number), member);
    }
  });
}

// Concepts, because clang 19 crashes on requires-expressions with these in a generic lambda.
template <class Member>
concept list_of_described = described<std::remove_cvref_t<decltype(std::declval<Member&>()[0])>>;
template <class Member>
concept maybe_described = described<std::remove_cvref_t<decltype(*std::declval<Member&>())>>;

// Calls `visit` with each member of that meaning, and with those of the items of lists and of what
// is optional.
template <class Meaning, class Object, class Visit>
constexpr void each_member_of(Object& object, Visit const& visit) {
  if constexpr (described<std::remove_const_t<Object>>) {
    record_of<std::remove_const_t<Object>>.for_each([&]<class Row>(Row const& row) {
      auto& member = row.of(object);
      if constexpr (std::same_as<typename Row::meaning, Meaning>) {
        visit(member);
      } else if constexpr (list_of_described<decltype(member)>) {
        for (auto& item : member) each_member_of<Meaning>(item, visit);
      } else if constexpr (maybe_described<decltype(member)>) {
        if (member) each_member_of<Meaning>(*member, visit);
      }
    });
  }
}

// The last enumerator of an enumeration without gaps, and its meaning of a number that it lacks.
// The number on the wire of its first enumerator is `first`.
template <class Enum>
struct enumeration {
  Enum last;
  Enum otherwise;
  std::uint32_t first{};
};

template <class Enum>
inline constexpr enumeration<Enum> enumeration_of = Enum::has_no_enumeration_of;

}  // namespace coxswain::core
