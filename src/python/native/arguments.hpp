#pragma once
// Arguments from Python as our types. pybind11's own casters are not used: their errors list C++
// types and repeat all arguments, however long, and they accept only int as an integer, not types
// with __index__ (numpy's).

#include "coxswain/base/ids.hpp"
#include "coxswain/base/time.hpp"
#include "python/native/python.hpp"

#include <pybind11/stl.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace coxswain::python {

// A timeout: None is unlimited, a negative one asks for an immediate reply.
struct timeout {
  duration value{};
};

// A value: text, encoded as UTF-8, or bytes in any object (bytes, bytearray, memoryview, numpy
// arrays).
struct content {
  std::string bytes;
};

// Which argument of which operation, from 1; or with 0 the setting of that name.
struct place {
  std::string const& name;
  std::size_t number;

  // TypeError: `what` was expected there. The passed argument is named by its type only.
  [[noreturn]] void refuse(char const* what, py::handle passed) const;
};

// Throws ValueError (not a number) and TypeError.
[[nodiscard]] duration duration_of(py::handle given);

// From a Python sequence of numbers; None is empty.
using task_ids = std::vector<task_id>;
[[nodiscard]] task_ids tasks_of(py::handle given);

[[nodiscard]] std::string text_of(place at, py::handle passed);
[[nodiscard]] content content_of(place at, py::handle passed);
[[nodiscard]] bool flag_of(place at, py::handle passed);
[[nodiscard]] double real_of(place at, py::handle passed);

// INVALID_ARGUMENT: it is not between the two.
[[nodiscard]] std::int64_t whole_number_of(place at, py::handle passed, std::int64_t least,
                                           std::int64_t most);
[[nodiscard]] std::uint64_t whole_number_of(place at, py::handle passed, std::uint64_t most);

template <class T>
struct argument_of;

// The argument at a position as a T. Throws TypeError, and the errors listed above for its type.
template <class T>
[[nodiscard]] T argument(place at, py::handle passed) {
  return argument_of<T>::from(at, passed);
}

template <>
struct argument_of<std::string> {
  static std::string from(place at, py::handle passed) { return text_of(at, passed); }
};
template <>
struct argument_of<content> {
  static content from(place at, py::handle passed) { return content_of(at, passed); }
};
template <>
struct argument_of<bool> {
  static bool from(place at, py::handle passed) { return flag_of(at, passed); }
};
template <>
struct argument_of<double> {
  static double from(place at, py::handle passed) { return real_of(at, passed); }
};
template <>
struct argument_of<timeout> {
  static timeout from(place, py::handle passed) { return {duration_of(passed)}; }
};
template <>
struct argument_of<py::object> {
  static py::object from(place, py::handle passed) {
    return py::reinterpret_borrow<py::object>(passed);
  }
};
template <>
struct argument_of<task_ids> {
  static task_ids from(place, py::handle passed) { return tasks_of(passed); }
};
template <std::integral Number>
struct argument_of<Number> {
  static Number from(place at, py::handle passed) {
    constexpr auto least = std::numeric_limits<Number>::min();
    constexpr auto most = std::numeric_limits<Number>::max();
    if constexpr (std::signed_integral<Number>) {
      return static_cast<Number>(whole_number_of(at, passed, least, most));
    } else {
      return static_cast<Number>(whole_number_of(at, passed, most));
    }
  }
};
template <class Tag, class Rep>
struct argument_of<id<Tag, Rep>> {
  static id<Tag, Rep> from(place at, py::handle passed) {
    return id<Tag, Rep>{argument<Rep>(at, passed)};
  }
};
template <class T>
struct argument_of<std::optional<T>> {
  static std::optional<T> from(place at, py::handle passed) {
    if (passed.is_none()) return std::nullopt;
    return argument<T>(at, passed);
  }
};
template <class First, class Second>
struct argument_of<std::pair<First, Second>> {
  static std::pair<First, Second> from(place at, py::handle passed) {
    if (!py::isinstance<py::sequence>(passed) || py::len(passed) != 2) at.refuse("a pair", passed);
    auto const both = py::reinterpret_borrow<py::sequence>(passed);
    return {argument<First>(at, py::object{both[0]}), argument<Second>(at, py::object{both[1]})};
  }
};
template <class T>
struct argument_of<std::vector<T>> {
  static std::vector<T> from(place at, py::handle passed) {
    std::vector<T> all;
    for (py::handle const item : passed) all.push_back(argument<T>(at, item));
    return all;
  }
};
// One of our own classes.
template <class T>
struct argument_of<std::shared_ptr<T>> {
  static std::shared_ptr<T> from(place, py::handle passed) {
    return py::cast<std::shared_ptr<T>>(passed);
  }
};

// Calls `use` with Python's arguments, converted to its parameter types.
template <class... Arguments, class Use>
auto with_arguments(std::string const& name, py::args const& given, Use const& use) {
  if (given.size() != sizeof...(Arguments)) {
    throw py::type_error(name + "() takes " + std::to_string(sizeof...(Arguments)) +
                         " arguments, not " + std::to_string(given.size()));
  }
  return [&]<std::size_t... At>(std::index_sequence<At...>) {
    return use(argument<std::remove_cvref_t<Arguments>>({name, At + 1}, given[At])...);
  }
  (std::index_sequence_for<Arguments...>{});
}

// Defines a method from a lambda (Self&, Arguments...).
template <class Class, class Use, class Result, class Self, class... Arguments>
void define_as(Class& of, char const* name, Use use, Result (Use::*)(Self&, Arguments...) const) {
  of.def(name, [use, name = std::string{name}](Self& self, py::args const& given) {
    auto const use_it = [&](Arguments... each) { return use(self, std::move(each)...); };
    return with_arguments<Arguments...>(name, given, use_it);
  });
}
template <class Class, class Use>
void define(Class& of, char const* name, Use use) {
  define_as(of, name, use, &Use::operator());
}

// Defines a setting from a lambda (Self&, Value); write-only unless there is a getter.
template <class Class, class Set, class Self, class Value, class Get>
void setting_as(Class& of, char const* name, Set set, void (Set::*)(Self&, Value) const, Get get) {
  auto const take = [set, name = std::string{name}](Self& self, py::object const& value) {
    set(self, argument<Value>({name, 0}, value));
  };
  of.def_property(name, get, take);
}
template <class Class, class Set, class Get = std::nullptr_t>
void setting(Class& of, char const* name, Set set, Get get = nullptr) {
  setting_as(of, name, set, &Set::operator(), get);
}

}  // namespace coxswain::python

namespace pybind11::detail {

template <class Tag, class Rep>
struct type_caster<coxswain::id<Tag, Rep>> {
  using one = coxswain::id<Tag, Rep>;
  PYBIND11_TYPE_CASTER(one, const_name("int"));
  static handle cast(one from, return_value_policy, handle) { return int_(from.value).release(); }
};

}  // namespace pybind11::detail
