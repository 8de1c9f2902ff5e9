#pragma once
// Writes the fields of a snapshot, and computes its digest. Fields with the value zero, empty texts
// and empty lists are left out, so equal states have the same bytes. Not here: which fields there
// are.

#include "coxswain/core/snapshot/encoding.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>

namespace coxswain::core {

class state_writer {
 public:
  static constexpr bool loads = false;

  // Gets the bytes in pieces; empty: only the digest is wanted.
  using sink = std::function<void(std::string_view)>;

  // Moments are written as the time since `started`. `to` must outlive this object.
  state_writer(time_point started, sink const& to) : started_{started}, to_{to} {}
  state_writer(state_writer const&) = delete;
  state_writer& operator=(state_writer const&) = delete;

  // Writes a field, unless it is zero or empty. The numbers in one struct rise.
  template <class T>
  void operator()(std::uint32_t number, T const& value) {
    if constexpr (numeric<T>) {
      if (encoded(value) != 0) write(number, value);
    } else if constexpr (std::same_as<T, time_point>) {
      if (value != time_point{}) write(number, value);
    } else if constexpr (std::same_as<T, std::string>) {
      if (!value.empty()) write(number, value);
    } else if constexpr (std::same_as<T, bytes>) {
      if (value.identity()) write(number, value);
    } else if constexpr (is_optional<T> || (is_shared<T> && requires { *value; })) {
      if (value) write_content(number, value);
    } else if constexpr (is_list<T> || is_set<T> || is_map<T>) {
      for (auto const& item : value) write(number, item);
    } else {
      write(number, value);
    }
  }

  // The members of a struct, numbered from one: new ones are appended.
  template <class... All>
  void members(All const&... all) {
    std::uint32_t number = 0;
    ((*this)(++number, all), ...);
  }

  // A field whose own fields are written by `describe()`.
  template <class Describe>
  void item(std::uint32_t number, Describe describe) {
    begin(number);
    describe();
    end(number);
  }

  // Does nothing: the state is sound when it is saved.
  void check(bool, char const*) const noexcept {}

  // An object that the reader has before it reads; in the same order there.
  template <class Pointer>
  void know(Pointer const& pointer) {
    numbers_.emplace(pointer.get(), ++objects_);
  }

  // Of longer shared values only the size is written; zero: all are written.
  void omit_above(std::size_t bytes) noexcept { volatile_above_ = bytes; }

  // Passes the rest to the sink, and returns the digest of all bytes.
  std::uint64_t finish();

 private:
  static constexpr std::size_t piece = 64 * 1024;

  template <class T>
  void write(std::uint32_t number, T const& value) {
    if constexpr (numeric<T>) {
      tag(number, wire_type::number);
      varint(encoded(value));
    } else if constexpr (std::same_as<T, time_point>) {
      tag(number, wire_type::number);
      varint(encoded(value, started_));
    } else if constexpr (std::same_as<T, std::string>) {
      text(number, value);
    } else if constexpr (std::same_as<T, session_secret>) {
      text(number, {reinterpret_cast<char const*>(value.data()), value.size()});
    } else if constexpr (is_array<T>) {
      for (auto const& item : value) write(number, item);
    } else if constexpr (is_shared<T>) {
      share(number, value);
    } else {
      begin(number);
      group(value);
      end(number);
    }
  }

  // The content of a group.
  template <class T>
  void group(T const& value) {
    if constexpr (requires { T::fields(*this, value); }) {
      T::fields(*this, value);
    } else if constexpr (requires { fields(*this, value); }) {
      fields(*this, value);
    } else {
      each_member(value,
                  [this](std::uint32_t number, auto const& member) { (*this)(number, member); });
    }
  }
  template <class First, class Second>
  void group(std::pair<First, Second> const& value) {
    members(value.first, value.second);
  }
  template <class... All>
  void group(std::tuple<All...> const& value) {
    std::apply([this](auto const&... item) { this->members(item...); }, value);
  }
  template <class... All>
  void group(std::variant<All...> const& value) {
    (*this)(1, value.index());
    std::visit([this](auto const& alternative) { (*this)(2, alternative); }, value);
  }
  template <class T>
  void group(boxed<T> const& value) {
    group(*value);
  }
  void group(std::monostate) {}

  template <class Pointer>
  void write_content(std::uint32_t number, Pointer const& value) {
    if constexpr (is_shared<Pointer>) {
      share(number, value);
    } else {
      write(number, *value);
    }
  }

  // An object with a single reference cannot occur again; it is numbered all the same, so that the
  // numbers do not depend on references outside of the core.
  template <class T>
  void share(std::uint32_t number, boost::local_shared_ptr<T const> const& value) {
    if (!value) return reference(number, 0);
    share(number, *value, value.local_use_count() == 1);
  }
  void share(std::uint32_t number, answer_ptr const& value);
  template <class T>
  void share(std::uint32_t number, T const& object, bool is_sole) {
    if (!is_sole) {
      auto const [at, is_new] = numbers_.try_emplace(&object, objects_ + 1);
      if (!is_new) return reference(number, at->second);
    }
    ++objects_;
    begin(number);
    group(object);
    end(number);
  }
  void share(std::uint32_t number, bytes const& value);

  void reference(std::uint32_t number, std::uint64_t to) { write(number, to); }
  void begin(std::uint32_t number) { tag(number, wire_type::begin); }
  void end(std::uint32_t number) { tag(number, wire_type::end); }
  void tag(std::uint32_t number, wire_type what) {
    varint(std::uint64_t{number} << 3 | static_cast<std::uint64_t>(what));
  }
  void text(std::uint32_t number, std::string_view content);
  void varint(std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) byte(static_cast<unsigned char>(number | 0x80));
    byte(static_cast<unsigned char>(number));
  }
  void byte(unsigned char value) {
    if (filled_ == piece) flush();
    buffer_[filled_++] = static_cast<char>(value);
  }
  void flush();

  time_point started_;
  sink const& to_;
  std::string buffer_ = std::string(piece, '\0');
  std::size_t filled_{};
  std::uint64_t hash_{};
  std::uint64_t length_{};
  std::unordered_map<void const*, std::uint64_t> numbers_;  // of objects that may occur again
  std::uint64_t objects_{};
  std::uint64_t contents_{};
  std::size_t volatile_above_{};
};

// The digest of a snapshot's bytes, as state_writer computes it.
[[nodiscard]] std::uint64_t digest_of(std::string_view bytes) noexcept;

}  // namespace coxswain::core
