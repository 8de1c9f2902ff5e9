#pragma once
// Reads the fields of a snapshot. Its memory is in proportion to the snapshot. Everything that is
// not as state_writer writes it throws coxswain::error, DATA_LOSS: fields that are unknown or in
// another order, numbers out of range, a missing end. Not here: which fields there are.

#include "coxswain/base/bytes.hpp"
#include "coxswain/core/rendezvous/meeting.hpp"
#include "coxswain/core/snapshot/encoding.hpp"

#include <any>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace coxswain::core {

class state_reader {
 public:
  static constexpr bool loads = true;

  // `from` must outlive this object.
  state_reader(std::string_view from, time_point started)
      : from_{from}, size_{from.size()}, started_{started} {}
  state_reader(state_reader const&) = delete;
  state_reader& operator=(state_reader const&) = delete;

  // The meter of the values that are read, the number of tasks, and the most bytes of a value that
  // was omitted.
  void belong_to(meter_ptr memory, std::uint32_t num_tasks, std::size_t omitted_max) {
    memory_ = std::move(memory);
    num_tasks_ = num_tasks;
    omitted_max_ = omitted_max;
  }
  [[nodiscard]] std::uint32_t num_tasks() const noexcept { return num_tasks_; }

  // Reads a field; it is zero or empty if it was left out.
  template <class T>
  void operator()(std::uint32_t number, T& value) {
    if constexpr (is_list<T> || is_set<T> || is_map<T>) {
      value = T{};
      while (is_next(number)) add(number, value);
    } else if constexpr (is_optional<T>) {
      value = is_next(number) ? read_content(number, value) : T{};
    } else if constexpr (numeric<T> || std::same_as<T, time_point> ||
                         std::same_as<T, std::string> || is_shared<T>) {
      if (is_next(number)) return read(number, value);
      value = {};
    } else {
      read(number, value);
    }
  }

  // The members of a struct, numbered from one.
  template <class... All>
  void members(All&... all) {
    std::uint32_t number = 0;
    ((*this)(++number, all), ...);
  }

  // A field whose own fields are read by `describe()`.
  template <class Describe>
  void item(std::uint32_t number, Describe describe) {
    begin(number);
    describe();
    end(number);
  }
  // Whether the next field has this number.
  [[nodiscard]] bool is_next(std::uint32_t number);

  // DATA_LOSS unless it is sound.
  void check(bool is_sound, char const* what) const {
    if (!is_sound) malformed(what);
  }

  template <class Pointer>
  void know(Pointer const& pointer) {
    objects_.emplace_back(pointer);
  }

  // DATA_LOSS if something follows.
  void finish() const { check(from_.empty() && tag_ == 0, "there is more behind its end"); }

  [[noreturn]] void malformed(std::string const& what) const;

 private:
  template <class T>
  void read(std::uint32_t number, T& value) {
    if constexpr (numeric<T>) {
      check(decode(take_number(number), value), "a number is out of range");
    } else if constexpr (std::same_as<T, time_point>) {
      check(decode(take_number(number), started_, value), "a time is out of range");
    } else if constexpr (std::same_as<T, std::string>) {
      value.assign(take_text(number));
    } else if constexpr (std::same_as<T, session_secret>) {
      std::string_view const content = take_text(number);
      check(content.size() == value.size(), "a secret has another size");
      content.copy(reinterpret_cast<char*>(value.data()), value.size());
    } else if constexpr (is_array<T>) {
      for (auto& item : value) read(number, item);
    } else if constexpr (is_shared<T>) {
      share(number, value);
    } else {
      begin(number);
      group(value);
      end(number);
    }
  }

  template <class T>
  void group(T& value) {
    if constexpr (requires { T::fields(*this, value); }) {
      T::fields(*this, value);
    } else if constexpr (requires { fields(*this, value); }) {
      fields(*this, value);
    } else {
      each_member(value, [this](std::uint32_t number, auto& member) { (*this)(number, member); });
    }
  }
  template <class First, class Second>
  void group(std::pair<First, Second>& value) {
    members(const_cast<std::remove_const_t<First>&>(value.first), value.second);
  }
  template <class... All>
  void group(std::tuple<All...>& value) {
    std::apply([this](auto&... item) { this->members(item...); }, value);
  }
  template <class... All>
  void group(std::variant<All...>& value) {
    std::size_t index{};
    (*this)(1, index);
    check(index < sizeof...(All), "a variant has no such alternative");
    std::size_t at = 0;
    ((at++ == index ? (*this)(2, value.template emplace<All>()) : void()), ...);
  }
  template <class T>
  void group(boxed<T>& value) {
    group(*value);
  }
  void group(std::monostate&) {}

  template <class T>
  void add(std::uint32_t number, T& to) {
    if constexpr (is_map<T>) {
      std::pair<typename T::key_type, typename T::mapped_type> entry{};
      read(number, entry);
      bool const is_last = to.empty() || to.key_comp()(to.rbegin()->first, entry.first);
      check(is_last, "names are not in order");
      to.emplace_hint(to.end(), std::move(entry));
    } else if constexpr (is_set<T>) {
      typename T::value_type item{};
      read(number, item);
      check(to.empty() || *to.rbegin() < item, "members of a set are not in order");
      to.insert(to.end(), std::move(item));
    } else {
      std::remove_reference_t<decltype(*to.begin())> item{};
      read(number, item);
      to.push_back(std::move(item));
    }
  }

  template <class T>
  std::optional<T> read_content(std::uint32_t number, std::optional<T> const&) {
    T item{};
    read(number, item);
    return item;
  }
  template <class T>
  std::unique_ptr<T> read_content(std::uint32_t number, std::unique_ptr<T> const&) {
    auto item = std::make_unique<T>();
    read(number, *item);
    return item;
  }

  template <class Pointer>
  void share(std::uint32_t number, Pointer& value) {
    value = nullptr;
    if (auto const is = reference(number)) {
      if (*is == 0) return;
      auto const* const pointer =
          *is <= objects_.size() ? std::any_cast<Pointer>(&objects_[*is - 1]) : nullptr;
      check(pointer != nullptr, "a reference to what is not there");
      value = *pointer;
      return;
    }
    // Its number is less than those in it.
    std::size_t const at = objects_.size();
    objects_.emplace_back();
    begin(number);
    auto made = blank(value);
    group(made);
    end(number);
    value = shared_from(std::move(made));
    objects_[at] = value;
  }
  void share(std::uint32_t number, bytes& value);
  template <holder Who>
  void share(std::uint32_t number, held_bytes<Who>& value) {
    bytes item;
    share(number, item);
    value = std::move(item);
  }

  template <class T>
  static T blank(boost::local_shared_ptr<T const> const&) {
    return T{};
  }
  static task_set blank(task_set_ptr const&) { return task_set{0U}; }
  static answer blank(answer_ptr const&) { return {}; }
  template <class T>
  static boost::local_shared_ptr<T const> shared_from(T made) {
    return boost::make_local_shared<T const>(std::move(made));
  }
  static answer_ptr shared_from(answer made) { return make_answer(std::move(made)); }

  // None: the object itself follows.
  [[nodiscard]] std::optional<std::uint64_t> reference(std::uint32_t number);
  void begin(std::uint32_t number) { take_tag(number, wire_type::begin); }
  void end(std::uint32_t number);
  [[nodiscard]] std::uint64_t take_number(std::uint32_t number);
  [[nodiscard]] std::string_view take_text(std::uint32_t number);
  void take_tag(std::uint32_t number, wire_type what);
  void look();
  [[nodiscard]] std::uint64_t varint();

  std::string_view from_;
  std::size_t size_;
  time_point started_;
  std::uint64_t tag_{};  // that was read and not taken; zero: none
  meter_ptr memory_;
  std::uint32_t num_tasks_{};
  std::size_t omitted_max_{};
  std::vector<std::any> objects_;
  std::vector<bytes> contents_;
};

}  // namespace coxswain::core
