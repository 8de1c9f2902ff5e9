#pragma once
// Writes the fields of an object that has a record (core/model/record) in the order of their
// numbers, as Protobuf does. Private to wire.

#include "coxswain/core/kernel/text.hpp"
#include "coxswain/wire/field_codes.hpp"
#include "coxswain/wire/field_writer.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace coxswain::wire {

// The text, with '?' for each byte that is not part of valid UTF-8.
[[nodiscard]] inline std::string valid_text(std::string_view from) {
  std::string to{from};
  for (std::size_t at = 0; at < from.size();) {
    std::size_t character = 1;
    while (character <= 4 && !core::is_utf8(from.substr(at, character))) ++character;
    if (character > 4) to[at] = '?';
    at += character > 4 ? 1 : character;
  }
  return to;
}

template <class Sink>
void put_text(Sink& to, std::string_view content) {
  if (core::is_utf8(content)) {
    to.put(content);
  } else {
    to.put(valid_text(content));
  }
}
inline void put_text(field_counter& to, std::string_view content) noexcept { to.put(content); }

template <class Sink, class Object>
void write_fields(Sink& to, Object const& from);

template <class Object>
[[nodiscard]] std::size_t bytes_of_fields(Object const& from) noexcept {
  field_counter count;
  write_fields(count, from);
  return count.bytes();
}

// A field that is present, even if it is zero or empty.
template <int Number, class Meaning, class Sink, class T>
[[gnu::always_inline]] inline void write_present(Sink& to, T const& from) {
  if constexpr (coded_as_message<Meaning, T>) {
    to.put_head(Number, bytes_of_fields(from));
    write_fields(to, from);
  } else if constexpr (random_number<T>) {
    to.put_fixed64(Number, from.value);
  } else if constexpr (std::same_as<T, float>) {
    to.put_fixed32(Number, std::bit_cast<std::uint32_t>(from));
  } else if constexpr (std::same_as<T, core::absent_value>) {
    to.put_present_number(Number, 1);
  } else if constexpr (std::same_as<Meaning, as::status_message_t>) {
    to.put_head(Number, from.message().size());
    put_text(to, from.message());
  } else if constexpr (coded_as_content<T>) {
    auto const content = content_of(from);
    to.put_head(Number, content.size());
    if constexpr (is_text<Meaning>) {
      put_text(to, content);
    } else {
      to.put(content);
    }
  } else {
    to.put_present_number(Number, number_code<Meaning>::to(from));
  }
}

template <class Meaning, class T>
[[nodiscard, gnu::always_inline]] inline bool is_absent(T const& member) noexcept {
  if constexpr (always_stated<Meaning>) {
    return false;
  } else if constexpr (std::same_as<Meaning, as::status_message_t>) {
    return member.message().empty();
  } else if constexpr (coded_as_message<Meaning, T>) {
    if constexpr (std::same_as<T, status>) return member.ok();
    // Earlier coordinators send none.
    if constexpr (std::same_as<T, core::job_state>) return member == T{};
    return false;
  } else if constexpr (random_number<T>) {
    return member.value == 0;
  } else if constexpr (coded_as_content<T>) {
    return content_of(member).empty();
  } else {
    return number_code<Meaning>::to(member) == 0;
  }
}

template <int Number, class Meaning, class Sink, class T>
[[gnu::always_inline]] inline void write_list(Sink& to, std::vector<T> const& from) {
  if constexpr (coded_as_number<Meaning, T> && !coded_as_content<T>) {
    if (from.empty()) return;
    std::uint64_t last = 0;
    auto const write_all = [&](auto& sink) {
      last = 0;
      for (auto const& item : from) {
        auto const number = number_code<Meaning>::to(item);
        bool const is_distance = std::same_as<Meaning, as::distances_t>;
        sink.put_bare_number(is_distance ? number - std::exchange(last, number) : number);
      }
    };
    field_counter count;
    write_all(count);
    to.put_head(Number, count.bytes());
    write_all(to);
  } else {
    for (auto const& item : from) write_present<Number, Meaning>(to, item);
  }
}

template <int Number, class Meaning, class Sink, class T>
[[gnu::always_inline]] inline void write_field(Sink& to, T const& from) {
  if constexpr (is_alternative<Meaning>) {
    []<class One, class Of>(Sink& sink, T const& item, as::alternative_t<One, Of>) {
      if (auto const* const held = std::get_if<One>(&item)) write_present<Number, Of>(sink, *held);
    }(to, from, Meaning{});
  } else if constexpr (std::same_as<Meaning, as::unix_ms_t>) {
    if (from) write_present<Number, Meaning>(to, from->unix_ms);
  } else if constexpr (std::same_as<Meaning, as::utc_offset_s_t>) {
    if (from && from->utc_offset_s != 0) write_present<Number, Meaning>(to, from->utc_offset_s);
  } else if constexpr (is_optional<T>) {
    if (from) write_present<Number, Meaning>(to, *from);
  } else if constexpr (is_list<T>) {
    using element = std::conditional_t<count_max<Meaning> == count_max<void>, Meaning, as::plain_t>;
    write_list<Number, element>(to, from);
  } else {
    if (!is_absent<Meaning>(from)) write_present<Number, Meaning>(to, from);
  }
}

template <class Sink, class Object>
void write_fields(Sink& to, Object const& from) {
  core::record_of<Object>.for_each([&]<class Row>(Row const& row) __attribute__((always_inline)) {
    write_field<Row::number, typename Row::meaning>(to, row.of(from));
  });
}

inline constexpr std::size_t unbounded = std::numeric_limits<std::size_t>::max() / 64;

// A bound of the bytes of a field that is cheaper than counting them; `unbounded` for lists and
// messages.
template <class Meaning, class T>
[[nodiscard, gnu::always_inline]] inline std::size_t bytes_bound_of(T const& from) noexcept {
  if constexpr (is_alternative<Meaning> || coded_as_message<Meaning, T>) {
    return unbounded;
  } else if constexpr (is_list<T>) {
    return from.empty() ? 0 : unbounded;
  } else if constexpr (is_optional<T>) {
    return from ? bytes_bound_of<Meaning>(*from) : 0;
  } else if constexpr (std::same_as<Meaning, as::status_message_t>) {
    return number_field_bytes_max + from.message().size();
  } else if constexpr (coded_as_content<T>) {
    return number_field_bytes_max + content_of(from).size();
  } else {
    return number_field_bytes_max;
  }
}

template <class Object>
[[nodiscard, gnu::always_inline]] inline std::size_t bytes_bound(Object const& from) noexcept {
  std::size_t bytes = 0;
  core::record_of<Object>.for_each([&]<class Row>(Row const& row) __attribute__((always_inline)) {
    bytes += bytes_bound_of<typename Row::meaning>(row.of(from));
  });
  return bytes;
}

}  // namespace coxswain::wire
