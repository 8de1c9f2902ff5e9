#pragma once
// The encoding of a snapshot: numbered fields, as in Protobuf's wire format, with groups instead of
// messages with a length, so that it is written without a buffer. Not here: which fields there are
// (records, the classes, fields_*).

#include "coxswain/base/boxed.hpp"
#include "coxswain/base/error.hpp"
#include "coxswain/base/fifo.hpp"
#include "coxswain/base/ids.hpp"
#include "coxswain/base/status.hpp"
#include "coxswain/base/time.hpp"
#include "coxswain/core/access/role.hpp"
#include "coxswain/core/config.hpp"
#include "coxswain/core/kernel/deadlines.hpp"
#include "coxswain/core/kernel/roster.hpp"
#include "coxswain/core/kernel/shares.hpp"
#include "coxswain/core/model/records.hpp"
#include "coxswain/core/snapshot/is_loading.hpp"

#include <boost/container/small_vector.hpp>
#include <boost/container/vector.hpp>

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace coxswain::core {

// A tag is a field's number times eight plus one of these.
enum class wire_type : std::uint8_t { number = 0, text = 2, begin = 3, end = 4 };

// The last enumerator of an enumeration without gaps: of a message's as its record says.
template <class Enum>
inline constexpr Enum last_of = enumeration_of<Enum>.last;
template <>
inline constexpr auto last_of<errc> = errc::unauthenticated;
template <>
inline constexpr auto last_of<due> = due::lease;
template <>
inline constexpr auto last_of<assignment> = assignment::placement;
template <>
inline constexpr auto last_of<growth> = growth::never;
template <>
inline constexpr auto last_of<rank_order> = rank_order::member;
template <>
inline constexpr auto last_of<detachment> = detachment::returning;
template <>
inline constexpr auto last_of<share_kind> = share_kind::task;

// Numbers. Signed ones are written so that small ones are short, whatever their sign.
template <std::unsigned_integral T>
[[nodiscard]] constexpr std::uint64_t encoded(T n) noexcept {
  return n;
}
template <std::signed_integral T>
[[nodiscard]] constexpr std::uint64_t encoded(T n) noexcept {
  std::int64_t const wide = n;
  return (static_cast<std::uint64_t>(wide) << 1) ^ static_cast<std::uint64_t>(wide >> 63);
}
template <class T>
requires std::is_enum_v<T>
[[nodiscard]] constexpr std::uint64_t encoded(T n) noexcept {
  return static_cast<std::uint64_t>(n);
}
template <class Tag, class Rep>
[[nodiscard]] constexpr std::uint64_t encoded(id<Tag, Rep> n) noexcept {
  return n.value;
}
[[nodiscard]] constexpr std::uint64_t encoded(float n) noexcept {
  return std::bit_cast<std::uint32_t>(n);
}
[[nodiscard]] constexpr std::uint64_t encoded(duration n) noexcept { return encoded(n.count()); }

template <class T>
concept numeric = requires(T n) {
  encoded(n);
};

// False if T has no such number.
template <std::unsigned_integral T>
[[nodiscard]] constexpr bool decode(std::uint64_t from, T& n) noexcept {
  n = static_cast<T>(from);
  return from <= std::numeric_limits<T>::max();
}
template <std::signed_integral T>
[[nodiscard]] constexpr bool decode(std::uint64_t from, T& n) noexcept {
  auto const wide = static_cast<std::int64_t>((from >> 1) ^ (~(from & 1) + 1));
  n = static_cast<T>(wide);
  return n == wide;
}
template <class T>
requires std::is_enum_v<T>
[[nodiscard]] constexpr bool decode(std::uint64_t from, T& n) noexcept {
  bool const is_known = from <= encoded(last_of<T>);
  n = is_known ? static_cast<T>(from) : T{};
  return is_known;
}
template <class Tag, class Rep>
[[nodiscard]] constexpr bool decode(std::uint64_t from, id<Tag, Rep>& n) noexcept {
  return decode(from, n.value);
}
[[nodiscard]] constexpr bool decode(std::uint64_t from, float& n) noexcept {
  n = std::bit_cast<float>(static_cast<std::uint32_t>(from));
  return from <= UINT32_MAX;
}
[[nodiscard]] constexpr bool decode(std::uint64_t from, duration& n) noexcept {
  duration::rep count{};
  bool const is_known = decode(from, count);
  n = duration{count};
  return is_known;
}

// Moments, as the time since the coordinator's start: zero is the time_point of nothing yet, one
// the end of time.
[[nodiscard]] constexpr std::uint64_t encoded(time_point at, time_point started) noexcept {
  if (at == time_point{}) return 0;
  if (at == time_point::max()) return 1;
  return encoded((at - started).count()) + 2;
}
[[nodiscard]] constexpr bool decode(std::uint64_t from, time_point started,
                                    time_point& at) noexcept {
  at = from == 1 ? time_point::max() : time_point{};
  if (from < 2) return true;
  duration::rep since{};
  duration::rep sum{};
  bool const is_known = decode(from - 2, since) &&
                        !__builtin_add_overflow(since, started.time_since_epoch().count(), &sum);
  if (is_known) at = time_point{duration{sum}};
  return is_known;
}

// A field of these is repeated.
template <class T>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<std::vector<T>> = true;
template <class T>
inline constexpr bool is_list<std::deque<T>> = true;
template <class T, class Allocator, class Options>
inline constexpr bool is_list<boost::container::vector<T, Allocator, Options>> = true;
template <class T, std::size_t Inside>
inline constexpr bool is_list<boost::container::small_vector<T, Inside>> = true;
template <class T, std::size_t Inside>
inline constexpr bool is_list<fifo<T, Inside>> = true;
template <class T>
inline constexpr bool is_set = false;
template <class T>
inline constexpr bool is_set<std::set<T>> = true;
template <class T>
inline constexpr bool is_map = false;
template <class Key, class T, class Order>
inline constexpr bool is_map<std::map<Key, T, Order>> = true;
template <class T>
inline constexpr bool is_array = false;
template <class T, std::size_t Size>
inline constexpr bool is_array<std::array<T, Size>> = true;

// A field of these may be missing.
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_optional<std::unique_ptr<T>> = true;

template <class T>
inline constexpr bool is_variant = false;
template <class... All>
inline constexpr bool is_variant<std::variant<All...>> = true;

// Objects with several owners: written once, and named by number where they occur again.
template <class T>
inline constexpr bool is_shared = false;
template <class T>
inline constexpr bool is_shared<boost::local_shared_ptr<T const>> = true;
template <>
inline constexpr bool is_shared<answer_ptr> = true;
template <>
inline constexpr bool is_shared<bytes> = true;
template <holder Who>
inline constexpr bool is_shared<held_bytes<Who>> = true;

// The fields of that number, one for each element of a container. `describe(element)` writes one,
// or reads one into a T, which `keep` then stores.
template <class T>
void each(auto& a, std::uint32_t number, auto& container, auto describe, auto keep) {
  if constexpr (is_loading<decltype(a)>) {
    while (a.is_next(number)) {
      T element{};
      describe(element);
      keep(std::move(element));
    }
  } else {
    for (auto const& element : container) describe(element);
  }
}

// The fields of a T, const or not: they are described once, for saving and for loading.
template <class T, class Of>
concept maybe_const = std::same_as<std::remove_const_t<T>, Of>;

}  // namespace coxswain::core
