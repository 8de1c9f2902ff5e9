#pragma once
// Reads the fields of an object that has a record (core/model/record), as Protobuf does: in any
// order; unknown ones are skipped; if one comes again, the last one counts, lists grow, and
// messages are merged. Only groups are refused. Private to wire.

#include "coxswain/core/kernel/text.hpp"
#include "coxswain/wire/field_codes.hpp"
#include "coxswain/wire/field_reader.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace coxswain::wire {

// Facts about a message, collected while it is read.
struct reading {
  bool is_plain{true};         // no field was unknown, and no content was replaced or dropped
  std::string_view value{};    // the content of the last field that is a value
  std::size_t secret_bytes{};  // of a session's secret
};

template <class Object>
void read_fields(field_reader& from, Object& to, reading& state);

template <class T>
void read_message(field_reader& from, T& to, reading& state) {
  field_reader content{from.take_content()};
  read_fields(content, to, state);
  if (!content.succeeded()) from.fail();
}

template <class Meaning>
[[gnu::always_inline]] inline void read_content(field_reader& from, std::string& to,
                                                reading& state) {
  auto const content = from.take_content();
  if constexpr (is_text<Meaning>) {
    if (!core::is_utf8(content)) from.fail();
  }
  if constexpr (std::same_as<Meaning, as::value_t>) state.value = content;
  if (!to.empty()) {
    state.is_plain = false;
    to.clear();
  }
  to.append(content);
}
template <class Meaning>
[[gnu::always_inline]] inline void read_content(field_reader& from, bytes& to, reading&) {
  to = bytes{std::string{from.take_content()}};
}
template <class Meaning>
[[gnu::always_inline]] inline void read_content(field_reader& from, std::string_view& to,
                                                reading&) {
  to = from.take_content();
}
// One of another size is left out.
template <class Meaning>
[[gnu::always_inline]] inline void read_content(field_reader& from, core::session_secret& to,
                                                reading& state) {
  auto const content = from.take_content();
  state.secret_bytes = content.size();
  if (content.size() == to.size()) std::copy(content.begin(), content.end(), to.begin());
}

// The type of a field that is not a list.
template <class Meaning, class T>
[[nodiscard]] constexpr wire_type type_of() noexcept {
  if constexpr (random_number<T>) return wire_type::fixed64;
  if constexpr (std::same_as<T, float>) return wire_type::fixed32;
  bool const is_content = coded_as_message<Meaning, T> || coded_as_content<T> ||
                          std::same_as<Meaning, as::status_message_t>;
  return is_content ? wire_type::content : wire_type::varint;
}

template <class Meaning, class T>
[[gnu::always_inline]] inline void read_present(field_reader& from, T& to, reading& state) {
  if constexpr (random_number<T>) {
    to.value = from.take_fixed64();
  } else if constexpr (std::same_as<T, float>) {
    to = std::bit_cast<float>(from.take_fixed32());
  } else if constexpr (std::same_as<Meaning, as::status_code_t>) {
    number_code<Meaning>::from(from.take_number(), to);
  } else if constexpr (std::same_as<Meaning, as::status_message_t>) {
    std::string message;
    read_content<as::text_t>(from, message, state);
    to = status{to.code(), std::move(message)};
  } else if constexpr (coded_as_message<Meaning, T>) {
    read_message(from, to, state);
  } else if constexpr (coded_as_content<T>) {
    read_content<Meaning>(from, to, state);
  } else {
    number_code<Meaning>::from(from.take_number(), to);
  }
}

// Sets the values of absent fields, where these are not the members' defaults.
template <class T>
void prepare(T&) noexcept {}
inline void prepare(core::hello_args& to) noexcept { to.version = 0; }
inline constexpr auto unstated = duration::min();
inline void prepare(core::join_args& to) noexcept { to.timeout = unstated; }
inline void prepare(core::events_answer::entry& to) noexcept { to.count = 0; }

template <int Number, class Meaning, class T>
[[gnu::always_inline]] inline bool read_list(std::uint32_t tag, field_reader& from,
                                             std::vector<T>& to, reading& state) {
  if constexpr (coded_as_number<Meaning, T> && !coded_as_content<T>) {
    auto const take = [&](field_reader& numbers) {
      T item{};
      number_code<Meaning>::from(numbers.take_number(), item);
      if constexpr (std::same_as<Meaning, as::distances_t>) {
        if (!to.empty()) item.value += to.back().value;
      }
      to.push_back(item);
    };
    if (tag == tag_of(Number, wire_type::varint)) return take(from), true;
    if (tag != tag_of(Number, wire_type::content)) return false;
    auto const list = from.take_content();
    auto const ends_number = [](char byte) { return static_cast<unsigned char>(byte) < 0x80; };
    auto const count = std::count_if(list.begin(), list.end(), ends_number);
    to.reserve(to.size() + static_cast<std::size_t>(count));
    field_reader numbers{list};
    while (!numbers.is_empty()) take(numbers);
    if (!numbers.succeeded()) from.fail();
    return true;
  } else {
    if (tag != tag_of(Number, type_of<Meaning, T>())) return false;
    if constexpr (std::same_as<T, std::string> && !is_text<Meaning>) {
      to.emplace_back(from.take_content());
    } else if (to.size() < count_max<Meaning>) {
      auto& element = to.emplace_back();
      prepare(element);
      read_present<Meaning>(from, element, state);
    } else {
      static_cast<void>(from.take_content());
      state.is_plain = false;
    }
    return true;
  }
}

// Of a time of which only the offset came.
inline constexpr auto unstated_unix_ms = std::numeric_limits<std::int64_t>::min();

// Whether the tag is that of this alternative of a variant, which then was read.
template <int Number, class One, class Meaning, class T>
[[gnu::always_inline]] inline bool read_alternative(as::alternative_t<One, Meaning>,
                                                    std::uint32_t tag, field_reader& from, T& to,
                                                    reading& state) {
  static T const none{};
  if constexpr (std::same_as<One, core::absent_value>) {
    if (tag != tag_of(Number, wire_type::varint)) return false;
    if (to != none) state.is_plain = false;
    to = {};
    if (from.take_number() != 0) to = core::absent_value{};
  } else {
    if (tag != tag_of(Number, type_of<Meaning, One>())) return false;
    if (to != none) state.is_plain = false;
    if (!std::holds_alternative<One>(to) || !core::described<One>) to.template emplace<One>();
    read_present<Meaning>(from, std::get<One>(to), state);
  }
  return true;
}

// Whether the tag is that of this field, which then was read.
template <int Number, class Meaning, class T>
[[gnu::always_inline]] inline bool read_field(std::uint32_t tag, field_reader& from, T& to,
                                              reading& state) {
  if constexpr (is_alternative<Meaning>) {
    return read_alternative<Number>(Meaning{}, tag, from, to, state);
  } else if constexpr (std::same_as<Meaning, as::unix_ms_t>) {
    if (tag != tag_of(Number, wire_type::varint)) return false;
    if (!to) to.emplace();
    number_code<Meaning>::from(from.take_number(), to->unix_ms);
    return true;
  } else if constexpr (std::same_as<Meaning, as::utc_offset_s_t>) {
    if (tag != tag_of(Number, wire_type::varint)) return false;
    std::int32_t offset{};
    number_code<Meaning>::from(from.take_number(), offset);
    if (!to) to.emplace().unix_ms = unstated_unix_ms;
    to->utc_offset_s = offset;
    return true;
  } else if constexpr (is_list<T>) {
    return read_list<Number, Meaning>(tag, from, to, state);
  } else if constexpr (is_optional<T>) {
    using value_type = typename T::value_type;
    if (tag != tag_of(Number, type_of<Meaning, value_type>())) return false;
    if (!to) to.emplace(value_type{});
    read_present<Meaning>(from, *to, state);
    return true;
  } else {
    if (tag != tag_of(Number, type_of<Meaning, T>())) return false;
    read_present<Meaning>(from, to, state);
    return true;
  }
}

// After all fields of one message: what follows from several of them.
template <class Object>
void complete(Object&) noexcept {}
inline void complete(status& read) {
  if (read.ok()) read = {};
}
inline void complete(core::snapshot::task& read) noexcept {
  if (read.returns_by && read.returns_by->unix_ms == unstated_unix_ms) read.returns_by.reset();
}
inline void complete(core::job_state& read) noexcept {
  if (read.since && read.since->unix_ms == unstated_unix_ms) read.since.reset();
}
inline void complete(job_error& read) noexcept {
  read.later_count = std::max<std::uint64_t>(read.later_count, read.later.size());
}

template <class Object>
[[gnu::always_inline]] inline void read_fields(field_reader& from, Object& to, reading& state) {
  while (auto const tag = from.next_tag()) {
    bool const is_known = core::record_of<Object>.any_of([&]<class Row>(
        Row const& row) __attribute__((always_inline)) {
      return read_field<Row::number, typename Row::meaning>(tag, from, row.of(to), state);
    });
    if (is_known) continue;
    static_cast<void>(from.take_any(tag));
    state.is_plain = false;
  }
  complete(to);
}

}  // namespace coxswain::wire
