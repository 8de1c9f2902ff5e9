#pragma once
// Writes the fields of an object that has a record (core/model/record) in the order of their
// numbers, as Protobuf does. Private to wire.

#include "coxswain/core/kernel/text.hpp"
#include "coxswain/wire/codec_fields.hpp"
#include "coxswain/wire/field_codes.hpp"
#include "coxswain/wire/field_writer.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace coxswain::wire {

// Counts the bytes of fields.
class field_counter {
 public:
  void put_number(int field, std::uint64_t value) noexcept {
    put_tag(field);
    put_bare_number(value);
  }
  void put_bare_number(std::uint64_t value) noexcept { bytes_ += varint_bytes(value); }
  void put_fixed64(int field, std::uint64_t) noexcept { put_tag(field), bytes_ += 8; }
  void put_fixed32(int field, std::uint32_t) noexcept { put_tag(field), bytes_ += 4; }
  void put_head(int field, std::size_t content_bytes) noexcept { put_number(field, content_bytes); }
  void put(std::string_view content) noexcept { bytes_ += content.size(); }
  void put_text(std::string_view content) noexcept { put(content); }

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  void put_tag(int field) noexcept { bytes_ += varint_bytes(static_cast<std::uint64_t>(field) << 3); }

  std::size_t bytes_{};
};

// Appends fields to a string.
class field_appender {
 public:
  explicit field_appender(std::string& to) noexcept : to_{to} {}

  void put_number(int field, std::uint64_t value) {
    append([&](field_writer& to) { to.put_present_number(field, value); });
  }
  void put_bare_number(std::uint64_t value) {
    append([&](field_writer& to) { to.put_bare_number(value); });
  }
  void put_fixed64(int field, std::uint64_t value) {
    append([&](field_writer& to) { to.put_present_fixed64(field, value); });
  }
  void put_fixed32(int field, std::uint32_t value) {
    append([&](field_writer& to) { to.put_present_fixed32(field, value); });
  }
  void put_head(int field, std::size_t content_bytes) {
    append([&](field_writer& to) { to.put_head(field, content_bytes); });
  }
  void put(std::string_view content) { to_.append(content); }
  void put_text(std::string_view content) {
    if (core::is_utf8(content)) return put(content);
    put(text(content));
  }

 private:
  template <class Write>
  void append(Write write) {
    std::array<char, number_field_bytes_max> room;
    field_writer to{room.data()};
    write(to);
    to_.append(to.written());
  }

  std::string& to_;
};

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
void write_present(Sink& to, T const& from) {
  if constexpr (coded_as_message<Meaning, T>) {
    to.put_head(Number, bytes_of_fields(from));
    write_fields(to, from);
  } else if constexpr (random_number<T>) {
    to.put_fixed64(Number, from.value);
  } else if constexpr (std::same_as<T, float>) {
    to.put_fixed32(Number, std::bit_cast<std::uint32_t>(from));
  } else if constexpr (std::same_as<T, core::absent_value>) {
    to.put_number(Number, 1);
  } else if constexpr (std::same_as<Meaning, as::status_message_t>) {
    to.put_head(Number, from.message().size());
    to.put_text(from.message());
  } else if constexpr (coded_as_content<T>) {
    auto const content = content_of(from);
    to.put_head(Number, content.size());
    if constexpr (std::same_as<Meaning, as::text_t>) {
      to.put_text(content);
    } else {
      to.put(content);
    }
  } else {
    to.put_number(Number, number_code<Meaning>::to(from));
  }
}

template <class Meaning, class T>
[[nodiscard]] bool is_absent(T const& member) noexcept {
  if constexpr (always_stated<Meaning>) {
    return false;
  } else if constexpr (std::same_as<Meaning, as::status_message_t>) {
    return member.message().empty();
  } else if constexpr (coded_as_message<Meaning, T>) {
    if constexpr (std::same_as<T, status>) return member.ok();
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
void write_list(Sink& to, std::vector<T> const& from) {
  if constexpr (coded_as_number<Meaning, T> && !coded_as_content<T>) {
    if (from.empty()) return;
    std::uint64_t last = 0;
    auto const write_all = [&](auto& sink) {
      last = 0;
      for (auto const& one : from) {
        auto const number = number_code<Meaning>::to(one);
        bool const is_distance = std::same_as<Meaning, as::distances_t>;
        sink.put_bare_number(is_distance ? number - std::exchange(last, number) : number);
      }
    };
    field_counter count;
    write_all(count);
    to.put_head(Number, count.bytes());
    write_all(to);
  } else {
    for (auto const& one : from) write_present<Number, Meaning>(to, one);
  }
}

template <int Number, class Meaning, class Sink, class T>
void write_field(Sink& to, T const& from) {
  if constexpr (is_alternative<Meaning>) {
    []<class One, class Of>(Sink& sink, T const& one, as::alternative_t<One, Of>) {
      if (auto const* const held = std::get_if<One>(&one)) write_present<Number, Of>(sink, *held);
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
  core::record_of<Object>.for_each([&]<class Row>(Row const& row) {
    write_field<Row::number, typename Row::meaning>(to, row.of(from));
  });
}

}  // namespace coxswain::wire
