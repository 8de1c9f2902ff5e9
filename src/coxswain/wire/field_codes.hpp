#pragma once
// How the members of the model are written as fields: which are numbers, which are content, and
// what a number means (core/model/record). Private to wire.

#include "coxswain/base/boxed.hpp"
#include "coxswain/base/bytes.hpp"
#include "coxswain/base/ids.hpp"
#include "coxswain/base/status.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/core/model/records.hpp"
#include "coxswain/wire/field_reader.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace coxswain::wire {

namespace as = core::as;

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<std::vector<T>> = true;
template <class Meaning>
inline constexpr bool is_alternative = false;
template <class T, class Meaning>
inline constexpr bool is_alternative<as::alternative_t<T, Meaning>> = true;
template <class Meaning>
inline constexpr bool is_text =
    std::is_same_v<Meaning, as::text_t> || std::is_same_v<Meaning, as::token_t>;
template <class Meaning>
inline constexpr bool is_value = std::is_same_v<Meaning, as::value_t>;
template <class T>
inline constexpr bool is_value<as::alternative_t<T, as::value_t>> = true;
template <class Meaning>
inline constexpr std::size_t count_max = std::numeric_limits<std::size_t>::max();
template <std::size_t Count>
inline constexpr std::size_t count_max<as::at_most_t<Count>> = Count;

// A nested message.
template <class Meaning, class T>
concept coded_as_message = core::described<T> && !std::same_as<Meaning, as::status_code_t> &&
                           !std::same_as<Meaning, as::status_message_t>;

// Always written, so that the receiver's default does not count.
template <class Meaning>
concept always_stated =
    std::same_as<Meaning, as::timeout_t> || std::same_as<Meaning, as::wide_timeout_t>;

template <class Unit>
[[nodiscard]] std::uint64_t to_units(duration time) noexcept {
  if (time == without_limit) return std::numeric_limits<std::uint64_t>::max();
  auto const count = std::chrono::floor<Unit>(time).count();
  return count < 0 ? 0 : static_cast<std::uint64_t>(count);
}

template <class Unit>
[[nodiscard]] duration from_units(std::uint64_t count) noexcept {
  constexpr auto units_max = std::chrono::floor<Unit>(duration::max()).count();
  if (count > static_cast<std::uint64_t>(units_max)) return without_limit;
  return Unit{static_cast<typename Unit::rep>(count)};
}

[[nodiscard]] constexpr std::uint64_t folded(std::int64_t number) noexcept {
  auto const bits = static_cast<std::uint64_t>(number);
  return bits << 1 ^ (number < 0 ? ~std::uint64_t{} : 0);
}
[[nodiscard]] constexpr std::int64_t unfolded(std::uint64_t number) noexcept {
  return static_cast<std::int64_t>(number >> 1 ^ (~(number & 1) + 1));
}

// A field of type varint: how its number is made of the member, and the member of the number.
// Larger numbers than a type has are cut, as Protobuf does.
template <class Meaning>
struct number_code;

template <>
struct number_code<as::plain_t> {
  template <std::integral T>
  static std::uint64_t to(T from) noexcept {
    return static_cast<std::uint64_t>(from);
  }
  template <std::integral T>
  static void from(std::uint64_t number, T& to) noexcept {
    if constexpr (std::same_as<T, bool>) {
      to = number != 0;
    } else {
      to = static_cast<T>(number);
    }
  }
  template <class Tag, class Rep>
  static std::uint64_t to(id<Tag, Rep> from) noexcept {
    return from.value;
  }
  template <class Tag, class Rep>
  static void from(std::uint64_t number, id<Tag, Rep>& to) noexcept {
    to.value = static_cast<Rep>(number);
  }
  static std::uint64_t to(errc from) noexcept { return static_cast<std::uint64_t>(from); }
  static void from(std::uint64_t number, errc& to) noexcept {
    to = errc_of(static_cast<std::uint32_t>(number));
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  static std::uint64_t to(Enum from) noexcept {
    return static_cast<std::uint64_t>(from) + core::enumeration_of<Enum>.first;
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  static void from(std::uint64_t number, Enum& to) noexcept {
    constexpr auto known = core::enumeration_of<Enum>;
    auto const at = static_cast<std::uint32_t>(number) - known.first;
    to = at <= static_cast<std::uint32_t>(known.last) ? static_cast<Enum>(at) : known.otherwise;
  }
};

template <>
struct number_code<as::signed_number_t> {
  static std::uint64_t to(std::int64_t from) noexcept { return folded(from); }
  static void from(std::uint64_t number, std::int64_t& to) noexcept { to = unfolded(number); }
  static void from(std::uint64_t number, std::int32_t& to) noexcept {
    to = static_cast<std::int32_t>(unfolded(static_cast<std::uint32_t>(number)));
  }
};

template <>
struct number_code<as::wide_timeout_t> {
  static std::uint64_t to(duration from) noexcept {
    return static_cast<std::uint64_t>(milliseconds(from));
  }
  static void from(std::uint64_t number, duration& to) noexcept {
    to = of(static_cast<std::int64_t>(number));
  }

  static std::int64_t milliseconds(duration timeout) noexcept {
    if (timeout == without_limit) return -1;
    return std::max<std::int64_t>(0, std::chrono::ceil<std::chrono::milliseconds>(timeout).count());
  }
  static duration of(std::int64_t milliseconds) noexcept {
    if (milliseconds < 0) return without_limit;
    return from_units<std::chrono::milliseconds>(static_cast<std::uint64_t>(milliseconds));
  }
};

template <>
struct number_code<as::timeout_t> {
  using wide = number_code<as::wide_timeout_t>;
  static std::uint64_t to(duration from) noexcept { return folded(wide::milliseconds(from)); }
  static void from(std::uint64_t number, duration& to) noexcept { to = wide::of(unfolded(number)); }
};

template <class Unit>
struct time_code {
  static std::uint64_t to(duration from) noexcept { return to_units<Unit>(from); }
  static void from(std::uint64_t number, duration& to) noexcept { to = from_units<Unit>(number); }
};
template <>
struct number_code<as::milliseconds_t> : time_code<std::chrono::milliseconds> {};
template <>
struct number_code<as::microseconds_t> : time_code<std::chrono::microseconds> {};
template <>
struct number_code<as::nanoseconds_t> {
  static std::uint64_t to(duration from) noexcept {
    return static_cast<std::uint64_t>(from.count());
  }
  static void from(std::uint64_t number, duration& to) noexcept {
    to = duration{static_cast<std::int64_t>(number)};
  }
};

template <>
struct number_code<as::period_t> : time_code<std::chrono::milliseconds> {
  static std::uint64_t to(duration from) noexcept {
    return from > duration::zero()
               ? std::max<std::uint64_t>(1, to_units<std::chrono::milliseconds>(from))
               : 0;
  }
};

template <>
struct number_code<as::short_period_t> {
  static std::uint64_t to(duration from) noexcept {
    constexpr std::int64_t period_max = std::numeric_limits<std::uint32_t>::max();
    auto const milliseconds = std::chrono::ceil<std::chrono::milliseconds>(from).count();
    return static_cast<std::uint64_t>(std::clamp<std::int64_t>(milliseconds, 0, period_max));
  }
  static void from(std::uint64_t number, duration& to) noexcept {
    to = std::chrono::milliseconds{static_cast<std::uint32_t>(number)};
  }
};

template <>
struct number_code<as::status_code_t> {
  static std::uint64_t to(status const& from) noexcept {
    return static_cast<std::uint64_t>(from.code());
  }
  static void from(std::uint64_t number, status& to) {
    to = status{errc_of(static_cast<std::uint32_t>(number)), to.message()};
  }
};

template <>
struct number_code<as::unix_ms_t> : number_code<as::plain_t> {};
template <>
struct number_code<as::utc_offset_s_t> : number_code<as::signed_number_t> {};
template <>
struct number_code<as::distances_t> : number_code<as::plain_t> {};

template <class Meaning, class T>
concept coded_as_number = requires(T& member, std::uint64_t number) {
  number_code<Meaning>::to(std::as_const(member));
  number_code<Meaning>::from(number, member);
};

// Numbers that are drawn at random, and take eight bytes.
template <class T>
concept random_number = std::same_as<T, incarnation> || std::same_as<T, session_id>;

// A field of type content that is no message: its bytes.
[[nodiscard]] inline std::string_view content_of(std::string_view from) noexcept { return from; }
[[nodiscard]] inline std::string_view content_of(bytes const& from) noexcept { return from.view(); }
[[nodiscard]] inline std::string_view content_of(core::session_secret const& from) noexcept {
  return {reinterpret_cast<char const*>(from.data()), from.size()};
}

template <class T>
concept coded_as_content = requires(T const& member) {
  content_of(member);
};

// The number of the only field of a request that is a value; zero: it has none, or several.
template <class Object>
inline constexpr int value_field = [] {
  int number = 0;
  int count = 0;
  core::record_of<Object>.for_each([&]<class Row>(Row const&) {
    if (!is_value<typename Row::meaning>) return;
    number = Row::number;
    ++count;
  });
  return count == 1 ? number : 0;
}();

}  // namespace coxswain::wire
